"""Presses radio buttons in the text of a page, as site/host.js does from the address. Knows no page and no widget."""

from __future__ import annotations

import re
from collections.abc import Mapping

from microgpt.errors import N_, UserError
from microgpt.viz.rendering.controls import differing


def choose(html: str, asked: Mapping[str, object]) -> str:
    """`html` with the radio button checked that each name and value ask for. Raises UserError when there is none."""
    for name, value in differing(html, {name: str(value) for name, value in asked.items()}).items():
        group = radios(html, name)
        if not group:
            raise UserError(N_("This page has no “%(name)s” to choose; leave it out."), name=name)
        for tag in group:
            bare = tag.replace(" checked", "")
            html = html.replace(tag, f"{bare[:-1]} checked>" if attribute(tag, "value") == value else bare)
    return html


def radios(html: str, name: str) -> list[str]:
    """The tags of the radio buttons of that name."""
    return [tag for tag in re.findall(r'<input\b[^>]*\btype="radio"[^>]*>', html) if attribute(tag, "name") == name]


def attribute(tag: str, name: str) -> str:
    found = re.search(rf'\s{name}="([^"]*)"', tag)
    return found[1] if found else ""
