import torch
from stories_as_llama import model, tokenizer
from transformers import logging

logging.set_verbosity_error()
ids = torch.tensor([tokenizer.encode("The next day is bright")])
losses = []
for use_cache in (True, False):
    out = model(ids, labels=ids, use_cache=use_cache)
    losses.append(out.loss.item())
print("same loss:", losses[0] == losses[1])
model.train()
model.activation_checkpointing_enable()
out = model(ids, labels=ids, use_cache=True)
print("cache with checkpointing:", out.past_key_values)
