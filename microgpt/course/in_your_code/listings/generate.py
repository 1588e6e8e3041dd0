import torch
from stories_as_llama import model, tokenizer

ids = torch.tensor([tokenizer.encode("The next day is bright")])
out = model.generate(
    ids,
    attention_mask=torch.ones_like(ids),
    max_new_tokens=5,
    do_sample=False,
    return_dict_in_generate=True,
)
past = out.past_key_values
print(type(past).__name__, list(past.layers[0].keys.shape))
print(tokenizer.decode(out.sequences[0].tolist()))
