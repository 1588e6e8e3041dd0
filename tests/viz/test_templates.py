"""No template holds a figure: every number on a page or in a picture comes out of the trace or the closed forms."""

import re
from collections import Counter
from collections.abc import Iterator

import pytest
from jinja2 import nodes

from microgpt.course import LESSONS, PAGES
from microgpt.viz.page import Page
from microgpt.viz.rendering.render import where
from microgpt.viz.text.glossary import GLOSSARY
from microgpt.viz.text.place import ROOT
from tests.support.templates import parsed, templates

TEMPLATES = templates("html", "svg")
# names that hold a digit, and widths in pixels
NAMES = r"GPT-2( 124M)?|SmolLM2-135M|SmolLM2|Llama-\d(\.\d)?-\d+B|Llama-\d|Llama \d|Mistral-7B|DeepSeek-V\d|FP\d+|\d+px"
NAMES += r"|EAGLE-\d|T5-XXL|Qwen3-Next|H2O|\b(8|128)k\b|\b1M\b"

PLACE = "a place in a row of facts that has no name there"
# What templates type today: how often in all of them, and why. What is new fails, and so does a line for what is gone.
KNOWN: dict[str, tuple[int, str]] = {
    "16-bit": (26, "numbers of two bytes by their name; the views count two a number"),
    "map: 1": (3, "how many decimals"),
    "min(1": (1, "code that a question asks about: it is the bug"),
    **{f"lesson.POWERS[{i}]": (1, "a word for the power, by the power") for i in (1, 2, 3)},
    "x gteq 10": (1, "how many decimals"),
    "first = 0": (1, "the name of the first row or layer"),
    "m.bar: 20": (3, "a sample in a key, as long as looks well"),
    "m.to: 0": (5, "the first case of a choice"),
    "m.to: 1": (4, "the second case of a choice, as a part of the text has it"),
    "m.to: 2": (1, "the third, likewise"),
    "m.to: 3": (1, "the fourth, likewise"),
    "selectattr: 0": (1, "the first of a pair: its name"),
    "in_lines: 4": (1, "how many decimals"),
    "range: 3": (2, "every third colour of the heat scale"),
    "range: -3": (1, "every third colour of the heat scale"),
    "Add: 2": (1, "columns of a plain table beside its numbers"),
    "Add: 3": (1, "columns of a plain table beside its numbers"),
    "view.run[1]": (3, PLACE),
    "x.cells|length gt 16": (1, "as many cells as have room: a place"),
    "view.tokens|length lt 13": (1, "as many tokens as have room: a place"),
    **{f"phase gt {i}": (1, "what appears when: tests/viz/drawing/test_phases.py compares it") for i in range(2, 7)},
    "last.costs[1]": (1, PLACE),
    "last.costs[2]": (1, PLACE),
    "last.costs[-3]": (1, PLACE),
    "known.factors[loop.index0][1]": (1, PLACE),
    "life.tracks[1]": (1, PLACE),
    "most.found|first[2]": (1, PLACE),
    "view.choices[1]": (1, PLACE),
    "view.runs[1]": (1, PLACE),
    "percent: 1": (1, "all of it, beside a share"),
    "Slice: 2": (1, "the runs beside those with all rows and with a window"),
    "life.tracks[0][2]": (2, PLACE),
    "life.tracks[1][2]": (1, PLACE),
    "argmax(logits[0]": (1, "code that a question asks about: it is the bug"),
    "0": (6, "from which rows, slots and blocks are counted, and the corner of a drawing"),
    "bfloat16": (1, "a format by its name"),
    "1": (
        8,
        "of formulas: slots of a last block that are empty, guesses that fall, rows of a ring, all weights of a query",
    ),
    "2": (1, "of the same formula: its mean"),
    "h2o": (6, "a method by its name"),
    "position=0": (1, "code that a question asks about: it is the bug"),
}


def typed(source: str, figure: bool = False) -> list[str]:
    """What a template types: numbers in its words, and numbers that stand for a value in its expressions.

    Not meant are the first and the last of several, a comparison with none or one, a neighbour's number, how many
    decimals are shown, and what stands in code that tests run or in a formula of letters. The templates of figures are
    made of places, which may be numbers; their texts may not.
    """
    source = re.sub(r'<pre class="listing">.*?</pre>', "", source, flags=re.S)
    tree = parsed(source)
    said = [words(source), *re.findall(r"(?:aria-label|title|alt|placeholder)=\"([^\"{]*)\"", source)]
    found = []
    for node, above in walk(tree, []):
        if isinstance(node, nodes.Const) and isinstance(node.value, str):
            if is_message(node, above):
                said.append(words(re.sub(r"%\(\w+\)s", " ", node.value)))
            elif not (figure or (isinstance(above[-1], nodes.Call) and named(above[-1].node) == "formula")):
                said.append(node.value)
        elif isinstance(node, nodes.Const) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
            found += value(node, above, figure)
    return found + [word.strip("(),.:") for text in said for word in re.findall(r"\S*\d\S*", re.sub(NAMES, "", text))]


def words(source: str) -> str:
    """What of a template is text: no expressions, no tags, no messages."""
    bare = re.sub(r"\{% trans.*?endtrans %\}|\{#.*?#\}|\{\{.*?\}\}|\{%.*?%\}", " ", source, flags=re.S)
    return re.sub(r"<style>.*?</style>|<[^>]*>|&#?\w+;", " ", bare, flags=re.S)


def walk(node: nodes.Node, above: list[nodes.Node]) -> Iterator[tuple[nodes.Node, list[nodes.Node]]]:
    """Every node, with those that it lies in, the nearest last. A sign is part of its number."""
    if isinstance(node, nodes.Neg) and isinstance(node.node, nodes.Const):
        node = nodes.Const(-node.node.value)
    yield node, above
    for child in node.iter_child_nodes():
        yield from walk(child, [*above, node])


def is_message(node: nodes.Node, above: list[nodes.Node]) -> bool:
    """gettext and ngettext take one and two; {% trans %} becomes such a call."""
    call = above[-1]
    return isinstance(call, nodes.Call) and named(call.node) in ("gettext", "ngettext") and node in call.args[:2]


def value(node: nodes.Const, above: list[nodes.Node], figure: bool) -> list[str]:
    """How a number stands in the list above; nothing if it is none of those that are meant."""
    parent, said = above[-1], named(node)
    grown = above[-2] if len(above) > 1 else parent
    match parent:
        case nodes.Getitem():  # the first and the last
            return [] if node.value in (0, -1) else [f"{named(parent.node)}[{said}]"]
        case nodes.Filter():  # how many decimals
            return [] if parent.name in DECIMALS else [f"{parent.name}: {said}"]
        case nodes.CondExpr() if isinstance(grown, nodes.Filter) and grown.name in DECIMALS:
            return []
        case nodes.Slice() if node.value == 1:  # but the first
            return []
        case nodes.Operand():  # none, one, several
            asked = grown.expr if isinstance(grown, nodes.Compare) else parent
            return [] if node.value in (0, 1) else [f"{named(asked)} {parent.op} {said}"]
        case nodes.Keyword() if isinstance(grown, nodes.Filter) and grown.name in DECIMALS:
            return []
        case nodes.Keyword() if not figure or is_told(grown):
            return [f"{parent.key} = {said}"]
        case nodes.Call() if is_told(parent) or (figure and named(parent.node) in SAYS and node is parent.args[2]):
            return [f"{named(parent.node)}: {said}"]
        case _ if figure:
            return []
        case nodes.With():
            pairs = zip(parent.targets, parent.values, strict=True)
            return [f"{named(target)} = {said}" for target, one in pairs if same(one, node)]
        case nodes.Assign():
            return [f"{named(parent.target)} = {said}"]
        case nodes.Add() | nodes.Sub() if node.value == 1:  # the next one, the last one
            return []
        case nodes.Tuple() if isinstance(grown, nodes.Getitem) and node.value == 0:
            return []
        case nodes.Macro() if node.value == 0:
            return []
        case nodes.Call():
            return called(parent, node)
    return [f"{type(parent).__name__}: {said}"]


DECIMALS = ("number", "of_hundred", "difference", "at_most", "at_least")  # filters that are told how many
SAYS = ("p.t", "t", "p.line", "line")  # what writes in a figure: x, y, the text


def is_told(call: nodes.Node) -> bool:
    return isinstance(call, nodes.Call) and named(call.node) in ("gettext", "ngettext")


def called(call: nodes.Call, node: nodes.Const) -> list[str]:
    name, place = named(call.node), [i for i, one in enumerate(call.args) if same(one, node)][0]
    if (name, place) in {("number", 1)} or (name == "range" and node.value in (0, 1, -1)):
        return []  # how many decimals; from one end to the other
    if name == "m.cases" and node.value == 0:
        return []  # the first is shown first
    about = f" {named(call.args[0])}" if name in ("m.ask", "m.cases") else ""
    return [f"{name}{about}: {named(node)}"]


def same(one: nodes.Node, node: nodes.Const) -> bool:
    """Whether it is that number, with its sign."""
    if isinstance(one, nodes.Neg) and isinstance(one.node, nodes.Const):
        return bool(-one.node.value == node.value)
    return one is node


def named(node: nodes.Node) -> str:
    """An expression in short."""
    match node:
        case nodes.Name():
            return node.name
        case nodes.Const():
            return str(node.value)
        case nodes.Getattr():
            return f"{named(node.node)}.{node.attr}"
        case nodes.Getitem():
            return f"{named(node.node)}[{named(node.arg)}]"
        case nodes.Filter() if node.node is not None:
            return f"{named(node.node)}|{node.name}"
    return "…"


def test_templates_type_no_figure_but_those_that_are_known() -> None:
    found = {
        path.relative_to(ROOT).as_posix(): typed(path.read_text("utf-8"), path.suffix == ".svg") for path in TEMPLATES
    }
    counts = Counter(one for all_of_it in found.values() for one in all_of_it)
    wrong = {one for one in {*counts, *KNOWN} if counts[one] != KNOWN.get(one, (0, ""))[0]}
    places = {one: [name for name, all_of_it in found.items() if one in all_of_it] for one in sorted(wrong)}
    assert not wrong, {one: f"{counts[one]} in {names}, known {KNOWN.get(one)}" for one, names in places.items()}


TYPED = {
    "<p>7 tokens</p>": ["7"],
    "{% trans %}of 7 tokens{% endtrans %}": ["7"],
    "{% trans n=x %}one in 16-bit{% pluralize n %}all in 16-bit{% endtrans %}": ["16-bit", "16-bit"],
    "{% trans n=7 %}{{ n }} tokens{% endtrans %}": ["n = 7"],
    "{{ gettext('%(n)s tokens', n=0) }}": ["n = 0"],
    "{{ gettext('7 tokens') }}": ["7"],
    '<img alt="7 tokens">': ["7"],
    "{% set first = 0 %}{{ first }}": ["first = 0"],
    "{% with first = 0, b = 1 %}{{ first }}{% endwith %}": ["first = 0", "b = 1"],
    "{{ m.bar(20, 'kv') }}": ["m.bar: 20"],
    "{{ m.ask('grow', gettext('why'), options, 2, whys) }}": ["m.ask grow: 2"],
    "{{ costs[-3] }} {{ costs[1] }}": ["costs[-3]", "costs[1]"],
    "{{ 'x' if share == 2 }}": ["share eq 2"],
    "{{ ['7', n] }}": ["7"],
    "{{ x + 2 }}": ["Add: 2"],
    "{% for i in range(4) %}{% endfor %}": ["range: 4"],
    "{{ a[0] }} {{ a[-1] }} {{ 'x' if n > 1 }} {{ i + 1 }} {{ number(a, 2) }} GPT-2 {{ 'Llama-3-8B' }}": [],
    '<p style="top: 1px" class="w20">{% for i in range(n, 0, -1) %}{% endfor %}</p>': [],
}
TYPED_IN_A_FIGURE = {
    '<text x="5">7 tokens</text>': ["7"],
    "{{ p.t(10, 20, 7, '15 bold') }}": ["p.t: 7"],
    "{{ p.t(10, 20, gettext('7 tokens'), 'end') }}": ["7"],
    "{{ p.t(10, 20, gettext('%(n)s tokens', n=7)) }}": ["n = 7"],
    "{% if at.phase > 5 %}{% endif %}": ["at.phase gt 5"],
    "{% set line = pen.down(26) %}{{ p.box(L, line.top, 880, 30, 'new', round=0) }}": [],
    "{{ p.t(L, line.part(24, 3).text, fit(name, 200, 13, 'bold'), '15 bold') }}": [],
}


LIMITS = r"(?<!add )(?<!adds )up to|at most|at least|no more than|be more than|off by more than|beyond"
BOUND = re.compile(rf"(?:{LIMITS}) %\((\w+)\)s")


def rounded_bounds(source: str) -> list[str]:
    """What a message bounds something by, if it is rounded to the nearest: the bound may then be false."""
    found = []
    for call in parsed(source).find_all(nodes.Call):
        if named(call.node) in ("gettext", "ngettext"):
            texts = [arg.value for arg in call.args[:2] if isinstance(arg, nodes.Const)]
            bounds = {name for text in texts for name in BOUND.findall(text)}
            found += [
                f"{one.key}: {one.value.name}"
                for one in call.kwargs
                if one.key in bounds and isinstance(one.value, nodes.Filter) and one.value.name in NEAREST
            ]
    return found


NEAREST = ("number", "of_hundred", "difference", "short")


def test_what_bounds_something_is_rounded_to_the_safe_side() -> None:
    wrong = "{% trans n=x|number(1) %}off by up to {{ n }}{% endtrans %}{{ gettext('at least %(n)s', n=x|short) }}"
    assert rounded_bounds(wrong) == ["n: number", "n: short"]
    found = {str(path): rounded_bounds(path.read_text("utf-8")) for path in TEMPLATES}
    assert {path: bounds for path, bounds in found.items() if bounds} == {}


@pytest.mark.parametrize("known", [TYPED, TYPED_IN_A_FIGURE], ids=["page", "figure"])
def test_what_a_template_types_is_found(known: dict[str, list[str]]) -> None:
    figure = known is TYPED_IN_A_FIGURE
    assert {source: sorted(typed(source, figure)) for source in known} == {x: sorted(y) for x, y in known.items()}


def test_no_line_of_a_template_is_longer_than_one_can_read() -> None:
    lines = [(path.name, line) for path in templates("html", "svg") for line in path.read_text("utf-8").splitlines()]
    assert len(lines) > 5000 and [(name, line[:80]) for name, line in lines if len(line) > 200] == []


def test_the_words_around_the_pages_hold_no_figure() -> None:
    texts = [t for p in PAGES for t in (p.title, p.summary, p.try_, p.notice)] + [t.meaning for t in GLOSSARY.values()]
    assert not [t for t in texts if re.search(r"\d", re.sub(NAMES, "", t))]


def test_glossary_terms_are_linked_where_they_are_used_and_lead_to_lessons() -> None:
    names = {lesson.name for lesson in LESSONS}
    assert {term.page for term in GLOSSARY.values()} <= names
    linked = {slug for path in TEMPLATES for slug in re.findall(r"m\.term\(\s*\"([\w-]+)\"", path.read_text("utf-8"))}
    assert linked == set(GLOSSARY)


def test_every_lesson_links_its_words_and_asks() -> None:
    prose = {one.widget: where(f"{one.folder}/prose.html").read_text("utf-8") for one in LESSONS}
    assert [name for name, source in prose.items() if "m.term(" not in source or "m.ask(" not in source] == []


def test_a_sentence_declares_the_values_that_it_places() -> None:
    """All but one: Jinja hands on what is not declared in the order of a set, which differs from build to build."""
    sentence = re.compile(r"{%-?\s*trans\b(.*?)%}(.*?){%-?\s*endtrans", re.DOTALL)
    found = [(path, *one) for path in TEMPLATES for one in sentence.findall(path.read_text("utf-8"))]
    left = {
        (path.name, *sorted(names))
        for path, declared, said in found
        if len(names := set(re.findall(r"{{\s*(\w+)\s*}}", said)) - set(re.findall(r"(\w+)\s*[=,]", declared + ",")))
        > 1
    }
    assert len(found) > 1000 and not left


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_the_figures_of_a_text_are_those_that_its_frame_has(lesson: Page) -> None:
    prose = (where(f"course/{lesson.widget}/prose.html")).read_text("utf-8")
    included = re.findall(rf'include "course/{lesson.widget}/(\w+)\.html"', prose)
    roots = {name: where(f"course/{lesson.widget}/{name}.html").read_text("utf-8") for name in included}
    assert tuple(name for name, text in roots.items() if '<div class="figure' in text) == lesson.figures
