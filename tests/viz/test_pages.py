"""Every number that a page shows is the trace's; no page holds anything that the policy forbids."""

import itertools
import re
from dataclasses import asdict
from xml.etree.ElementTree import Element

import numpy as np
import pytest

from microgpt.config import Config
from microgpt.cost import PARTS, count, kv_bytes, naive, reads, step_macs
from microgpt.course import LESSONS, PAGES
from microgpt.course import page as page_named
from microgpt.decode import probabilities
from microgpt.trace import Trace
from microgpt.viz.controls import on_show
from microgpt.viz.drawing.picture import Picture
from microgpt.viz.lesson import page_named as page_in_course
from microgpt.viz.page import Page
from microgpt.viz.rendering.policy import policy
from microgpt.viz.rendering.render import render_page
from microgpt.viz.settings import Settings
from microgpt.viz.text.language import language
from microgpt.weights import shipped
from tests.support.pages import by_name, classes, find, folded, numbers, numbers_of, parse, shown_as, text, tree_of
from tests.support.sampled import sampled


@pytest.fixture(scope="session")
def page(trace: Trace) -> Page:
    return next(p for p in LESSONS if p.widget == "kv_cache" and p.model == trace.about["model"])


@pytest.fixture(scope="session")
def tree(page: Page, trace: Trace) -> Element:
    return parse(render_page(page, Picture(trace)))


def test_every_drawn_cell_is_the_traces_number(tree: Element, trace: Trace) -> None:
    config = Config(**trace.about["config"])
    digits = 2 if config.head_dim <= 4 else 1
    group = config.n_head // config.n_kv_head
    checked = 0
    for pos in range(len(trace.about["tokens"])):
        step, row = find(tree, "step", f"S{pos}")[0], find(tree, "row", f"R{pos}")[0]
        inputs = find(find(tree, "ledger", f"S{pos}")[0], "inputs")[0]
        for layer in range(config.n_layer):
            (x,) = find(inputs, "strip", "x", f"L{layer}")
            shown_as(numbers_of(x), trace["attn_norm", pos, layer], digits)
            for head in range(config.n_head):
                for where, kind, at, of in (
                    (inputs, "q", head, ""),
                    (find(step, "ask-q")[0], "q", head, ""),
                    (row, "k", head // group, "of-"),
                    (row, "v", head // group, "of-"),
                ):
                    (drawn,) = find(where, "strip", kind, f"{of}L{layer}", f"{of}H{head}")
                    shown_as(numbers_of(drawn), trace[kind, pos, layer][0, at], digits)
                    checked += 1
                (mixed,) = find(step, "strip", "o", f"L{layer}", f"H{head}")
                values = trace["head_out", pos, layer][0].reshape(config.n_head, -1)
                shown_as(numbers_of(mixed), values[head], digits)
    assert checked > 100


def test_every_score_weight_and_read_is_the_traces(tree: Element, trace: Trace) -> None:
    config, found = Config(**trace.about["config"]), reads(trace)
    for pos in range(len(trace.about["tokens"])):
        step = find(tree, "step", f"S{pos}")[0]
        for layer in range(config.n_layer):
            for head in range(config.n_head):
                (meets,) = find(step, "meets", f"L{layer}", f"H{head}")
                scores = [numbers(e)[0] for e in find(meets, "score")]
                weights = [numbers(e)[0] for e in find(meets, "weight")]
                shown_as(scores, trace["attn_scores", pos, layer][head, 0], 2)
                shown_as(weights, trace["attn_weights", pos, layer][head, 0], 2)
                counts = [numbers(e)[0] for e in find(meets, "reads")]
                assert counts == [len([s for s in found["k", layer, j] if s <= pos]) for j in range(pos + 1)]
                widths = [int(c[1:]) for bar in find(meets, "band") for c in classes(bar) if re.fullmatch(r"w\d+", c)]
                assert np.abs(np.array(widths) / 100 - trace["attn_weights", pos, layer][head, 0]).max() <= 0.01
                slices = [{c[0]: int(c[1:]) for c in classes(one) if c[1:].isdigit()} for one in find(meets, "pour")]
                assert [one["b"] for one in slices] == [0, *itertools.accumulate(one["w"] for one in slices)][:-1]
                assert sum(one["w"] for one in slices) == 100  # the slices of V fill exactly one row
                assert np.abs(np.array([one["w"] for one in slices]) - np.array(widths)).max() <= 1


def test_x_is_drawn_as_bars_of_its_numbers(tree: Element, trace: Trace) -> None:
    limit = Picture(trace).x_scale.limit
    for pos in range(len(trace.about["tokens"])):
        x = find(find(tree, "step", f"S{pos}")[0], "vector", "q")[0]
        for layer, path in enumerate(x.iter("path")):
            drawn = [float(bar) for bar in re.findall(r"h(-?[\d.]+)", path.get("d", ""))]
            assert np.abs(np.array(drawn) / 10 * limit - trace["attn_norm", pos, layer][0]).max() <= 0.06 / 10 * limit


def test_the_head_on_show_is_the_one_whose_weights_differ_most(trace: Trace) -> None:
    config, n = Config(**trace.about["config"]), len(trace.about["tokens"])
    apart = {
        (layer, head): sum(np.abs(trace["attn_weights", i, layer][head, 0] - 1 / (i + 1)).sum() for i in range(n))
        for layer in range(config.n_layer)
        for head in range(config.n_head)
    }
    shown = on_show(Picture(trace))
    assert apart[shown["layer"], shown["head"]] == pytest.approx(max(apart.values()))  # type: ignore[index]
    assert on_show(Picture(trace, head=0))["head"] == 0


def test_every_count_in_the_panels_is_the_traces(tree: Element, trace: Trace) -> None:
    config = Config(**trace.about["config"])
    for pos in range(len(trace.about["tokens"])):
        step, ledger = find(tree, "step", f"S{pos}")[0], find(tree, "ledger", f"S{pos}")[0]
        ours = count(config, [e for e in trace if e.pos == pos]).tolist()
        without = trace["recompute_macs", pos].tolist()
        body = [row for row in find(ledger, "costs")[0].iter("tr")][1:]
        shown = [[numbers(cell)[0] for cell in row.iter("td") if text(cell)] for row in body]
        expected = [[a, b] for a, b in zip([*ours, sum(ours)], [*without, sum(without)], strict=True)]
        assert shown == expected
        held = numbers(find(ledger, "held")[0])
        assert held[0] == kv_bytes(config, pos + 1, 1)
        assert held[1] == kv_bytes(config, pos + 1, 2)
        assert kv_bytes(config, pos + 1, 8) in held
        assert kv_bytes(config, config.n_ctx, 8) in held
        found = reads(trace)
        assert held[-1] == sum(at <= pos for at in found["k", 0, 0]) == sum(at <= pos for at in found["v", 0, 0])
        assert "q of this step once" in text(find(ledger, "held")[0]) and found["q", 0, pos] == [pos]
        narration = numbers(find(step, "narration")[0])
        assert narration[0] == pos + 1
        assert narration[-3:] == [pos, 1, pos + 1]
        assert narration[-1] == sum(pos in at for (kind, layer, _), at in found.items() if (kind, layer) == ("k", 0))


def test_every_count_in_the_check_is_the_traces(tree: Element, trace: Trace) -> None:
    config, found = Config(**trace.about["config"]), reads(trace)
    for pos in range(len(trace.about["tokens"])):
        differ, macs, read = find(find(tree, "ledger", f"S{pos}")[0], "check")[0].iter("li")
        (limit,) = re.findall(r"less than (1e-\d+)\.", text(differ))
        assert np.abs(trace["logits", pos][0] - trace["recompute_logits", pos]).max() < float(limit) <= 1e-9
        ours, again = count(config, [e for e in trace if e.pos == pos]), trace["recompute_macs", pos]
        assert numbers(macs) == [ours.sum(), sum(step_macs(config, pos + 1)), again.sum(), sum(naive(config, pos + 1))]
        assert numbers(read) == [len(found["q", 0, pos]), 0, sum(at <= pos for at in found["k", 0, 0])]


def test_the_table_of_reads_is_counted_from_the_trace(tree: Element, trace: Trace) -> None:
    (table,) = find(tree, "reads-table")
    rows = [row for row in table.iter("tr")][1:]
    assert len(rows) == len(trace.about["tokens"])
    for i, row in enumerate(rows):
        shown = [numbers(cell)[0] for cell in row.iter("td")]
        assert shown == [i, *(len(reads(trace)[kind, 0, i]) for kind in "qkv")]


def test_every_figure_of_what_the_cache_saves_is_the_traces(tree: Element, trace: Trace) -> None:
    last = len(trace.about["tokens"]) - 1
    ours = count(Config(**trace.about["config"]), [e for e in trace if e.pos == last])
    again = trace["recompute_macs", last]
    mlp, scores = PARTS.index("mlp"), PARTS.index("scores")
    (said,) = [e for e in tree.iter("p") if e.get("id") == "saves"]
    assert numbers(said) == [last + 1, ours.sum(), last + 1, again.sum(), again[mlp], ours[mlp], ours[scores]]


def test_the_guesses_are_the_models(tree: Element, trace: Trace) -> None:
    for pos in range(len(trace.about["tokens"])):
        table = find(find(tree, "ledger", f"S{pos}")[0], "scores")[0]
        rows = [row for row in table.iter("tr")][1:]
        logits = trace["logits", pos][0]
        best = np.argsort(-logits, kind="stable")[: len(rows)]
        names = [text(next(row.iter("bdi"))) for row in rows]
        assert names == [trace.about["vocabulary"][t] for t in best]
        cells = [[numbers(cell)[0] for cell in row.iter("td") if text(cell)] for row in rows]
        shown_as([p for _, p in cells], probabilities(logits)[best], 2)
        shown_as([x for x, _ in cells], logits[best], 2)
        moving = [row for row in find(find(tree, "step", f"S{pos}")[0], "guesses")[0].iter("tr")][1:]
        assert [text(next(row.iter("bdi"))) for row in moving] == names
        for at, temperature in enumerate((1, 0.25, 0.5, 1, 1.5, 2)):  # 0, always the likeliest, is drawn as 1
            shares = [numbers(find(row, f"deg{at}")[0])[0] for row in moving]
            shown_as(shares, probabilities(logits, temperature)[best], 2)
        chosen = trace.number("sample", pos)
        marked = [name for name, row in zip(names, rows, strict=True) if "chosen" in classes(row)]
        assert marked == ([] if chosen is None else [trace.about["vocabulary"][chosen]])


def test_heat_grows_with_the_number_on_one_symmetric_scale(tree: Element) -> None:
    levels: dict[str, list[float]] = {}
    for strip in find(find(tree, "stage")[0], "strip"):
        for cell in strip:
            levels.setdefault(cell.get("class", ""), []).append(numbers(cell)[0])
    order = [f"n{i}" for i in range(12, 0, -1)] + ["z"] + [f"p{i}" for i in range(1, 13)]
    present = [levels[name] for name in order if name in levels]
    assert levels.keys() <= set(order)
    assert all(max(a) <= min(b) + 0.11 for a, b in zip(present, present[1:], strict=False))  # 0.11: cells are rounded
    assert all(x < 0.06 for name in order[:12] for x in levels.get(name, []))


@pytest.mark.parametrize("page", sampled(PAGES, PAGES[:30:6], "browsers report what a policy forbids"), ids=by_name)
def test_no_inline_script_or_style_and_nothing_from_elsewhere(page: Page) -> None:
    """But the sources, each of which opens in a tab of its own: in a frame the page stays, and it is not handed on."""
    tree = tree_of(page)
    assert next(e.get("content") for e in tree.iter("meta") if e.get("http-equiv")) == policy(frames=page.frames)
    for element in tree.iter():
        assert "style" not in element.attrib and element.tag != "style"
        assert not [name for name in element.attrib if name.startswith("on")]
        if element.tag == "script":
            assert element.get("src") and not text(element)
    listed = [a for place in find(tree, "sources") for a in place.iter("a")]
    out = [e for e in tree.iter() for name in ("href", "src", "action") if re.match(r"[a-z]+:|//", e.get(name, ""))]
    assert out == listed
    for a in out:
        assert (a.get("class"), a.get("target"), a.get("rel")) == ("source", "_blank", "noopener")


def test_the_policy_is_this_one() -> None:
    """Word by word, so that no directive goes or grows unseen."""
    assert policy() == (
        "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; style-src 'self'; "
        "img-src 'self' data:; worker-src 'self' blob:; base-uri 'none'; form-action 'none'; "
        "require-trusted-types-for 'script'; trusted-types microgpt offline"
    )
    assert policy(frames=True) == policy().replace("base-uri", "frame-src 'self'; base-uri")


def test_tokens_from_a_hostile_vocabulary_are_escaped(trace: Trace) -> None:
    """Whatever a vocabulary holds is text, set apart from its neighbours."""
    about = {**trace.about, "tokens": ["<b>&", "‮x", *trace.about["tokens"][2:]]}
    evil = Trace(about, [event.report for event in trace])
    html = render_page(page_named("kv-cache"), Picture(evil))
    assert "<b>&" not in html and "&lt;b&gt;&amp;" in html
    assert "‮" not in html


def test_the_foot_of_a_page_says_where_numbers_come_from_and_published_ones_name_it() -> None:
    for name in ("index", "memory", "prefill-and-decode"):
        said = folded(tree_of(name))
        assert "or computed by a formula that is tested against such runs; published figures name their source" in said
    assert "NVIDIA’s data sheet of the A100 80GB SXM: 312 dense 16-bit TFLOPS, 2,039 GB/s" in said


SUMS = {"in-pieces": set("mlo")}  # letters of sums that stand in sentences alone


def test_a_letter_means_one_thing() -> None:
    """No token of a page's own text is a letter that its picture has for a quantity; e is the base of a power."""
    for lesson in LESSONS:
        widget = next(one for one in tree_of(lesson).iter("section") if "widget" in classes(one))
        tokens = {text(one) for one in find(widget, "tok")}
        letters = {text(one) for one in widget.iter("var")} | SUMS.get(lesson.name, set())
        powers = [text(one) for one in widget.iter() if any(part.tag == "sup" for part in one)]
        if any(re.match(r"e\w$", power) for power in powers) or "e to the power" in text(widget):
            letters |= {"e"}
        assert not tokens & letters, lesson.name


SPOKEN = [(page, *run) for page in PAGES for run in page.spoken]


@pytest.mark.parametrize(
    ("page", "lang", "model", "prompt"), SPOKEN, ids=[f"{one.name}-{lang}" for one, lang, *_ in SPOKEN]
)
def test_a_page_in_a_language_of_its_own_tells_the_same_of_as_many_tokens(
    page: Page, lang: str, model: str, prompt: str
) -> None:
    """Another text, of a model of the same shape: so that what the words say of numbers and places holds."""
    shown, known = page.in_language(lang), (shipped(page.model), shipped(model))
    assert (shown.model, shown.prompt, shown.models[0], shown.name) == (model, prompt, model, page.name)
    assert page.in_language("en") == page and set(page.models) < set(shown.models)
    ours, theirs = (Settings(*run).run().trace.about for run in ((page.model, page.prompt), (model, prompt)))
    assert len(ours["tokens"]) == len(theirs["tokens"]) and ours["n_prompt"] == theirs["n_prompt"]
    shapes = [{**asdict(one.config), "vocab_size": 0} for one in known]
    assert shapes[0] == shapes[1]
    with language(lang):
        assert page_in_course(page.name) == shown
