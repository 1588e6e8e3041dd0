import torch
from stories_as_llama import model, tokenizer

ids, past = tokenizer.encode("The next day is bright"), None
for _ in range(5):
    with torch.no_grad():
        out = model(torch.tensor([ids]), past_key_values=past)
    past = out.past_key_values
    ids.append(int(out.logits[0, -1].argmax()))
    print(past.get_seq_length(), tokenizer.decode(ids[-1:]))
