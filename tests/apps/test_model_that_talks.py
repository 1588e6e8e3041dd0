"""The page of a trained model: what follows in its trace from other numbers does, and the page says no other.

What the model computed itself can only be checked by who has its weights: tests/tools/test_trained.py.
"""

import gzip
from functools import cache

import numpy as np
import pytest

from microgpt.apps.model_that_talks.app import DAY, TEXTS, Text, view
from microgpt.apps.records import TRACES
from microgpt.config import Array, Config, n_params
from microgpt.cost import naive, step_macs
from microgpt.trace import Trace, from_json
from microgpt.viz.text.language import LANGUAGES
from tests.support.pages import by_id, find, numbers, tree_of
from tests.support.pages import text as text_of

PAGE = "model-that-talks"
TRACE, PROMPT, NEW = TRACES / DAY.file, DAY.prompt, DAY.new


@cache
def trace(text: Text = DAY) -> Trace:
    return from_json((TRACES / text.file).read_text("utf-8"))


CONFIG = Config(**trace().about["config"])
N = len(trace().about["tokens"])
BOTH = pytest.mark.parametrize("text", TEXTS, ids=lambda text: text.file)


def rows(text: Text, name: str, layer: int) -> Array:
    return np.array([trace(text)[name, i, layer][0] for i in range(length(text))])


def length(text: Text) -> int:
    return len(trace(text).about["tokens"])


def opened(text: Text) -> list[int]:
    found: list[int] = trace(text).about["cut"]["in_layers"]["layers"]
    return found


def near(text: Text) -> float:
    """How far sums over rounded numbers may be from what they come to."""
    return 4 * 10.0 ** (1 - text.digits)


def test_the_shape_is_the_published_one() -> None:
    c = CONFIG
    assert (c.n_layer, c.n_embd, c.n_head, c.n_kv_head, c.head_dim, c.n_mlp) == (30, 576, 9, 3, 64, 1536)
    assert (c.vocab_size, c.n_ctx, c.rope_theta, c.tied) == (49_152, 8192, 100_000, True)
    assert n_params(c) == 134_515_008


@BOTH
@pytest.mark.parametrize("at", range(2))
def test_scores_weights_and_sums_follow_from_the_rows(text: Text, at: int) -> None:
    layer = opened(text)[at]
    q, k, v = (rows(text, name, layer) for name in "qkv")
    group = CONFIG.n_head // CONFIG.n_kv_head
    for i in range(length(text)):
        scores, weights = trace(text)["attn_scores", i, layer][:, 0], trace(text)["attn_weights", i, layer][:, 0]
        out = trace(text)["head_out", i, layer][0].reshape(CONFIG.n_head, -1)
        for head in range(CONFIG.n_head):
            met = k[: i + 1, head // group] @ q[i, head] / np.sqrt(CONFIG.head_dim)
            assert np.abs(met - scores[head]).max() < 4 * near(text)
            e = np.exp(scores[head] - scores[head].max())
            assert np.abs(e / e.sum() - weights[head]).max() < near(text)
            assert np.abs(weights[head] @ v[: i + 1, head // group] - out[head]).max() < near(text)


@BOTH
def test_every_head_spends_a_weight_of_one_on_the_rows_that_are_there(text: Text) -> None:
    for layer in range(CONFIG.n_layer):
        for i in range(length(text)):
            weights = trace(text)["attn_weights", i, layer]
            assert weights.shape == (CONFIG.n_head, 1, i + 1) and (weights >= 0).all()
            assert np.abs(weights.sum(-1) - 1).max() < near(text) / 2
            assert trace(text).number("cache_append", i, layer) == i + 1


@BOTH
def test_it_chose_the_likeliest_token_and_went_on_with_it(text: Text) -> None:
    about = trace(text).about
    ids, kept = about["ids"], about["vocabulary_ids"]
    assert about["prompt"] == text.prompt and about["temperature"] == 0
    assert len(ids) == length(text) == about["n_prompt"] + text.new
    assert "".join(about["tokens"][: about["n_prompt"]]) == text.prompt
    for i in range(length(text)):
        logits, chances = trace(text)["logits", i][0], np.array(about["whole"]["chances"][i])
        assert chances.sum() < 1 and np.ptp(logits - np.log(chances)) < near(text) / 100  # one sum for all
        assert about["whole"]["apart"][i] < 1e-3, "with the cache and without"
        assert np.abs(logits - trace(text)["recompute_logits", i]).max() <= about["whole"]["apart"][i] + 1e-5
        if i + 1 >= about["n_prompt"]:
            chosen = trace(text).number("sample", i)
            assert chosen == kept[int(logits.argmax())] and (i + 1 == length(text) or ids[i + 1] == chosen)
    assert [about["vocabulary"][kept.index(token)] for token in ids] == about["tokens"]


@BOTH
def test_counts_and_lengths_are_what_they_must_come_to(text: Text) -> None:
    whole = trace(text).about["whole"]
    for i in range(length(text)):
        assert whole["macs"][i] == step_macs(CONFIG, i + 1).tolist()
        assert trace(text)["recompute_macs", i].tolist() == naive(CONFIG, i + 1).tolist()
    for layer in opened(text):
        lengths = np.sqrt((rows(text, "v", layer) ** 2).sum(-1))
        assert np.abs(lengths - whole["v_lengths"][layer]).max() < near(text)
        means = np.abs(rows(text, "k", layer)).mean(0)
        for head, (channel, times) in enumerate(whole["k_peaks"][layer]):
            assert channel == means[head].argmax()
            middle = np.sort(means[head])[CONFIG.head_dim // 2]
            assert times == pytest.approx(means[head].max() / middle, rel=2.5 * near(text))


def test_where_it_comes_from_is_said() -> None:
    source = trace().about["source"]
    assert source["licence"] == "Apache-2.0" and len(source["sha256"]) == 64
    said = text_of(by_id(PAGE)["source"])
    assert source["model"] in said and source["package"] in said and source["command"] in said and "4 digits" in said
    assert "SmolLM2-135M-\nInstruct" in (TRACE.parents[2] / "NOTICES").read_text("utf-8")
    for text in TEXTS:
        assert trace(text).about["source"] == source
        assert len(gzip.compress((TRACES / text.file).read_bytes(), 9)) < 400_000


def test_the_figures_in_the_text_are_those_of_the_trace() -> None:
    first = before = own = 0
    for layer in range(CONFIG.n_layer):
        for head in range(CONFIG.n_head):
            seen = [trace()["attn_weights", i, layer][head, 0] for i in range(2, N)]
            first += sum(row[0] for row in seen) / len(seen) > 0.5
            before += sum(row[-2] for row in seen) / len(seen) > 0.5
            own += sum(row[-1] for row in seen) / len(seen) > 0.5
    (table,) = find(tree_of(PAGE), "kinds")
    assert [int(text_of(next(row.iter("td")))) for row in [*table.iter("tr")][1:]] == [first, before, own]
    assert numbers(by_id(PAGE)["rest"])[:2] == [first, 270]
    lengths = np.array(trace().about["whole"]["resid_lengths"])
    layer = int(lengths[:, 0].argmax())
    middle = sorted(lengths[layer, 1:])[(N - 1) // 2]
    assert numbers(by_id(PAGE)["stream"]) == [layer, round(lengths[layer, 0]), round(middle)]
    every = enumerate(trace().about["whole"]["k_peaks"])
    peaks = [(times, layer, head, at) for layer, heads in every for head, (at, times) in enumerate(heads)]
    times, layer, head, at = max(peaks)
    assert numbers(by_id(PAGE)["peak"])[:5] == [layer, head, at, round(times, 1), round(min(peaks)[0], 1)]


def test_the_stepper_is_the_course_s_own_and_asks_for_no_python() -> None:
    """It opens where the largest weight lies on a row that is neither the first nor the token's own."""
    found = view(None)  # type: ignore[arg-type]
    (pressed,) = (e for e in tree_of(PAGE).iter("input") if e.get("name") == "head" and e.get("checked") is not None)
    layer, head = map(int, pressed.get("value", "").split("."))
    seen = {
        (one.layer, one.head, i): max(trace()["attn_weights", i, one.layer][one.head, 0, 1:i])
        for one in found.picture.open_heads
        for i in range(2, N)
    }
    assert max(seen, key=seen.__getitem__) == (layer, head, found.picture.at)
    (step,) = (e for e in tree_of(PAGE).iter("input") if e.get("name") == "step" and e.get("checked") is not None)
    assert step.get("value") == str(found.picture.at) and seen[layer, head, found.picture.at] > 0.5
    assert found.picture.n == N and len(found.picture.open_heads) == 9
    assert [text_of(e) for e in tree_of(PAGE).iter("q")] == [PROMPT, found.written.strip()]
    for lang in LANGUAGES:
        assert len([e for e in tree_of(PAGE, lang).iter("input") if e.get("name") == "step"]) == N
        assert not [e for e in tree_of(PAGE, lang).iter() if e.get("data-hook")]


def test_what_the_picture_does_not_say_stands_on_the_page_of_its_numbers() -> None:
    """Of the head that is shown first the picture says how each number comes about; of the others, that page."""
    shown = view(None).picture  # type: ignore[arg-type]
    first, others = shown.heads[shown.at_head], [one for at, one in enumerate(shown.heads) if at != shown.at_head]
    of_heads = [e for e in find(tree_of(PAGE), "replies", "O") if not find(e, "elsewhere")]
    assert len(of_heads) == N and all(f"O{shown.at_head}" in e.get("class", "").split() for e in of_heads)
    (elsewhere,) = find(tree_of(PAGE), "elsewhere")
    assert [e.get("href") for e in elsewhere.iter("a")] == [f"{PAGE}-numbers.html"]
    assert not find(tree_of(PAGE), "costs") and (first.layer, first.head) not in [(x.layer, x.head) for x in others]
    for i, section in enumerate(find(tree_of(f"{PAGE}-numbers"), "listed")):
        total = [numbers(cell)[0] for cell in find(section, "costs")[0].iter("td") if text_of(cell)][-2:]
        assert total == [step_macs(CONFIG, i + 1).sum(), naive(CONFIG, i + 1).sum()]
        (sums,) = find(section, "sums")
        assert [text_of(e) for e in sums.iter("h3")] == [f"layer {one.layer}, head {one.head}" for one in others]
        for one, rows in zip(others, sums.iter("dl"), strict=True):
            for row in rows.iter("div"):
                at = int(text_of(row[0]).split()[0])
                for name, said in zip(("attn_scores", "attn_weights"), [*row.iter("dd")], strict=True):
                    wanted = trace()[name, i, one.layer][one.head, 0, at]
                    assert all(abs(numbers(e)[0] - wanted) < 0.0051 for e in said.iter("b"))
        assert len([*sums.iter("b")]) > len(others) * (i + 1), "most have both"
