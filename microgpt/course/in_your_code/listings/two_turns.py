import torch
from stories_as_llama import model, tokenizer


def run(ids, past=None):
    with torch.no_grad():
        return model(torch.tensor([ids]), past_key_values=past)


prompts = (
    "The next day is bright",
    "The next day is bright and the sun is",  # the last, and more
    "The next day is bright and the girl is",  # parts from the last
    "The next day is bright",  # ends inside the last
)
held, past = [], None  # ids whose rows are in the cache
for prompt in prompts:
    ids = tokenizer.encode(prompt)
    same, most = 0, min(len(held), len(ids) - 1)  # one id is left to run
    while same < most and held[same] == ids[same]:
        same += 1
    if same < len(held):
        past.crop(same - len(held))  # rows to remove
    out = run(ids[same:], past)
    held, past = ids, out.past_key_values
    logits, fresh = out.logits[0, -1], run(ids).logits[0, -1]
    print("kept", same, "fed", len(ids) - same, end=" ")
    print("->", tokenizer.decode([int(logits.argmax())]), end=" ")
    print("same logits:", torch.allclose(logits, fresh, atol=1e-4))
