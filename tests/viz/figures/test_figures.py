"""Figures: SVG that is whole, says what the views say, and keeps its text within its frame."""

import re
from dataclasses import replace
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microgpt.course import LESSONS, page
from microgpt.errors import UserError
from microgpt.viz import figures, views
from microgpt.viz.drawing.heat import LEVELS, HeatCell, Strip
from microgpt.viz.drawing.kit.paint import HEAT, INK
from microgpt.viz.drawing.kit.places import cells
from microgpt.viz.drawing.picture import Picture
from microgpt.viz.figures import figure, figure_file, of_run, panel_times
from microgpt.viz.large.picture import BigPicture, picture_of_model
from microgpt.viz.page import Page
from microgpt.viz.settings import Settings
from microgpt.viz.text.formats import heat, number, percent, shape_text, share_text, size_text, whole
from microgpt.viz.text.language import LANGUAGES, language
from microgpt.weights import shipped
from tests.support.examples import examples
from tests.support.figures import EDGE, SVG, check_apart, check_whole, choices, drawn, moving, placed, printed, texts
from tests.support.large import PROMPT, small
from tests.support.pages import view_of
from tests.support.sampled import sampled

ROOT = Path(__file__).resolve().parents[3]
STEPPERS = [one for one in LESSONS if one.widget == "kv_cache"]
EACH = [(one, lang) for lang in LANGUAGES for one in LESSONS]
ids = [one.name for one in LESSONS]


@pytest.mark.slow("draws all cases of all pages")
@pytest.mark.parametrize(("one", "lang"), sampled(EACH, EACH[::6], "of other pages"))
def test_every_case_of_every_page_is_a_whole_figure(one: Page, lang: str) -> None:
    with language(lang):
        for choice in choices(one):
            tree = drawn(one, choice)
            check_whole(tree)
            check_apart(tree)
            assert tree.get("lang") == lang
            assert max(right for _, _, right, _ in placed(tree)) <= EDGE


@pytest.mark.parametrize("one", LESSONS, ids=ids)
def test_it_carries_title_caption_and_source(one: Page) -> None:
    tree = drawn(one, choices(one)[0])
    said = texts(tree)
    assert said[0] in one.title and tree.findtext(f"{SVG}title") == one.title
    assert any(f"{one.name}.html" in text for text in said)
    caption = tree.findtext(f"{SVG}desc") or ""
    assert caption.endswith(".") and caption.split()[0] in " ".join(said)


def test_the_source_line_leads_to_what_is_shown() -> None:
    one = page("kv-cache")
    svg = figure(one, Settings("names", "anna", 0.5), {"step": 2, "head": 1}, "https://example.org/course/")
    (link,) = ElementTree.fromstring(svg).iter(f"{SVG}a")
    there = "https://example.org/course/kv-cache.html?prompt=anna&temperature=0.5&step=2&head=1"
    assert link.get("href") == there and there in "".join(link.itertext())


# ---- the numbers ----------------------------------------------------------------------------------


def own(strips: list[Strip], layer: int, head: int) -> Strip:
    """Of these, that of a head in a layer."""
    (found,) = (
        s for s in strips if f"L{layer}" in s.where.split() and (f"H{head}" in s.where.split() or "H" not in s.where)
    )
    return found


def expected(picture: Picture, i: int, layer: int, head: int) -> list[str]:
    """All that step i has to say in numbers, in any order."""
    step = picture.step(i)
    found = [text for name in ("x", "q", "k", "v", "mixed") for text in printed(own(getattr(step, name), layer, head))]
    for j in range(i + 1):
        row = picture.row(j)
        found += [*printed(own(row.k, layer, head)), *printed(own(row.v, layer, head)), str(j)]
    (meets,) = [m for where, m in step.meetings if where == f"L L{layer} H H{head}"]
    found += [text for meet in meets for text in (number(meet.score), number(meet.weight), f"{meet.reads}×")]
    return found + [number(guess.probability) for guess in step.guesses]


@pytest.mark.parametrize("one", STEPPERS, ids=lambda p: p.name)
def test_every_number_of_the_stepper_is_the_views(one: Page) -> None:
    picture = view_of(one)
    c, limit = picture.config, picture.x_scale.limit
    for i in range(picture.n):
        for layer, head in ((0, 0), (c.n_layer - 1, c.n_head - 1)):
            tree = drawn(one, {"step": i, "layer": layer, "head": head})
            said = [t for t in texts(tree) if re.fullmatch(r"−?\d+(\.\d+)?×?", t)]
            ends = [f"−{limit:.1f}", f"{limit:.1f}"]
            assert sorted(said) == sorted(expected(picture, i, layer, head) + ends)
            assert f"x; cells of q, k and v are full at {picture.scale.limit:.1f}" in texts(tree)
            step = picture.step(i)
            caption = re.findall(r"\d+", (tree.findtext(f"{SVG}desc") or "").replace(step.token, ""))
            assert [int(x) for x in caption] == [i + 1, step.rows, i, step.added, step.rows]


def full(cell: str, part: str = "") -> int:
    """How full a cell of a strip is, in levels; `cell` and its `part` are a y and a height."""
    if not part:
        return 0
    (y, height), (top, high) = (map(int, text.split()) for text in (cell, part))
    level = round(LEVELS * high / height)
    assert (top == y) or (top + high == y + height)
    return -level if top == y and high < height else level


@pytest.mark.parametrize("one", STEPPERS, ids=lambda p: p.name)
def test_bars_and_heat_are_those_of_the_view(one: Page) -> None:
    picture = view_of(one)
    step, tree = picture.step(picture.at), drawn(one, {"layer": 0, "head": 0})
    drawn_as = [(e.get("fill"), e.get("y"), e.get("height")) for e in tree.iter(f"{SVG}rect")]
    fills = [fill for fill, *_ in drawn_as]
    for name in ("x", "q", "k", "v", "mixed"):
        strip = own(getattr(step, name), 0, 0)
        owner = {"x": "", "mixed": "v"}.get(name, name)
        if not owner:
            wanted = [HEAT[heat(cell.level)][0] for cell in strip.cells]
            assert any(fills[k : k + len(wanted)] == wanted for k in range(len(fills)))
            continue
        parts: list[list[str]] = [[]]  # of each cell, what is drawn: all of it, then how far it is full, and from where
        for fill, y, height in drawn_as:
            if fill == INK[f"{owner}-wash"]:
                parts.append([f"{y} {height}"])
            elif fill == INK[f"{owner}-fill"]:
                parts[-1].append(f"{y} {height}")
        found = [full(*cell) for cell in parts[1:]]
        levels = [LEVELS if abs(cell.level) == LEVELS else cell.level for cell in strip.cells]  # full is full
        assert any(found[k : k + len(levels)] == levels for k in range(len(found))), name
    bars = [int(e.get("width", 0)) for e in tree.iter(f"{SVG}rect") if e.get("fill") == INK["q"]]
    (meets,) = [m for where, m in step.meetings if where == "L L0 H H0"]
    assert bars == [max(1, round(percent(meet.weight) * 40 / 100)) for meet in meets if meet.weight]


def test_bars_of_the_way_are_those_of_the_trace() -> None:
    """Each number of q, k and v is a cell, as full as it is large; what has no owner stands or hangs."""
    one = page("inside")
    places = view_of(one).places
    for i in range(len(view_of(one).journeys)):
        drawn_as = [(e.get("fill"), e.get("y"), e.get("height")) for e in drawn(one, {"token": i}).iter(f"{SVG}rect")]
        for place in (place for place in places if place.kind in "qkv"):
            found = [
                full(f"{y} {height}", f"{top} {high}" if after == INK[f"{place.kind}-fill"] else "")
                for (fill, y, height), (after, top, high) in zip(drawn_as, drawn_as[1:], strict=False)
                if fill == INK[f"{place.kind}-wash"] and height == "24"
            ]
            wanted = place.values[f"t{i}"].ravel().tolist()
            assert len(found) == len(wanted) and any(found)
            assert all(level == 0 or (level > 0) == (x > 0) for level, x in zip(found, wanted, strict=True))
            order = sorted(range(len(wanted)), key=lambda at: wanted[at])
            assert [found[at] for at in order] == sorted(found)
        stands = sum(fill == INK["soft"] for fill, *_ in drawn_as)
        assert stands >= sum(sum(map(len, place.bars)) for place in places if place.kind == "x") / 4


def test_stages_show_what_has_happened_and_no_more() -> None:
    one, said = page("kv-cache"), {}
    for phase in range(1, 8):
        said[phase] = texts(drawn(one, {"step": 4, "phase": phase, "head": 0}))
    assert said[1].count("new") == 1  # in the key alone
    assert said[2].count("new") == 2
    assert [phase for phase in said if "0.43" in said[phase]] == [3, 4, 5, 6, 7]  # a score
    assert [phase for phase in said if "0.22" in said[phase]] == [4, 5, 6, 7]  # a weight
    assert [phase for phase in said if "−0.18" in said[phase]] == [5, 6, 7]  # of the mixed row
    assert [phase for phase in said if "thrown away: never read again" in said[phase]] == [6, 7]
    assert [phase for phase in said if "What comes next" in said[phase]] == [7]


ELSEWHERE = ("kv_cache", "why_q", "old_rows", "training")  # above, and number by number in test_figures_by_lesson.py


def in_order(widget: str, view: Any, i: int) -> list[str]:
    """What the figure of case i must say, from its top to its bottom."""
    found: list[str]
    if widget == "next_token":
        one = view.passes[i]
        found = [whole(chip.token_id) for chip in one.chips] + [shape_text(stop.shape) for stop in one.stops]
        found += [x for guess in one.guesses for x in (guess.token, number(guess.probability), number(guess.logit))]
        return found + list(one.text)
    if widget == "inside":
        found = [view.journeys[i].token]
        for stop in view.journeys[i].stops:
            found += [shape_text(stop.shape), *([f"stays, as a row of {stop.event.upper()}"] if stop.kept else [])]
        (guesses,) = [found for state, found in view.guesses if state == f"t{i}"]
        return found + [x for guess in guesses for x in (guess.token, number(guess.probability))]
    if widget == "attention":
        made = [(*printed(key.k), *printed(key.products)) for key in view.keys]
        given = [(*printed(key.v), f"× {number(key.weight)}", *printed(key.slices)) for key in view.keys]
        sums = [[number(x) for x in (key.total, key.score, key.raised, key.weight)] for key in view.keys]
        return [*printed(view.q), *chain(*made), *chain(*sums), *chain(*given), *printed(view.answer)]
    if widget == "with_and_without":
        step = view.steps[i]
        kept, again = [["kept", "kept"]] * i, [["again"] * 4] * i
        found = [x for row in (*kept, ["new"] * 4, *again, ["new"] * 4) for x in row]
        for token, with_cache, without in step.guesses:
            found += [token, number(with_cache, 4), number(without, 4)]
        return found + [x for name, _, macs, _ in step.totals for x in (name, whole(macs))]
    if widget == "prefill_and_decode":
        way = view.ways[i]
        found = []
        for block in way.blocks:
            work, read = block.work, f"{whole(block.work.weight_bytes)} + {whole(block.work.cache_bytes)}"
            found += [block.phase, whole(work.macs), read, number(work.intensity)]
        for p in way.phases:
            found += [p.name, *(whole(x) for x in (p.passes, p.tokens, p.macs, p.bytes)), number(p.intensity)]
        return found
    if widget == "on_your_server":
        told = [f"{share_text(stop.line.usage)} %" for stop in view.stops if stop.at <= i]
        return [f"weights, {size_text(view.start.weights)}", *told]
    if widget == "memory":
        one = view.known[i]
        found = [whole(x) for x in (*(factor.n for factor in one.factors), one.per_token, one.model.n_params)]
        found += [size_text(one.weights), size_text(one.full), whole(one.sequences)]
        reads = [(tokens, size_text(weights), size_text(cache)) for tokens, weights, cache, _, _ in one.reads]
        return found + [x for tokens, weights, cache in reads for x in (whole(tokens), weights, cache)]
    if widget == "many_at_once":
        lanes = zip(*(column.boxes for column in view.ways[i].columns), strict=True)
        return [str(n) for lane in lanes for _, n in lane if n]
    if widget == "guess_and_check":
        return [token for column in view.columns for (token, _), cases in column.boxes.items() if i in cases]
    if widget == "full_cache":
        return list(view.words)
    if widget == "latent_row":
        return list(view.tokens)
    if widget == "long_texts":
        return [size_text(view.base.costs[i].cache), size_text(view.base.shape.weights)]
    if widget == "reading_limit":
        return [whole(step.batch) for step in view.cases[i].steps]
    if widget == "fewer_bits":
        return [str(code) for code in view.cases[i].codes]
    if widget == "in_pieces":
        return [number(view.tiles[i].state.l)]
    if widget == "no_cache":
        return [f"layer {layer}" for layer in range(view.n_layer)]
    if widget == "pages":
        tables = zip("AB", view.moments[i].step.tables, strict=True)
        return [x for letter, table in tables for x in (f"text {letter}", *map(str, table))]
    if widget == "shared_prefixes":
        blocks = view.moments[i].event.tables[view.moments[i].event.text]
        cells = (cell.token for block in view.drawing.strips[i].blocks for cell in block)
        return [*cells, *map(str, sorted(blocks)[:1])]
    if widget != "fewer_heads":  # a lesson that draws no figure of its own: its table
        table = view.tables[i]
        return [f"{x:.2f}" if isinstance(x, float) else str(x) for row in table.rows for x in row]
    way = view.ways[i]
    heads = [f"q, head {head}" for group in way.groups for head, _, _ in group.queries]
    return [*(heads[:1] if len(way.groups) > 1 else heads), whole(way.row), *way.text]


@pytest.mark.slow("draws every figure")
@pytest.mark.parametrize("one", [p for p in LESSONS if p.widget not in ELSEWHERE], ids=lambda p: p.name)
def test_other_figures_say_what_their_views_say(one: Page) -> None:
    name, values, *_ = view_of(one).choices[0]
    for i in values:
        said = iter(texts(drawn(one, {name: i})))
        for wanted in in_order(one.widget, view_of(one), i):
            assert wanted in said, (i, wanted)  # and go on behind it


# ---- moving ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("one", sampled(LESSONS, LESSONS[::4], "films of other pictures"), ids=ids)
def test_a_moving_figure_has_every_case_and_rests_on_the_last(one: Page) -> None:
    tree = ElementTree.fromstring(moving(one))
    check_whole(tree)
    name, values, *_ = view_of(one).choices[0]
    groups = [g for g in tree.iterfind(f"{SVG}g") if g.get("class")]
    n = len(values)
    assert len(groups) == n
    assert [g.get("opacity") for g in groups] == ["0"] * (n - 1) + [None]  # what stands without the style sheet
    for i, group in enumerate(groups):
        still = drawn(one, {name: values[i]})
        assert set(texts(still)[1:-1]) - set(texts(group)) == set()
    (style,) = tree.iter(f"{SVG}style")
    outside, inside = (style.text or "").split("{", 1)
    assert outside.split() == ["@media", "screen", "and", "(prefers-reduced-motion:", "no-preference)"]
    assert inside.count("@keyframes") == n


@pytest.mark.parametrize("n", [2, 3, 12])
def test_at_every_moment_one_panel_covers_the_paper(n: int) -> None:
    for moment in range(0, 1001, 7):
        now, seen = moment / 10, []
        for marks in panel_times(n):
            points = [(float(at.rstrip("%")), opacity) for at, opacity in marks]
            assert points[0][0] == 0 and points[-1][0] == 100
            assert points == sorted(points, key=lambda p: p[0])
            (t1, o1), (t2, o2) = next((a, b) for a, b in zip(points, points[1:], strict=False) if a[0] <= now <= b[0])
            seen.append(o1 + (o2 - o1) * (now - t1) / (t2 - t1) if t2 > t1 else o2)
        assert max(seen) > 0.999


# ---- what is asked for ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "choice", "said"),
    [
        ("kv-cache", {"step": 99}, "step is 99; this page has 0 to 6."),
        ("kv-cache", {"step": -1}, "step is -1; this page has 0 to 6."),
        ("kv-cache", {"layer": 1}, "layer is 1; this page has 0 to 0."),
        ("kv-cache", {"head": "first"}, "head is first; this page has 0 to 3."),
        ("kv-cache", {"phase": 8}, "phase is 8; this page has 0 to 7."),
        ("kv-cache", {"step": "²"}, "step is ²; this page has 0 to 6."),
        ("memory", {"known": "9" * 99}, "this page has 0 to 7."),
        ("old-rows", {"experiment": 99}, "experiment is 99; this page has 0 to"),
        ("why-q", {"old": 99}, "old is 99; this page has 0 to"),
        ("training", {"pass-head": 4}, "pass-head is 4; this page has 0 to 3."),
        ("memory", {"step": 1}, "This page has no “step” to choose; leave it out."),
        ("index", {}, "The page “index” has no figure; take one of: next-token"),
        ("nowhere", {}, "There is no page “nowhere”."),
    ],
)
def test_what_is_not_there_gets_a_sentence(name: str, choice: dict[str, object], said: str) -> None:
    for moves in (False, True):
        with pytest.raises(UserError) as caught:
            figure(name, Settings("names", "emm"), choice, moves=moves)
        assert said in str(caught.value)


@pytest.mark.slow("draws every figure")
@pytest.mark.parametrize("one", sampled(LESSONS, LESSONS[::12], "fields of other lessons"), ids=ids)
def test_the_page_sends_its_fields_and_gets_a_file(one: Page) -> None:
    name, values, *_ = view_of(one).choices[0]
    asked = {name: str(values[-1]), "theme": "dark", "ask-kinds": "1", "size": "float8"}
    fields = {"page": one.name, "lang": "en", **asked}
    still, moves = figure_file(fields), figure_file(fields, "moving")
    assert still["type"] == moves["type"] == "image/svg+xml"
    assert still["file"] == f"{one.name}-{name}{values[-1]}.svg" and moves["file"] == f"{one.name}-moving.svg"
    assert still["text"] == figure(one, Settings(one.model, one.prompt), {name: values[-1]})
    assert moves["text"] == moving(one)
    assert figure_file({**fields, name: f" {values[-1]}\n"}) == still  # a name of a file has no spaces at its ends


@pytest.mark.parametrize("moves", [False, True])
def test_a_figure_runs_the_model_once(moves: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a lesson shows may be thousands of passes."""
    one, made, real = LESSONS[0], list[str](), views.view

    def counted(widget: str, settings: Settings) -> Any:
        made.append(widget)
        return real(widget, settings)

    monkeypatch.setattr(views, "view", counted)
    figure_file({"page": one.name}, "moving" if moves else "svg")
    assert made == [one.widget]


def prompts(model: str) -> st.SearchStrategy[str]:
    vocabulary = [t for t in shipped(model).tokenizer.vocabulary if t != "<s>"]
    joint = " " if any(len(t) > 1 for t in vocabulary) else ""
    return st.lists(st.sampled_from(vocabulary), min_size=1, max_size=shipped(model).config.n_ctx + 2).map(joint.join)


def test_tokens_at_the_head_of_many_narrow_columns_stay_apart() -> None:
    check_apart(drawn(page("no-cache"), None, Settings("stories", ", " * 18 + "ball ball")))


@pytest.mark.parametrize("one", [*LESSONS, *STEPPERS], ids=[*ids, "text", "words"])
@settings(max_examples=examples(6))
@given(data=st.data())
def test_any_prompt_is_a_whole_figure_or_a_sentence(one: Page, data: st.DataObject) -> None:
    model = data.draw(st.sampled_from(one.models))
    prompt = data.draw(st.one_of(prompts(model), st.text(max_size=12)))
    choice: dict[str, object] | None = {"step": data.draw(st.integers(-1, 26))} if one in STEPPERS else None
    try:
        tree = drawn(one, choice, Settings(model, prompt))
    except UserError as error:
        assert str(error).endswith(".")
    else:
        check_whole(tree)
        check_apart(tree)


def test_a_hostile_vocabulary_is_text() -> None:
    one = page("kv-cache")
    picture = Picture(Settings(one.model, one.prompt).trace())
    evil = ["<script>", "]]>&", "‮x", "\x00", "\uffff", "a\tb", "漢" * 30]
    for i, token in enumerate(evil):
        object.__setattr__(picture.trace, "about", {**picture.about, "tokens": evil})
        made = figures.panel(one, picture, {"step": i, "layer": 0, "head": 0, "phase": 7})
        svg = figures.frame(one, [made], *figures.source(one, Settings(one.model, "<&\x01" + token), picture, {}))
        tree = ElementTree.fromstring(svg)
        check_whole(tree)
        assert "<script" not in svg and "‮" not in svg


# ---- colours and pieces ---------------------------------------------------------------------------


def test_the_colours_are_the_sites_light_theme() -> None:
    tokens = (ROOT / "site" / "css" / "1-tokens.css").read_text("utf-8")
    heat = (ROOT / "site" / "css" / "5-heat.css").read_text("utf-8")
    named = dict(re.findall(r"--([\w-]+): light-dark\((#\w{6}),", tokens))
    assert {name: named[name] for name in INK} == INK
    rules = re.findall(r"^\.([znp]\d*) \{ background: light-dark\((#\w+), .*?; color: light-dark\((#\w+),", heat, re.M)
    assert {name: (back, ink) for name, back, ink in rules} == HEAT


def test_numbers_without_room_are_left_to_their_colour() -> None:
    strip = Strip("", [HeatCell(1, 0.12), HeatCell(-1, -10.12)], 2)
    assert [cell.text for cell in cells(strip, 0, 0, 100)] == ["0.12", "−10.12"]
    assert [cell.text for cell in cells(strip, 0, 0, 60)] == ["", ""]
    assert [cell.text for cell in cells(strip._replace(digits=None), 0, 0, 100)] == ["", ""]


# ---- large models ---------------------------------------------------------------------------------


@cache
def open_head() -> BigPicture:
    return picture_of_model(small(), PROMPT, 3, [5], [4])


@pytest.mark.parametrize("step", [0, 4])
def test_a_figure_of_a_large_model_has_the_weights_of_the_open_head(step: int) -> None:
    """And the largest of every few numbers of its rows, full at the end of their scale."""
    shown = open_head()
    tree = ElementTree.fromstring(of_run(shown, {"step": step, "layer": 5, "head": 4}))
    check_whole(tree)
    check_apart(tree)
    texts = [e.text for e in tree.iter(f"{SVG}text")]
    assert {f"{weight:.2f}" for weight in shown.trace["attn_weights", step, 5][4, 0]} <= {*texts}
    keys = shown.trace["k", step, 5][0]
    key = keys[4 * len(keys) // shown.config.n_head]
    runs = np.array_split(key, 16)
    few = replace(shown, few=True).step(step).k[0]
    assert [cell.value for cell in few.cells] == [float(run[np.abs(run).argmax()]) for run in runs]
    assert few.digits is None and {"L5", "H4"} <= set(few.where.split())


@pytest.mark.parametrize("name", ["<script>", "]]>&", "\u202ex", "\x00\x01", "\uffff", "漢" * 60])
def test_the_name_of_a_model_is_text(name: str) -> None:
    shown = open_head()
    trace = replace(shown.trace, about=shown.about | {"model": name})
    svg = of_run(replace(shown, trace=trace), {})
    check_whole(ElementTree.fromstring(svg))
    assert "<script" not in svg and "\u202e" not in svg


def test_a_figure_of_what_is_not_open_is_refused() -> None:
    shown = open_head()
    with pytest.raises(UserError, match="Layer 5, head 3 is not open"):
        of_run(shown, {"layer": 5, "head": 3})
