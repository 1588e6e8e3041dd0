"""Pages as HTML's rules see them: parsed strictly, with Python's answers in them; and what no grammar sees."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from xml.etree.ElementTree import Element

import html5lib

from microgpt.course import LESSONS, PAGES
from microgpt.viz import views
from microgpt.viz.rendering.render import render_page
from microgpt.viz.session import dispatch
from microgpt.viz.text.sources import SOURCES
from microgpt.workbench.shelf import BUGS
from tests.support.controls import controls
from tests.support.given.quick import quick

POINTERS = frozenset(
    "for form list headers popovertarget commandfor aria-activedescendant aria-controls aria-describedby "
    "aria-details aria-errormessage aria-flowto aria-labelledby aria-owns".split()
)

# what a reader presses, one after the other
SHORTEST = "a"
PRESSED = [
    *((page.name, ("run", "model")) for page in LESSONS if page.live == "text"),
    *((page.name, ("next", "next", "run", "model")) for page in LESSONS if page.live == "steps"),
    ("training", ("train", "watch", "run", "watch", "pause", "reset", "watch", "train")),
    ("memory", ("calculate", "calculate")),
    ("embed-builder", ("embed", "embed")),
]


SOURCE = '<a class="source" href="{}" target="_blank" rel="noopener" lang="en">'


def inward(text: str) -> str:
    """A page without its links to what it rests on, and to where a bug was told of: they alone lead out of the site."""
    threads = ["https://github.com/" + origin.replace("#", "/issues/") for bug in BUGS for origin in bug.origins]
    for address in [*(source.address for source in SOURCES.values()), *threads]:
        text = text.replace(SOURCE.format(address), "<a>")
    return text


def strict(text: str) -> Element:
    """The page; an error where a browser would have to mend it."""
    tree = quick(text)
    return html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parse(text) if tree is None else tree


def fragment(text: str, within: str) -> tuple[str, list[Element]]:
    """The text before the elements of a fragment, and these, as the element `within` would take them."""
    inside, within = (f"<svg>{text}</svg>", "div") if (drawn := within == "g") else (text, within)
    found = quick(inside, within)
    if found is None:
        parser = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False)
        found = parser.parseFragment(inside, container=within)
    found = found[0] if drawn else found
    return found.text or "", list(found)


def answered(tree: Element, patches: Sequence[Mapping[str, str]]) -> Element:
    """The page with the answer in it, as site/boot.js applies it."""
    for patch in patches:
        if "target" not in patch:
            continue
        above = {child: parent for parent in tree.iter() for child in parent}
        found = [e for e in tree.iter() if f"#{e.get('id')}" == patch["target"]]
        if not found and "optional" in patch:
            continue
        (element,) = found
        outer = patch["how"] == "outer"
        before, elements = fragment(patch["html"], above[element].tag if outer else element.tag.rpartition("}")[2])
        if outer:
            parent = above[element]
            at = list(parent).index(element)
            parent[at : at + 1] = elements
            elements[-1].tail = element.tail
        elif patch["how"] == "append":
            element.extend(elements)
        else:
            element[:], element.text = elements, before
    return tree


def amiss(tree: Element) -> Iterator[str]:
    """What two have and one may: ids. What is pointed at, and is not there."""
    ids = Counter(e.get("id") for e in tree.iter() if e.get("id"))
    yield from (f"the id {name} {n} times" for name, n in ids.items() if n > 1)
    for element in tree.iter():
        for pointer in POINTERS & element.attrib.keys():
            for name in element.get(pointer, "").split():
                if name not in ids:
                    yield f"{element.tag} points at {name} by {pointer}"
        href = element.get("href", "")
        if href.startswith("#") and href[1:] not in ids:
            yield f"a link to {href}"


def pressed(name: str, hooks: Sequence[str]) -> Iterator[Element]:
    """The page after each answer, with the shortest text that all models read: what is counted is often one."""
    page = next(page for page in PAGES if page.name == name)
    text = render_page(page, views.of(page))
    tree, state = strict(text), None
    fields = {"page": page.name, **{name: one.default for name, one in controls(text).items() if name != "step"}}
    if "prompt" in fields and hooks[0] != "next":  # which goes on with the text of the page
        fields["prompt"] = SHORTEST
    for hook in hooks:
        state, patches = dispatch(state, hook, fields)
        assert [one["html"] for one in patches if one.get("target") == "#prompt-error"] == [""], hook
        tree = answered(tree, patches)
        yield tree
