import torch
from stories_as_llama import model, tokenizer

ids = tokenizer.encode("The next day is bright")
for _ in range(5):
    with torch.no_grad():
        out = model(torch.tensor([ids]), use_cache=False)
    new = int(out.logits[0, -1].argmax())
    print("ids in:", [1, len(ids)], "->", tokenizer.decode([new]))
    ids = ids + [new]
print(tokenizer.decode(ids))
