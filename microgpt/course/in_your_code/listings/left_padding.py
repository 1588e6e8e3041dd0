import torch
from stories_as_llama import model, tokenizer
from transformers import GPT2Config, GPT2LMHeadModel

torch.manual_seed(0)
gpt2 = GPT2LMHeadModel(
    GPT2Config(
        vocab_size=99, n_positions=24, n_embd=32, n_layer=2, n_head=4,
        initializer_range=0.4, bos_token_id=98, eos_token_id=98,
    )
).eval()  # fmt: skip
short = tokenizer.encode("The cat")
long = tokenizer.encode("The next day is bright")
n_pad = len(long) - len(short)
batch = torch.tensor([[0] * n_pad + short, long])
mask = torch.tensor([[0] * n_pad + [1] * len(short), [1] * len(long)])
positions = (mask.cumsum(-1) - 1).clamp(min=0)
ways = {
    "nothing": {},
    "mask": {"attention_mask": mask},
    "mask and positions": {"attention_mask": mask, "position_ids": positions},
}
for name, one in (("Llama", model), ("GPT-2", gpt2)):
    for way, given in ways.items():
        with torch.no_grad():
            alone = one(torch.tensor([short])).logits[0, -1]
            padded = one(batch, **given).logits[0, -1]
        apart = float((padded - alone).abs().max())
        word = tokenizer.decode([int(padded.argmax())])
        said = word if one is model else "-"  # GPT-2 has learned nothing
        print(name, way, f"{apart:.2f}", said, sep=" | ")
