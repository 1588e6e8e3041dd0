import torch
from stories_as_llama import model, tokenizer
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

vocab = {token: i for i, token in enumerate(tokenizer.vocabulary)}
words = Tokenizer(models.WordLevel(vocab))
words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
chat = PreTrainedTokenizerFast(tokenizer_object=words, bos_token="<s>")
chat.chat_template = """
{% for m in messages %}
{{ bos_token if m.role == 'user' }} {{ m.content | lower }}
{% endfor %}
"""


def answer(fed, past=None):
    said = []
    while len(said) < 8 and said[-1:] != [chat.bos_token_id]:
        with torch.no_grad():
            out = model(torch.tensor([fed]), past_key_values=past)
        fed, past = [int(out.logits[0, -1].argmax())], out.past_key_values
        said += fed
    return said, past


turns = (  # messages that stay, and the user's next one
    (0, "The next day is bright"),
    (2, "The cat is"),  # goes on
    (2, "The girl is"),  # in place of the last one
    (0, "The next day is bright"),  # the first one again
)
messages, past = [], None
held = []  # ids whose rows are cached
for stay, content in turns:
    asked = {"role": "user", "content": content}
    messages = messages[:stay] + [asked]
    ids = chat.apply_chat_template(messages, return_dict=False)
    same, most = 0, min(len(held), len(ids) - 1)  # one id is left to run
    while same < most and held[same] == ids[same]:
        same += 1
    print("held", len(held), "kept", same, "fed", len(ids) - same, end=" ")
    if same < len(held):
        past.crop(same - len(held))  # rows to remove
    said, past = answer(ids[same:], past)
    held = ids + said[:-1]  # the last one has not gone in
    text = chat.decode(said, skip_special_tokens=True)
    messages.append({"role": "assistant", "content": text})
    scratch, _ = answer(ids)
    print("->", text, "| same:", said == scratch)
