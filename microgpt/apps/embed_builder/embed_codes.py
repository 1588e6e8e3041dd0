"""What puts a page into a course: its address with the reader's choices, and for each host the code to paste there.

Everything in the address is percent-encoded, and a title is escaped as each host wants it, so that no text can be
taken for markup. Knows no form and no browser. tests/hosts builds real books and slides with these codes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from html import escape
from typing import NamedTuple
from urllib.parse import quote

from microgpt.errors import N_, UserError
from microgpt.viz.text.language import LANGUAGES, folder

ALLOWED = "clipboard-write; fullscreen"  # what a page may do in its frame: copy, and fill the screen of a hall


class Frame(NamedTuple):
    """What is pasted, before it has a form."""

    url: str  # the page alone, for a frame
    link: str  # the same on its page in the course
    title: str
    width: str  # pixels, or "100%"
    height: str


class Host(NamedTuple):
    """Where a page can be pasted. `write` gives the code of a frame there."""

    slug: str
    name: str
    note: str
    write: Callable[[Frame], str]


def address(site: str, name: str, chosen: Mapping[str, str], lang: str = "en", alone: bool = True) -> str:
    """The address of a page of the site at `site` ("": seen from the site's root), alone or in the course."""
    query = "&".join(f"{encode(key)}={encode(value)}" for key, value in chosen.items())
    return f"{site}{folder(lang)}{'embed/' if alone else ''}{name}.html{'?' if query else ''}{query}"


def encode(text: str) -> str:
    return quote(text, safe="", errors="replace")


def site_address(text: str) -> str:
    """The root of the site out of what was typed: the address of any of its pages will do. "" stays ""."""
    text = text.strip()
    if not text:
        return ""
    found = re.fullmatch(r"(https?)://([\w.-]+(?::\d+)?)(/[^?#]*)?(?:[?#].*)?", text, re.I | re.S)
    if not found:
        raise UserError(
            "The address of the site is “%(text)s”; give one such as https://example.org/course/.", text=text[:80]
        )
    parts = [part for part in (found[3] or "").split("/") if part]
    if parts and parts[-1].endswith(".html"):
        parts.pop()
    if parts and parts[-1] == "embed":
        parts.pop()
    if parts and parts[-1] in LANGUAGES and folder(parts[-1]):
        parts.pop()
    return "/".join(
        [f"{found[1].lower()}://{found[2]}", *(quote(part, safe="%", errors="replace") for part in parts), ""]
    )


def codes(frame: Frame) -> dict[str, str]:
    """The code for each host by its slug, in the order of HOSTS."""
    frame = frame._replace(title=" ".join(frame.title.split()))
    return {host.slug: host.write(frame) for host in HOSTS}


def html(frame: Frame, src: str = "src") -> str:
    """On one line, so that no Markdown sees a paragraph in it."""
    attributes = {
        "title": frame.title,
        src: frame.url,
        "width": frame.width,
        "height": frame.height,
        "loading": "lazy",
        "allow": ALLOWED,
        "style": "border:0",
    }
    written = " ".join(f'{name}="{escape(value)}"' for name, value in attributes.items())
    return f"<iframe {written}></iframe>"


def fence(frame: Frame, kind: str) -> str:
    """A block of raw HTML in the Markdown of `kind`."""
    return f"```{kind}\n{html(frame)}\n```"


def directive(frame: Frame) -> str:
    width = frame.width if frame.width.endswith("%") else f"{frame.width}px"
    return f":::{{iframe}} {frame.url}\n:width: {width}\n:title: {frame.title}\n:::"


def slide(frame: Frame) -> str:
    return f"<section>\n  {html(frame, 'data-src')}\n</section>"


def cell(frame: Frame) -> str:
    extras = [f'title="{escape(frame.title)}"', 'loading="lazy"', f'allow="{ALLOWED}"']
    width = repr(frame.width) if frame.width.endswith("%") else frame.width
    return (
        "from IPython.display import IFrame\n\n"
        f"IFrame(\n    {frame.url!r},\n    width={width},\n    height={frame.height},\n    extras={extras!r},\n)"
    )


HOSTS = (
    Host("html", N_("HTML"), N_("For any page whose HTML you write yourself."), html),
    Host("moodle", N_("Moodle"), N_("In the editor, open Tools, Source code, paste there, and save."), html),
    Host(
        "canvas",
        N_("Canvas"),
        N_(
            "In the editor, switch to the HTML view and paste there. If the frame stays empty, an administrator has "
            "to add the site to the allowed domains. The page tells its height in the way that Canvas hears "
            "(lti.frameResize)."
        ),
        html,
    ),
    Host(
        "jupyter-book-1",
        N_("Jupyter Book 1"),
        N_("For books that are built with Sphinx, in a Markdown page or a Markdown cell."),
        lambda frame: fence(frame, "{raw} html"),
    ),
    Host(
        "myst",
        N_("Jupyter Book 2, MyST"),
        N_("MyST has a directive of its own for frames. It takes a width; the theme chooses the height."),
        directive,
    ),
    Host("quarto", N_("Quarto"), N_("For all HTML formats, slides among them."), lambda f: fence(f, "{=html}")),
    Host("mkdocs", N_("MkDocs"), N_("A line of its own in a Markdown page, an empty line before and after it."), html),
    Host(
        "sphinx", N_("Sphinx"), N_("In a page of reStructuredText."), lambda frame: f".. raw:: html\n\n   {html(frame)}"
    ),
    Host(
        "reveal",
        N_("reveal.js"),
        N_(
            "The frame is loaded when its slide is reached. What plays starts with the slide and stops when the slide "
            "is left."
        ),
        slide,
    ),
    Host(
        "jupyter",
        N_("Jupyter cell"),
        N_(
            "Run the cell. Where the notebook itself comes over https, the site has to do so too; and a notebook that "
            "is not trusted shows no frame."
        ),
        cell,
    ),
    Host(
        "link",
        N_("Link"),
        N_("Where frames are not allowed, or in a message: the same view on its page in the course."),
        lambda frame: frame.link,
    ),
)
