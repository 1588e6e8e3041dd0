"""The turn of a chat: what its page says of marks, pieces and heads, found again in the trace by other means.

That the trace itself holds together is in test_model_that_talks.py, for both texts.
"""

from microgpt.apps.model_that_talks.app import CHAT_TEXT
from microgpt.apps.records import TRACES
from microgpt.trace import from_json
from tests.support.pages import by_id, numbers, text, tree_of, view_of

PAGE = "chat-turn"


TRACE = from_json((TRACES / CHAT_TEXT.file).read_text("utf-8"))
TOKENS: list[str] = TRACE.about["tokens"]
N_PROMPT: int = TRACE.about["n_prompt"]


def test_the_turn_is_told_as_its_tokens_are() -> None:
    question = TOKENS[TOKENS.index("What") : TOKENS.index("<|im_end|>")]
    assert "".join(question) == "What is the capital of France?"
    assert numbers(by_id(PAGE)["turn"]) == [N_PROMPT, len(question)]
    assert text(next(by_id(PAGE)["turn"].iter("q"))) == "".join(TOKENS[N_PROMPT:]) == "The capital of France is Paris"
    assert [text(e) for e in by_id(PAGE)["turn"].iter("code")] == ["<|im_start|>", "<|im_end|>"]


def test_a_word_costs_as_much_as_its_pieces() -> None:
    at = TOKENS.index("ass")
    assert TOKENS[at : at + 2] == ["ass", "istant"]
    question = TOKENS[TOKENS.index("What") : TOKENS.index("<|im_end|>")]
    assert [token.strip() for token in question] == ["What", "is", "the", "capital", "of", "France", "?"]
    # tokens, layers, heads, K and V
    assert "46.1 kB" in text(by_id(PAGE)["pieces"]) and 2 * 30 * 3 * 2 * 64 * 2 == 46_080


def strongest(i: int, j: int) -> tuple[float, int, int]:
    """The largest weight that a head gives to key j at step i, and the head."""
    return max(
        (float(TRACE["attn_weights", i, layer][head, 0, j]), layer, head) for layer in range(30) for head in range(9)
    )


def test_the_heads_that_repeat_are_those_of_the_weights() -> None:
    table = next(e for e in tree_of(PAGE).iter("table") if e.get("class") == "kinds")
    lines = [row for row in table.iter("tr")][1:]
    steps = [(17, 7), (18, 8)]  # " capital" and " of" have come before, and the answer goes on as the question did
    assert [TOKENS[i] for i, _ in steps] == [TOKENS[j - 1] for _, j in steps] == [" capital", " of"]
    for line, (i, j) in zip(lines, steps, strict=True):
        weight, layer, head = strongest(i, j)
        assert numbers(line) == [round(weight, 2), layer, head]
    opened = {(one.layer, one.head) for one in view_of(PAGE).picture.open_heads}
    assert opened == {strongest(i, j)[1:] for i, j in steps}, "what the table names can be looked into"
    weight, layer, head = strongest(*steps[0])
    assert numbers(by_id(PAGE)["opened"]) == [steps[0][0] + 1, head, layer]
    above = sum(
        sum(float(TRACE["attn_weights", i, layer][head, 0, j]) for i, j in steps) / 2 > 0.5
        for layer in range(30)
        for head in range(9)
    )
    i = len(TOKENS) - 2
    weight, layer, head = strongest(i, TOKENS.index(" France"))
    assert TOKENS[i] == " is" and numbers(by_id(PAGE)["induction"]) == [above, 0.5, head, layer, round(weight, 2)]


def test_its_numbers_are_those_of_the_trace() -> None:
    """On their page, of a step and a head; those who share a key share its row."""
    (step,) = (e for e in tree_of(f"{PAGE}-numbers").iter("section") if e.get("aria-labelledby") == "step-17")
    listed = [e for e in next(step.iter("dl")).iter("div")]
    rows = {text(e[0]): [float(x.replace("−", "-")) for x in text(e[1]).split()] for e in listed}
    config = TRACE.about["config"]
    for name, head in (("q", 4), ("k", 4 * config["n_kv_head"] // config["n_head"])):
        (told,) = (numbers for heads, numbers in rows.items() if heads.split()[0] == name and "17.4" in heads)
        printed = [x for i, x in enumerate(told) if i % 5]  # each line of 4 begins with a place
        assert len(printed) == 64 and abs(printed - TRACE[name, 17, 17][0][head]).max() <= 0.0501
