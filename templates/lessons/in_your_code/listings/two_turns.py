import torch
from stories_as_llama import model, tokenizer

first = tokenizer.encode("The next day is bright and the sun is warm")
second = tokenizer.encode("The next day is bright and the girl is")
same = 0  # ids at the start that both have
while first[same] == second[same]:
    same += 1
with torch.no_grad():
    past = model(torch.tensor([first])).past_key_values
    past.crop(same - len(first))  # below zero: how many to remove
    kept = past.get_seq_length()
    rest = torch.tensor([second[kept:]])
    reused = model(rest, past_key_values=past).logits[0, -1]
    fresh = model(torch.tensor([second])).logits[0, -1]
print("kept", kept, "of", len(first), "rows")
print("fed", rest.shape[1], "of", len(second), "ids")
print("next:", tokenizer.decode([int(reused.argmax())]))
print("logits agree:", torch.allclose(reused, fresh, atol=1e-4))
