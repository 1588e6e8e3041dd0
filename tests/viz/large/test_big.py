"""A large model's page: what is drawn is the trace's, what is opened follows the rule, and it stays small."""

import gzip
import os
import re
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microgpt.config import Array, Config
from microgpt.cost import naive, step_macs
from microgpt.errors import UserError
from microgpt.record import Recording
from microgpt.trace import Trace, from_json, to_json
from microgpt.viz.drawing.picture import MOST_TOKENS, Picture
from microgpt.viz.drawing.strips import ABOVE, BELOW, Thin, fold, thin_scale
from microgpt.viz.large.excerpt import EVERYWHERE, OPENED, of_heads, shortest
from microgpt.viz.large.from_trace import picture_of_excerpt
from microgpt.viz.large.heads import attention, choose_heads
from microgpt.viz.large.overview import LEVELS, again, level_of, short
from microgpt.viz.large.picture import BigPicture, picture_of_model, picture_of_run
from microgpt.viz.lesson import lesson_named
from microgpt.viz.rendering.assets import STILL
from microgpt.viz.rendering.style import MOST_OPEN as MOST
from microgpt.viz.rendering.style import minify, own_style, style
from microgpt.viz.text.formats import number
from microgpt.weights import shipped
from tests.support.large import PROMPT, SHAPES, SMALL, WORDS, large, small, view
from tests.support.pages import classes, find, numbers, parse, text
from tools.checkpoint import in_form

EVENTS = {"q": "q", "k": "k", "v": "v", "o": "head_out", "x": "attn_norm"}


@cache
def page() -> str:
    return page_of(view())


def page_of(shown: BigPicture) -> str:
    return in_form(lesson_named("stepper"), shown, shown, {}, "en", STILL, alone=False)


@cache
def tree() -> Element:
    return parse(page())


def told_again(trace: Trace) -> Trace:
    """After a way through a file."""
    return from_json(to_json(trace))


def parts(tree: Element, name: str) -> list[Element]:
    """The SVG elements of that name."""
    return [e for e in tree.iter() if str(e.tag).endswith(f"}}{name}")]


def row(trace: Trace, config: Config, kind: str, pos: int, layer: int, head: int) -> Array:
    """What a strip of that kind draws."""
    values = trace[EVENTS[kind], pos, layer][0]
    if kind == "x":
        return fold(values)
    rows = values.reshape(-1, config.head_dim)
    return rows[head * len(rows) // config.n_head]  # type: ignore[no-any-return]


def levels(svg: Element) -> dict[int, tuple[str, int]]:
    """Cell -> its heat class and its height in the strip, read back from the paths."""
    found: dict[int, tuple[str, int]] = {}
    for path in parts(svg, "path"):
        (name,) = classes(path)
        start = re.match(r"M(\d+) (\d+)", path.get("d", ""))
        assert start
        x, y = int(start[1]), int(start[2])
        for gap, length in re.findall(r"(?:m(\d+) 0)?h(\d+)", path.get("d", "")):
            x += int(gap or 0)
            if name != "far":
                found |= dict.fromkeys(range(x, x + int(length)), (name, y))
            x += int(length)
    return found


def test_every_listed_number_and_every_cell_is_the_traces() -> None:
    shown, checked = view(), 0
    trace, config = shown.trace, shown.config
    every = [*range(shown.n)] if os.environ.get("EVERYTHING") else [0, shown.n // 2, shown.n - 1]
    for pos in every:
        step, kept = find(tree(), "step", f"S{pos}")[0], find(tree(), "row", f"R{pos}")[0]
        (ledger,), (numbers_of_step,) = find(tree(), "ledger", f"S{pos}"), find(tree(), "numbers", f"S{pos}")
        for index, one in enumerate(shown.open_heads):
            lists = {
                kind: next(e for e in find(numbers_of_step, "O", f"O{index}") if name in text(e[0]))
                for kind, name in (("q", "q"), ("k", "k"), ("v", "v"), ("o", "sum"), ("x", "x"))
            }
            for kind in EVENTS:
                values = row(trace, config, kind, pos, one.layer, one.head)
                scale = shown.scales[{"q": "q, k", "k": "q, k", "x": "x"}.get(kind, "v"), one.layer]
                lines = text(lists[kind][1]).splitlines()
                printed = [x for line in lines for x in numbers_in(line)[1:]]
                assert [numbers_in(line)[0] for line in lines] == list(range(0, len(values), 8))
                assert np.abs(np.array(printed) - values).max() <= 0.5 * 10**-scale.digits + 1e-6
                drawn = [svg for at in (step, ledger) for svg in find(at, "strip", kind, f"O{index}")]
                drawn += find(kept, "strip", kind, f"of-O{index}")
                again = [part.get("href") for svg in drawn for part in parts(svg, "use")]
                drawn = [svg for svg in drawn if not parts(svg, "use")]
                assert len(drawn) == 1 and again == [f"#{part.get('id')}" for part in parts(drawn[0], "g")]
                for svg in drawn:
                    cells = levels(svg)
                    for i, value in enumerate(values.tolist()):
                        level = min(4, round(4 * abs(value) / scale.limit))
                        sign = "n" if value < 0 else "p"
                        wanted = (f"{sign}{3 * level}", ABOVE if sign == "p" else BELOW) if level else None
                        assert cells.get(i) == wanted
                    largest = int(np.abs(values).argmax())
                    assert f"largest: {largest}: " in svg.get("aria-label", "")
                    checked += 1
    assert checked == len(every) * len(shown.open_heads) * 5


def numbers_in(line: str) -> list[float]:
    return [float(x.replace("−", "-")) for x in line.split()]


def test_scores_and_weights_are_the_traces() -> None:
    shown = view()
    for pos in range(shown.n):
        step = find(tree(), "step", f"S{pos}")[0]
        for index, one in enumerate(shown.open_heads):
            (meets,) = find(step, "meets", f"O{index}")
            weights = [numbers(e)[0] for e in find(meets, "weight")]
            expected = shown.trace["attn_weights", pos, one.layer][one.head, 0]
            assert np.abs(np.array(weights) - expected).max() <= 0.005 + 1e-6


def test_the_overview_draws_all_weights_of_all_heads() -> None:
    shown = view()
    config, n = shown.config, shown.n
    grid = find(tree(), "grid")[0]
    thumbs = parts(grid, "svg")
    assert len(thumbs) == config.n_layer * config.n_head
    for at, svg in enumerate(thumbs):
        layer, head = divmod(at, config.n_head)
        drawn = np.zeros((n, n), int)
        for path in parts(svg, "path"):
            (level,) = classes(path)
            x = y = 0
            for dx, dy, length in re.findall(r"[Mm](-?\d+)(?:\.5)? (-?\d+)v(\d+)", path.get("d", "")):
                x, y = x + int(dx), y + int(dy)
                assert (drawn[y : y + int(length), x] == int(level[1:]) - 1).all(), "on all levels below"
                drawn[y : y + int(length), x] += 1
                y += int(length)
        for i in range(n):
            expected = level_of(shown.trace["attn_weights", i, layer][head, 0])
            assert drawn[i, : i + 1].tolist() == expected.tolist()
            assert not drawn[i, i + 1 :].any()
    assert level_of(np.array([0.0, LEVELS[0], 1.0])).tolist() == [0, 1, len(LEVELS)]


def test_each_open_head_is_lit_and_leads_to_its_button() -> None:
    shown = view()
    buttons = {e.get("id"): e for e in tree().iter("input") if e.get("name") == "head"}
    labels = [e for e in find(tree(), "grid")[0].iter("label") if e.get("for")]
    asked = [buttons[e.get("for")].get("value") for e in labels]
    assert asked == sorted(
        (one.value for one in shown.open_heads), key=lambda value: [int(x) for x in value.split(".")]
    )
    assert [e.get("title") for e in labels] == [f"layer {x.replace('.', ', head ')}: open" for x in asked if x]
    assert len(buttons) == len(shown.open_heads) and sum("checked" in e.attrib for e in buttons.values()) == 1
    css = own_style(lesson_named("stepper"), big=True)
    for index in range(MOST):
        assert f".choosers:has(.o-{index}:checked)~:is(.stage,.legend,#ledgers) .O:not(.O{index})" in css


def test_a_head_that_is_not_open_says_what_it_shows_most() -> None:
    shown = view()
    weights, opened = attention(shown.trace, shown.config, shown.n), {(one.layer, one.head) for one in shown.heads}
    told = {}
    for label in find(tree(), "peek"):
        layer, head = map(int, label[0].get("value", "").split("."))
        told[layer, head] = max(weights[layer, head, i, j] for i in range(2, shown.n) for j in range(1, i))
        most, first = number(told[layer, head]), number(weights[layer, head, 1:, 0].mean())
        said = (
            rf"Layer {layer}, head {head}: at “.+” it gives {most} to “.+”, .* The first row has {first} on average\."
        )
        assert re.fullmatch(said, text(label[1]))
    assert told.keys() | opened == {*np.ndindex(weights.shape[:2])} and not told.keys() & opened
    (checked,) = (e for e in tree().iter("input") if e.get("name") == "peek" and e.get("checked") is not None)
    layer, head = map(int, checked.get("value", "").split("."))
    assert told[layer, head] == max(told.values())


def test_the_rule_takes_the_nearest_the_middle_and_the_furthest_of_three_layers() -> None:
    shown = view()
    config, n = shown.config, shown.n
    far = np.zeros((config.n_layer, config.n_head))
    for layer in range(config.n_layer):
        for i in range(1, n):
            weights = shown.trace["attn_weights", i, layer][:, 0].astype(float)
            far[layer] += sum(weights[:, j] * (i - j) / i for j in range(i + 1)) / (n - 1)
    expected = []
    for layer in (0, (config.n_layer - 1) // 2, config.n_layer - 1):
        order = sorted(range(config.n_head), key=lambda head: far[layer, head])
        expected += [(layer, order[0]), (layer, order[(config.n_head - 1) // 2]), (layer, order[-1])]
    assert [(one.layer, one.head) for one in shown.open_heads] == expected
    said = text(find(tree(), "all-heads")[0])
    assert "look back least, furthest, and between" in said and "first, the middle and the last" in said


def test_the_author_chooses() -> None:
    def chosen(layers: list[int], heads: list[int]) -> list[tuple[int, int]]:
        return [(one.layer, one.head) for one in choose_heads(np.zeros((4, 4, 3, 3)), 8, layers, heads)]

    assert chosen([2], [1, 0]) == [(2, 0), (2, 1)] and chosen([1, 1], [3]) == [(1, 3)]
    assert chosen([], [2]) == [(0, 2), (1, 2), (3, 2)]


def test_a_page_opens_only_what_it_can_carry() -> None:
    weights = np.random.default_rng(0).dirichlet(np.ones(32), (32, 32, 32))
    assert len(choose_heads(weights, 128)) == 9
    assert len(choose_heads(weights, 256)) == 6  # the nearest and the furthest of each layer
    assert len(choose_heads(weights, 64, layers=range(12))) == 12
    with pytest.raises(UserError, match="15 heads would be open; a page with this text opens at most 12"):
        choose_heads(weights, 64, layers=range(5), heads=range(3))
    for flag, asked in (("layer", {"layers": [32]}), ("head", {"heads": [-1]})):
        with pytest.raises(UserError, match=rf"There is no {flag} (32|-1); this model has 0 to 31\."):
            choose_heads(weights, 64, asked.get("layers", ()), asked.get("heads", ()))


def test_what_the_sentences_of_the_overview_count() -> None:
    shown = view()
    weights = attention(shown.trace, shown.config, shown.n)[:, :, 2:]
    first = weights[..., 0].mean(-1)
    assert shown.map.first and shown.map.before
    assert shown.map.first.heads == (first > 0.5).sum()
    assert (shown.map.first.layer, shown.map.first.head) == np.unravel_index(first.argmax(), first.shape)
    before = np.stack([weights[:, :, i, i + 1] for i in range(shown.n - 2)]).mean(0)
    assert shown.map.before.heads == (before > 0.5).sum()
    assert shown.map.before.share == pytest.approx(before.max())
    own = np.stack([weights[:, :, i, i + 2] for i in range(shown.n - 2)]).mean(0)
    assert shown.map.own and shown.map.own.share == pytest.approx(own.max())


@given(st.data())
def test_heads_that_look_at_a_token_that_came_before_are_told(data: st.DataObject) -> None:
    n = data.draw(st.integers(2, 8))
    ids = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    weights = np.random.default_rng(data.draw(st.integers(0, 99))).dirichlet(np.ones(n), size=(2, 3, n))
    steps = [i for i in range(n) if ids[i] in ids[1 : max(1, i - 1)]]  # not the first token, and not the one before
    found = again(weights, ids)
    assert (found is None) == (not steps)
    if found:
        at = {"same": found.same, "after": found.after}
        total = {name: np.zeros((2, 3)) for name in at}
        for i in steps:
            for j in range(1, i):
                if ids[j] == ids[i]:
                    total["same"] += weights[:, :, i, j]
                    if j + 1 != i:
                        total["after"] += weights[:, :, i, j + 1]
        for name, kind in at.items():
            mean = total[name] / len(steps)
            assert found.steps == len(steps) and kind.heads == (mean > 0.5).sum()
            assert kind.share == pytest.approx(mean.max()) == mean[kind.layer, kind.head]


def test_the_first_row_is_called_short_where_it_is() -> None:
    shares = np.array([[[0.9], [0.6], [0.8], [0.1]]])  # three of four heads rest on the first token
    lengths = np.full((1, 5, 2), 3.0)  # of the rows of two heads of values
    assert short(shares, lengths) is None
    lengths[0, 0, 0] = 0.3
    assert short(shares, lengths) == pytest.approx(0.1)  # of 0.1, 0.1 and 1, the heads of the first value head are two
    assert short(shares / 2, lengths) is None, "no head rests on it"
    assert short(shares, np.zeros_like(lengths)) is None


def test_each_layer_has_a_scale_of_its_own() -> None:
    """Rows of one layer a thousand times as large as those of another are drawn as fully."""
    shown = view("gpt2")
    first, *_, last = shown.layers
    small = Trace(shown.trace.about)
    for event in shown.trace:
        small((event._replace(value=np.multiply(event.value, 1e-3)) if event.layer == first else event).report)
    scaled = replace(shown, trace=small)
    for kind in ("q", "v", "attn_norm"):
        strips = [[one for one in picture.strips(kind, 1) if isinstance(one, Thin)] for picture in (shown, scaled)]
        paths = [[strip.paths for strip in every] for every in strips]
        assert any(paths[0][0])
        drawn = [sum(len(runs) for _, runs in strip) for strip in paths[1]]
        assert min(drawn) > max(drawn) / 3
    ends = {layer: [(kind, scale.limit) for kind, scale in scales] for _, layer, scales in scaled.legend()}
    assert list(ends) == shown.layers and ends[first] != ends[last]
    for (kind, layer), scale in shown.scales.items():
        names = {"q, k": ("q", "k"), "v": ("v", "o"), "x": ("x",)}[kind]
        heads = [one.head for one in shown.open_heads if one.layer == layer]
        config, trace = shown.config, shown.trace
        at = [(name, pos, layer, head) for name in names for pos in range(shown.n) for head in heads]
        rows = [row(trace, config, *one) for one in at]
        assert (np.abs(np.concatenate(rows)) <= scale.limit).mean() >= 0.93  # heads that share keys count twice here


def test_counts_come_from_the_whole_model_and_bytes_from_its_type() -> None:
    shown = view()
    for pos in (0, shown.n - 1):
        ledger = find(tree(), "ledger", f"S{pos}")[0]
        total = [numbers(cell)[0] for cell in find(ledger, "costs")[0].iter("td") if text(cell)][-2:]
        assert total == [step_macs(shown.config, pos + 1).sum(), naive(shown.config, pos + 1).sum()]
        c = shown.config
        held = 2 * c.n_layer * c.n_kv_head * c.head_dim * (pos + 1)
        assert numbers(find(ledger, "held")[0])[:5] == [held, 2 * held, 16, 32, 4 * held]


def test_outliers_do_not_make_the_rest_pale() -> None:
    values = np.concatenate([np.linspace(-1, 1, 990), np.full(10, 500.0)])
    scale = thin_scale([values])
    assert scale.limit == 1.0 and scale.beyond == 10 and scale.largest == 500
    assert scale.strip(values[-12:]).beyond == [(2, 5, 10)]


@pytest.mark.parametrize("power", [-8, -4, -1, 0, 1, 6, 30])
def test_a_scale_fits_numbers_of_any_size(power: int) -> None:
    """The printed numbers tell two cells apart wherever their colours do."""
    values = np.linspace(-1, 1, 41) * 10.0**power
    scale = thin_scale([values])
    assert 10.0**power <= scale.limit * 1.05 <= 1.6 * 10.0**power
    assert float(number(scale.limit, scale.end_digits).replace(",", "")) == pytest.approx(scale.limit, rel=0.05)
    written = [(cell.level, number(cell.value, scale.digits)) for cell in map(scale.cell, values.tolist())]
    for (one, printed), (other, following) in pairwise(written):
        assert one == other or printed != following
    assert scale.cell(0).level == 0
    assert thin_scale([np.zeros(3)]).limit == 1 and thin_scale([np.array([*[0.0] * 99, 5.0])]).limit == 5


@pytest.mark.thorough("draws two large models; by day one of few layers is drawn")
@pytest.mark.parametrize("name", ["smollm", "llama"])
def test_a_page_weighs_less_than_a_megabyte_and_the_trace_beside_it_less_than_3_mb(name: str) -> None:
    """The most tokens, and as many heads as can be open, of random numbers, which pack worse than real ones.

    Where there are a thousand heads, each is drawn, can be pressed and says what it shows: that may weigh more. Such a
    model is wide, and its numbers are of 16 bits, as Llama-3-8B is published.
    """
    shown = picture_of_model(small(name, SHAPES[name].n_layer), " ".join(WORDS[:24]), MOST_TOKENS - 24)
    c, trace = shown.config, shown.trace
    full = picture_of_run(trace, [0, c.n_layer // 3, c.n_layer // 2, c.n_layer - 1], [0, 3, 8])
    assert shown.n == MOST_TOKENS and len(full.open_heads) == MOST
    packed = len(gzip.compress((page_of(full) + style()).encode()))
    wide = c.n_layer * c.n_head > 1000
    assert 100_000 < packed < (1_350_000 if wide else 1_000_000)
    if wide:
        assert (c.n_layer, c.n_head, c.head_dim) == (32, 32, 128)
        sizes = [len(gzip.compress(to_json(part).encode(), 6)) for part in in_16_bits(shown)]
        assert sizes[0] < 3_000_000 < sizes[1], sizes


def in_16_bits(shown: BigPicture) -> tuple[Trace, Trace]:
    """The trace of its open heads, and of all heads of their layers, of a model that is 4,096 wide in bfloat16."""
    part, rng = shown.excerpt(), np.random.default_rng(3)
    every = Trace(part.about)
    for name, value, pos, layer in (event.report for event in part):
        told = rng.normal(size=(1, 4096)) if name == "attn_norm" else value
        if isinstance(told, np.ndarray) and name not in ("logits", "recompute_logits"):
            bits = told.astype(np.float32).view(np.uint32) & np.uint32(0xFFFF0000)
            told = shortest(bits.view(np.float32))
        every((name, told, pos, layer))
    return of_heads(every, opened_of(shown)), every


def test_nothing_on_the_page_is_inline_or_asks_for_python() -> None:
    assert '<form class="live"' not in page() and 'data-hook="run"' not in page()
    assert not [e for e in tree().iter() if "style" in e.attrib] and len([*tree().iter("style")]) == 1
    assert len([e for e in tree().iter()]) < 100_000


@pytest.mark.parametrize(
    ("prompt", "new", "says"),
    [
        (" ".join(["the"] * 33), None, "The prompt has 33 tokens; a page shows at most 32. Shorten it."),
        (PROMPT, 21, "12 tokens and 21 new ones are more than the 32 that a page shows; there is room for 20."),
        (PROMPT, -1, "The model cannot add -1 tokens; give 0 or more."),
        ("the", 0, "A text of one token has nothing to look back at; give a longer prompt, or more new tokens."),
        ("", None, "The prompt is empty; give at least one token."),
    ],
)
def test_a_text_that_does_not_fit_gets_a_sentence(prompt: str, new: int | None, says: str) -> None:
    with pytest.raises(UserError) as error:
        picture_of_model(large("smollm", **SMALL, n_layer=1), prompt, new)
    assert str(error.value) == says


def test_a_short_text_has_a_page_too() -> None:
    model = large("gpt2", **SMALL, n_layer=1, n_head=2, n_kv_head=2)
    for new, n in ((1, 2), (2, 3), (None, 9)):
        shown = picture_of_model(model, "the", new)
        assert shown.n == n and len(shown.open_heads) == 2
        assert page_of(shown)
        assert (shown.map.first is None) == (n < 3)


def test_only_what_is_shown_travels_and_the_trace_says_so() -> None:
    shown = view()
    part = told_again(shown.excerpt())
    ids = part.about["vocabulary_ids"]
    assert part.about["vocabulary"] == [shown.about["vocabulary"][i] for i in ids]
    assert {*shown.about["ids"]} <= {*ids}
    assert part.about["cut"]["in_layers"]["layers"] == shown.layers and part.about["cut"]["size"] == 320
    names = {event.name for event in part}
    assert names == {*EVERYWHERE, *OPENED, "logits", "recompute_logits"}
    for event in part:
        if isinstance(event.value, int):
            assert event.value == shown.trace.number(event.name, event.pos, event.layer)
            continue
        whole = shown.trace[event.name, event.pos, event.layer]
        kept = whole[..., ids] if "logits" in event.name else whole
        assert (event.value.astype(np.float32) == kept).all()  # to the last bit
    assert {event.layer for event in part if event.name == "q"} == set(shown.layers)
    assert {event.layer for event in part if event.name == "attn_weights"} == set(range(shown.config.n_layer))


@pytest.mark.parametrize(("name", "layers"), [("smollm", [6])])
def test_a_page_out_of_its_excerpt_is_the_page_that_the_model_gave(name: str, layers: list[int]) -> None:
    """To the last byte: counts, shares of the whole vocabulary, the picture of all heads, every number.

    What a page says of reads is counted in a layer that its excerpt holds, which need not be the first.
    """
    model = small(name)
    shown = picture_of_model(model, PROMPT, 3, layers)
    again = picture_of_excerpt(told_again(shown.excerpt()), layers)
    assert shown.k_reads == again.k_reads == shown.n * (shown.n + 1) // 2
    assert page_of(again) == page_of(shown)
    other = again.layers[-1]
    one, two = picture_of_model(model, PROMPT, 3, [other], [0, 1]), picture_of_excerpt(again.trace, [other], [0, 1])
    assert [one.step(4).meetings[0][0], len(one.heads)] == [two.step(4).meetings[0][0], len(two.heads)]


def test_what_an_excerpt_says_of_the_whole_is_what_the_whole_says() -> None:
    shown = view()
    about = shown.excerpt().about["whole"]
    c = shown.config
    for i in range(shown.n):
        assert about["macs"][i] == step_macs(c, i + 1).tolist()
        logits = shown.trace["logits", i][0].astype(np.float64)
        chances = np.exp(logits - logits.max()) / np.exp(logits - logits.max()).sum()
        assert about["chances"][i] == pytest.approx(chances[shown.token_ids()])
        assert about["apart"][i] == shown.difference(i)
        for layer in range(c.n_layer):
            v, x = shown.trace["v", i, layer][0].astype(np.float64), shown.trace["resid_pre", i, layer][0]
            assert about["v_lengths"][layer][i] == pytest.approx(np.sqrt((v * v).sum(-1)))
            assert about["resid_lengths"][layer][i] == pytest.approx(float(np.sqrt((x.astype(np.float64) ** 2).sum())))
    for layer, heads in enumerate(about["k_peaks"]):
        keys = np.array([shown.trace["k", i, layer][0] for i in range(shown.n)])
        for head, (channel, times) in enumerate(heads):
            means = [float(np.mean([abs(row[head, j]) for row in keys])) for j in range(c.head_dim)]
            assert means[channel] == max(means)
            assert times == pytest.approx(max(means) / sorted(means)[c.head_dim // 2], rel=1e-5)


def test_an_excerpt_keeps_the_shares_that_the_run_saw() -> None:
    """At another temperature, among few tokens: those of the choice, not of greedy decoding."""
    model = small()
    trace = Recording(model, PROMPT, temperature=0.5, top_k=3, max_new=3).run()
    trace.about |= {"dtype": "float32", "stops": [], "started": False, "ids": []}
    shown = picture_of_run(trace)
    again = picture_of_excerpt(from_json(to_json(shown.excerpt())))
    for i in range(shown.n):
        for one, other in zip(shown.step(i).guesses, again.step(i).guesses, strict=True):
            assert (one.token, one.chosen) == (other.token, other.chosen)
            assert one.probability == pytest.approx(other.probability)
    assert sum(guess.probability == 0 for guess in again.step(1).guesses) >= 1, "top-k leaves three"


def opened_of(shown: BigPicture) -> list[tuple[int, int, int]]:
    return [(one.layer, one.head, one.rank) for one in shown.heads]


def test_the_trace_beside_a_page_has_the_rows_of_its_open_heads() -> None:
    """To the last digit; of the others nothing but their weights, in three digits. The same page comes out of it."""
    shown = view()
    alone = shown.of_open_heads()
    part, c = told_again(alone), shown.config
    group, at = c.n_head // c.n_kv_head, {(one.layer, one.head) for one in shown.heads}
    for layer in range(c.n_layer):
        for i in range(shown.n):
            ours, theirs = part["attn_weights", i, layer], shown.trace["attn_weights", i, layer]
            for head in range(c.n_head):
                near = 1e-7 if (layer, head) in at else np.maximum(1e-3, theirs[head] * 0.00501)
                assert (np.abs(ours[head] - theirs[head]) <= near).all()
            if layer not in shown.layers:
                assert ("q", i, layer) not in part
                continue
            assert np.array_equal(part["attn_norm", i, layer].astype(np.float32), shown.trace["attn_norm", i, layer])
            for kind, rows in (("q", c.n_head), ("k", c.n_kv_head), ("v", c.n_kv_head), ("head_out", c.n_head)):
                kept, whole = (
                    trace[kind, i, layer].reshape(rows, c.head_dim).astype(np.float32) for trace in (part, shown.trace)
                )
                held = {head if rows == c.n_head else head // group for one, head in at if one == layer}
                for row in range(rows):
                    same = np.array_equal(kept[row], whole[row]) if row in held else np.isnan(kept[row]).all()
                    assert same, (kind, row)
    again = picture_of_excerpt(part)
    assert again.heads == picture_of_excerpt(alone).heads and opened_of(again) == opened_of(shown)
    assert (again.by_rule, again.layers_by_rule) == (True, True)
    assert page_of(again) == page_of(picture_of_excerpt(alone))


def test_of_the_trace_beside_a_page_only_open_heads_can_be_opened() -> None:
    shown = view()
    alone = shown.of_open_heads()
    (layer, head, _), *_ = opened_of(shown)
    chosen = picture_of_excerpt(alone, [layer], [head])
    assert [(one.layer, one.head) for one in chosen.heads] == [(layer, head)] and not chosen.by_rule
    closed = next(one for one in range(shown.config.n_head) if (layer, one) not in {at[:2] for at in opened_of(shown)})
    with pytest.raises(UserError, match=rf"does not hold head {closed} of layer {layer}; it has 0\.\d"):
        picture_of_excerpt(alone, [layer], [closed])
    missing = next(layer for layer in range(shown.config.n_layer) if layer not in shown.layers)
    with pytest.raises(UserError, match=f"does not hold layer {missing}; it has"):
        picture_of_excerpt(shown.excerpt(), [missing])


def test_a_rounded_excerpt_says_so_and_is_near() -> None:
    shown = view()
    part = shown.excerpt(3)
    assert part.about["cut"]["digits"] == 3
    for event in part:
        if isinstance(event.value, int) or "logits" in event.name:
            continue
        exact = shown.trace[event.name, event.pos, event.layer]
        assert (np.abs(event.value - exact) <= np.maximum(1e-3, 5.1e-3 * np.abs(exact))).all()
        if event.name != "recompute_macs":
            assert all(float(f"{x:.3g}") == x for x in event.value.ravel().tolist())


def test_a_model_in_32_bits_is_run_in_32_bits_with_room_for_the_text_alone() -> None:
    recording = Recording(large("llama", **SMALL, n_layer=2), "the next day", max_new=2)
    trace = recording.run()
    assert recording.cache.nbytes_reserved == recording.cache.nbytes == 2 * 2 * 8 * 128 * 5 * 4
    assert {np.asarray(event.value).dtype for event in trace if event.name in ("k", "v", "logits")} == {np.dtype("f4")}
    assert trace.about["config"]["n_ctx"] == SHAPES["llama"].n_ctx


def test_small_models_are_drawn_as_ever() -> None:
    trace = Recording(shipped("names"), "emm").run()
    shown = Picture(trace)
    assert shown.open_heads == () and hasattr(shown.per_head("q", 0)[0], "cells")
    large = (Path(__file__).parents[3] / "templates" / "large" / "style.css").read_text("utf-8")
    rules = [line for line in minify(large).splitlines() if line]
    page = lesson_named("stepper")
    assert len(rules) > 20 and all(line in own_style(page, big=True) for line in rules)
    assert rules[0] not in own_style(page) and ".o-0" not in own_style(page)
