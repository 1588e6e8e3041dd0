import torch
from stories_as_llama import model, tokenizer

ids = tokenizer.encode("The next day is bright")
past, new = None, ids
for _ in range(5):
    input_ids = torch.tensor([new])
    with torch.no_grad():
        out = model(input_ids, past_key_values=past)
    past = out.past_key_values
    shape = list(past.layers[0].keys.shape)
    fed, new = [1, len(new)], [int(out.logits[0, -1].argmax())]
    print("ids in:", fed, "K:", shape, "->", tokenizer.decode(new))
    ids = ids + new
print(tokenizer.decode(ids))
