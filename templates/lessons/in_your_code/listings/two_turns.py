import torch
from stories_as_llama import model, tokenizer


def run(ids, past=None):
    with torch.no_grad():
        return model(torch.tensor([ids]), past_key_values=past)


first = tokenizer.encode("The next day is bright and the sun is warm")
second = tokenizer.encode("The next day is bright and the girl is")
past = run(first).past_key_values
same = 0  # ids that both begin with
while first[same] == second[same]:
    same += 1
past.crop(same - len(first))  # rows to remove
kept = past.get_seq_length()
reused = run(second[kept:], past).logits[0, -1]
fresh = run(second).logits[0, -1]
print("kept", kept, "of", len(first), "rows")
print("fed", len(second) - kept, "of", len(second), "ids")
print("next:", tokenizer.decode([int(reused.argmax())]))
print("logits agree:", torch.allclose(reused, fresh, atol=1e-4))
