"""Long texts: its questions, answered layer by layer and token by token."""

from microgpt.architectures.known import PRESETS
from tests.support.questions import Facts, Numbers, View


def ask_rows(view: View) -> str:
    """Layer after layer; each sixth sees everything."""
    kept = [131_072 if layer % 6 == 5 else 1024 for layer in range(48)]
    return f"{sum(kept):,}"


def ask_shared(view: View) -> str:
    """Two layers and a shelf: what lies on it, and how often something is taken from it."""
    shelf, taken = {0: "rows"}, [0 for _ in range(2)]
    assert len(taken) == 2 and len(shelf) == 1
    return "what is kept"


def ask_bug(view: View) -> str:
    oss = PRESETS["gpt-oss-20b"]
    row = 2 * 8 * 64 * 2
    rows = [min(131_072, window or 131_072) for window in (128, 0) * 12]
    assert view.asks.bug.said == 24 * 128 * row and view.asks.bug.true == sum(rows) * row == oss.cache_bytes(131_072)
    return "they give every layer the window"


def ask_sparse(view: View) -> str:
    return "no"


def task_mixed_layers(facts: Facts) -> Numbers:
    """Layer by layer."""

    def held(tokens: int, window: int) -> int:
        return sum(min(tokens, tokens if layer % 6 == 5 else window) * facts.row for layer in range(facts.layers))

    assert facts.held == [held(n, facts.window) for n in (facts.short, facts.long)]
    share = held(facts.long, facts.window) / held(facts.long, facts.long)
    return {
        "every": held(facts.long, facts.long),
        "share": share,
        "least": held(facts.long, 0) / held(facts.long, facts.long),
    }


def task_thinking(facts: Facts) -> Numbers:
    """Token by token, which is as long as the step in the middle, taken for all."""
    llama = PRESETS["Llama-3.1-8B"].config
    row = 2 * llama.n_layer * llama.n_kv_head * llama.head_dim * 2
    assert facts.row == row and facts.weights == 2 * (8_030_261_248 - (128_256 - 1) * 4096)
    steps = [(facts.weights + (facts.prompt + i) * row) / 3.35e12 for i in range(facts.thought)]
    assert abs(sum(steps) - facts.seconds) < 0.1
    old = ["prompt"] * facts.prompt + ["thought"] * facts.thought + ["answer"] * facts.answer
    new = [one for one in old if one != "thought"] + ["question"] * facts.question
    found = next(i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b)
    return {"freed": old.count("thought") * row, "again": len(new) - found, "mean": facts.prompt + facts.thought / 2}


LEARNED = r"""
How much cache do 131,072 tokens of Llama-3.1-8B take? 131,072 tokens are 17\.2 GB
Does the cache grow faster than the text? A token adds the same bytes wherever it stands
What would a million tokens take? At 1,048,576 tokens it would be 137\.4 GB, and one H100 has 80\.0 GB
How long does a token take at 128k? a token takes at least 4\.8 ms, then 9\.6, then 45\.5
Do several texts share their rows? none shares its rows
What does Gemma 3 keep? 5 keep every row and 29 keep at most 1,024\. At 131,072 tokens that is 2\.8 GB in place of 18\.3 GB
What does gpt-oss keep? a window of 128 in every other layer: 3\.2 GB in place of 6\.4 GB
Do windows stop the growth? These still grow with the text
How does gpt-oss do without the first row? a score for each of its 64 heads that joins the softmax and has no value
What does sharing rows between layers save? 8\.6 GB would be kept in place of 17\.2 GB.* a step still reads 17\.2 GB
What does an indexer save? it saves time, and no memory
What does thinking cost? at least 48 seconds pass before the answer begins, and 1\.5 GB of rows
What happens to the thinking in the next turn? leaves earlier thinking out of the new prompt
"""
