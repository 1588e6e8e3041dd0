"""Traces of models whose arithmetic is not ours: what a page draws of them, and where it says what is different.

The traces are those of a random model, altered as another family would tell them. The families themselves run in
tests/references/test_families.py, where PyTorch is at hand.
"""

import re
from functools import cache
from html import unescape
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np
import pytest

from microgpt.cost import naive, step_macs
from microgpt.errors import UserError
from microgpt.record import Recording
from microgpt.trace import OVER_KEYS, Trace, from_json, to_json
from microgpt.viz import show
from microgpt.viz.large.family import of_family
from microgpt.viz.large.from_trace import ExcerptPicture, picture_of_trace
from microgpt.viz.large.heads import distances, with_rows
from microgpt.viz.large.picture import picture_of_run
from microgpt.viz.lesson import lesson_named
from microgpt.viz.rendering.assets import STILL
from microgpt.viz.text.formats import upper_bound
from microgpt.weights import shipped
from tests.support.large import view as run
from tests.support.pages import parse, text
from tools.checkpoint import in_form

SHAPE = ("n_layer", "n_embd", "n_head", "n_kv_head", "head_dim", "n_mlp", "n_ctx", "vocab_size", "position")
INSIDE = ("attn_norm", "q", "k", "v", "cache_append", "attn_scores", "attn_weights", "head_out", "attn_out")


@cache
def told(without: tuple[int, ...] = (), scale: float = 1, sink: float = 0) -> Trace:
    """A run as another family tells it: layers with no rows, scores scaled, a part of each weight on a sink."""
    source = run()
    config = {name: source.about["config"][name] for name in SHAPE}
    n = source.n
    macs = [[at + part for part in range(6)] for at in range(n)]
    about = {**source.about, "config": config, "family": "other", "macs": macs, "macs_without": macs[::-1]}
    trace = Trace(about | ({"no_rows": list(without)} if without else {}))
    for event in source.trace:
        name, value, pos, layer = event.report
        if layer in without and name in INSIDE:
            continue
        if name == "recompute_macs":
            value = np.array(macs[n - 1 - pos])
        changed = {"attn_scores": scale, "attn_weights": 1 - sink}.get(name, 1)
        trace((name, value if changed == 1 else value * changed, pos, layer))
    return trace


def part_of(html: str, name: str) -> Element:
    """The element of that id."""
    return next(one for one in parse(html).iter() if one.get("id") == name)


def words(html: str) -> str:
    return unescape(re.sub("<[^>]*>", "", html))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("far", [0.0, 0.605, 40.0])
def test_two_ways_are_called_the_same_only_where_they_are(dtype: str, far: float) -> None:
    """One logit of one step is moved in the run without the cache: not at all, a little, and beyond the likeliest."""
    source, at = Recording(shipped("names"), "emm").run(), 3
    logits = source["logits", at][0]
    first, second = (int(token) for token in np.argsort(logits)[[-1, 0]])
    trace = Trace(source.about | {"dtype": dtype})
    for event in source:
        name, value, pos, layer = event.report
        if name == "recompute_logits":
            value = np.array(source["logits", pos][0])
            value[second] += far if pos == at else 0
        trace((name, value, pos, layer))
    view = picture_of_trace(trace)
    assert picture_of_trace(from_json(to_json(view.trace))).agreement == view.agreement, (
        "also after a way through a file"
    )
    said, both = text(part_of(page(view), "same")), view.agreement
    assert both and both.steps == view.n and both.difference == pytest.approx(far, abs=1e-4)
    flips = far == 40
    assert [one.number for one in both.others] == [at + 1] * flips
    assert ("The likeliest token is the same in both" in said) != flips
    assert (f"At step {at + 1} the likeliest token is" in said) == flips
    assert not flips or list(both.others[0][1:]) == [view.vocabulary_token(token) for token in (first, second)]
    assert ("The answer is the same" in said) == (dtype == "float32" and not far)
    assert ("Numbers of 16 bits have few digits" in said) == (dtype == "bfloat16")
    assert ("rounding does not explain so much" in said) == (dtype == "float32" and far > 0)
    assert f"differ by less than {upper_bound(both.difference)}" in said and (far != 0.605 or "less than 0.61" in said)


@cache
def late(before: int = 5) -> Trace:
    """The same run as a recording of its last tokens alone tells it."""
    source, first = run(), before
    costs = [
        [int(x) for x in cost(source.config, i + 1)] for cost in (step_macs, naive) for i in range(first, source.n)
    ]
    about = {
        **source.about,
        "before": first,
        "tokens": source.tokens[first:],
        "ids": source.about["ids"][first:],
        "n_prompt": source.about["n_prompt"] - first,
        "engine": "another engine",
        "macs": costs[: source.n - first],
        "macs_without": costs[source.n - first :],
    }
    trace = Trace(about)
    for event in source.trace:
        name, value, pos, layer = event.report
        if pos >= first and not name.startswith("recompute"):
            trace((name, value[..., first:] if name in OVER_KEYS else value, pos - first, layer))
    return trace


def test_of_a_long_text_the_last_tokens_are_drawn_and_the_rows_before_them_stand_as_one_number() -> None:
    whole, view = run(), picture_of_trace(from_json(to_json(late())), [0, 6], [0, 8])
    seen = picture_of_run(whole.trace, [0, 6], [0, 8])
    n = view.n
    assert view.before == 5 and n == whole.n - 5 and view.place(n) == whole.n
    for i in range(n):
        step, there = view.step(i), seen.step(i + 5)
        assert (step.number, step.rows, step.bytes) == (there.number, there.rows, there.bytes)
        assert step.added == there.added == 1 and step.rows - step.added == i + 5
        assert [c.with_cache for c in step.costs] == [c.with_cache for c in there.costs]
        assert [c.without for c in step.costs] == [c.without for c in there.costs] and step.difference is None
        for (_, few), (_, every) in zip(step.meetings, there.meetings, strict=True):
            assert view.below(few) == pytest.approx(sum(one.weight for one in every[:5]), abs=1e-5)
            ends = [one.below + one.thick for one in few]
            assert ends[-1] == 100 and few[0].below == round(100 * view.below(few)), "the slices fill one row"
    assert view.alone == {} and view.one_more["right"] == seen.one_more["right"]
    lacking = view.map.earlier
    assert lacking and view.map.first is None and view.map.short is None
    far = 1 - np.array([late()["attn_weights", i, lacking.layer][lacking.head, 0].sum() for i in range(2, n)])
    assert lacking.share == pytest.approx(far.mean(), abs=1e-5)


def test_the_page_of_a_long_text_says_what_is_left_out_and_counts_in_the_whole_text() -> None:
    view = picture_of_trace(late())
    html = page(view)
    assert "Before the first token that is shown, 5 others ran." in words(html)
    last = view.place(view.n - 1)
    assert html.count("+ 5 rows") == 2 and f"as row {last}. No row that lies there moves." in words(html)
    under = [e for e in parse(html).iter() if "under" in (e.get("class") or "").split()]
    assert len(under) == view.n * len(view.heads)
    told = [float(next(e.itertext())) for row in under for e in row.iter() if str(e.tag).rpartition("}")[2] == "b"]
    assert told == [round(view.below(meets), 2) for i in range(view.n) for _, meets in view.step(i).meetings]
    assert "rows before<" not in ours() and "+ 5 rows" not in ours()


def test_of_a_long_text_the_words_say_where_the_work_is() -> None:
    """Most of what the cache saves is attention only in long texts: by the counts, not by the words."""
    for scores, is_attention in ((1, False), (10**9, True)):
        about = {**late().about}
        n = len(about["tokens"])
        about["macs"], about["macs_without"] = [[10] * 6] * n, [[100, scores, scores, 100, 10**8, 100]] * n
        view = picture_of_trace(Trace(about, [event.report for event in late()]))
        html = page(view)
        assert view.attention_saves == is_attention == ("most of the difference is attention:" in html)
        assert ("Most of the difference is not attention." in html) != is_attention
    assert not picture_of_trace(late()).attention_saves
    assert 'id="bug"' not in html and "ask-bug" not in html, "its answer is about a cache that was empty"


def test_the_plain_form_counts_in_the_whole_text() -> None:
    html = show(late())._repr_html_()
    assert f"Step {run().n} of {run().n}: " in html and f"of {picture_of_trace(late()).n}: " not in html


def test_a_head_that_looks_at_rows_before_those_that_are_shown_looks_back_furthest() -> None:
    weights = np.zeros((1, 2, 4, 4))
    weights[0, :, range(4), range(4)] = 1
    weights[0, 1] *= 0.25
    left = 1 - weights.sum(-1)
    assert distances(weights, before=left).tolist() == [[0, 0.75]] and distances(weights).tolist() == [[0, 0]]


@cache
def shown(**more: Any) -> ExcerptPicture:
    """What is drawn after a way through a file, as build.py --trace takes it."""
    view = picture_of_trace(from_json(to_json(told(**more))))
    return picture_of_trace(from_json(to_json(view.of_open_heads())))


def page(view: ExcerptPicture) -> str:
    return in_form(lesson_named("stepper"), view, view, {}, "en", STILL, alone=False)


@cache
def usual() -> str:
    return page(shown())


@cache
def ours() -> str:
    return page(picture_of_trace(run().excerpt()))


def test_layers_without_rows_are_left_out_and_named() -> None:
    without = (0, 2, 6)
    view = shown(without=without)
    kept = [layer for layer in range(7) if layer not in without]
    assert with_rows(view.about) == kept and view.layers == [1, 3, 5], "first, middle and last of those with rows"
    assert view.layers_by_rule and view.map.heads == 4 * 9
    c = view.config
    for i in range(view.n):
        assert view.step(i).rows == i + 1
        assert view.step(i).bytes.numbers == 4 * (i + 1) * 2 * c.n_kv_head * c.head_dim
    for layer in without:
        assert not any(thumb.paths for thumb in view.map.layers[layer]), "an empty place in the picture of all heads"
    assert of_family(view)[1].startswith(f"Of its layers, only these are of this kind: {', '.join(map(str, kept))}.")
    with pytest.raises(UserError, match="Layer 2 of this model keeps no rows"):
        picture_of_trace(told(without=without), layers=[2])


def test_rows_of_v_may_have_another_width_than_those_of_k() -> None:
    """As DeepSeek's have: each strip has its own numbers, and the bytes are those of both."""
    source, v = run(), 48
    trace = Trace({**told().about, "v_dim": v, "latent": 96})
    for event in told():
        name, value, pos, layer = event.report
        if name == "v":
            value = value[..., :v]
        if name == "head_out":
            value = value.reshape(1, source.config.n_head, -1)[..., :v].reshape(1, -1)
        trace((name, value, pos, layer))
    view = picture_of_trace(from_json(to_json(trace)))
    view = picture_of_trace(from_json(to_json(view.of_open_heads())))
    c = view.config
    for i in range(view.n):
        for name, width in (("q", 64), ("k", 64), ("v", v), ("head_out", v)):
            assert {len(row) for _, _, row in view.rows(name, i)} == {width}
        assert view.step(i).bytes.numbers == 7 * (i + 1) * c.n_kv_head * (64 + v)
        for (_, where, mine), (_, there, whole) in zip(view.rows("v", i), run().rows("v", i), strict=True):
            assert where == there and np.allclose(mine, whole[:v])
    assert "a latent of 96 numbers per token" in " ".join(of_family(view))
    html = page(view)
    unit = '<span class="unit"> weights</span></small>'
    assert f"48 × 64{unit}" in html and f"48 × 48{unit}" in html
    trace.about["v_dim"] = 64
    with pytest.raises(UserError, match=r"v, pos 0, layer 0 .* its “shape” is \[1, 3, 48\], not \[1, 3, 64\]"):
        picture_of_trace(trace)


def test_a_layer_that_is_not_named_must_tell_its_rows() -> None:
    told_of = told(without=(3,))
    about = {name: value for name, value in told_of.about.items() if name != "no_rows"}
    trace = Trace(about, [event.report for event in told_of])
    with pytest.raises(UserError, match="does not tell attn_norm, pos 0, layer 3"):
        picture_of_trace(trace)


def test_the_counts_are_those_that_the_engine_gave_and_no_formula_stands_beside_them() -> None:
    view = shown()
    n = view.n
    for i in range(n):
        costs = view.step(i).costs
        assert [part.with_cache for part in costs[:-1]] == [i + part for part in range(6)]
        assert [part.without for part in costs[:-1]] == [n - 1 - i + part for part in range(6)]
        assert {part.form_with for part in costs} == {part.form_without for part in costs} == {None}
    assert usual().count("counted by the size of each matrix") == n and "counted and by formula" not in usual()
    assert "counted and by formula" in ours()


@pytest.mark.slow("draws every kind of large model")
def test_what_the_words_take_for_granted_is_said_where_it_does_not_hold() -> None:
    assert of_family(picture_of_trace(run().excerpt())) == []
    (plain,) = of_family(shown())
    assert plain.startswith("It is a model of the family other.")
    assert of_family(shown(scale=0.5))[1].startswith("Its scores are not q · k over the root of 64")
    view = shown(sink=0.25)
    assert of_family(view)[1].startswith("The weights of a step come to less than 1, to 0.75 on the mean")
    html, plain = page(view), words(usual())
    said = words(html)
    assert "as thick as 0.75 of a row" in said and "fill less than a row" in said and "thick as one row" not in said
    assert "thick as one row" in plain and "fill one row" in plain and "of a row" not in plain
    assert view.alone == {} and "ask-alone" not in html, "its answer is that one row has the whole weight"
    assert picture_of_trace(run().excerpt()).alone["right"] == 1 and "ask-alone" in ours()
    view.about["engine"] = "another engine"
    assert "to 0.75 on the mean" in words(page(view))
