"""What a page loads: style, scripts, icon and Python lie beside it, or stand in the page itself.

Rules that no other page needs always stand in the page. A page that has all in itself needs no server and no network:
it runs from a double click, in a sandboxed frame, as the srcdoc of one. templates/_head.html and _tail.html place what
is decided here. Reads and writes no file: the caller brings them.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from html import escape
from typing import NamedTuple

import numpy as np

from microgpt.viz.rendering.policy import policy

Read = Callable[[str], str | bytes]  # gives a file of the site by its name

STYLE = "style.css"
BRIDGE = "boot.js"  # of the scripts, the one that starts Python
SCRIPTS = (BRIDGE, "host.js")
MODULE = "microgpt.viz.browser"  # what it starts
CARRIED = "carried:/"  # where the runtime is said to lie; nothing is ever fetched from there


class Assets(NamedTuple):
    """Where a page has what it loads; by itself, beside it."""

    style: str = ""  # its text, where it stands in the page
    own: str = ""  # the rules that this page alone needs, which stand in it
    scripts: tuple[tuple[str, str], ...] = ()  # name and text of each that stands in the page, at its end
    icon: str = ""  # as a data: address
    python: bool = True  # whether anything on the page can run it; what would ask for it is hidden otherwise
    home: str = ""  # where the folder of Python lies, if not where the site has it
    elements: str = ""  # what the page carries of Python

    def policy(self, address: str = "", frames: bool = False) -> str:
        """The policy that allows just this, on a page of the site at `address`."""
        styles, scripts = [one for one in (self.style, self.own) if one], [code for _, code in self.scripts]
        return policy(address, styles, scripts, frames, self_contained=bool(self.icon), python=self.python)

    def with_rules(self, rules: str) -> Assets:
        """The same for a page that alone needs these rules."""
        return self._replace(own=inline(rules, "style"))


BESIDE = Assets()
STILL = Assets(python=False)


def compress(data: bytes) -> bytes:
    """As gzip, always the same bytes."""
    return gzip.compress(data, 9, mtime=0)


def self_contained(
    read: Read, runtime: Mapping[str, bytes] | None = None, pack: Callable[[bytes], bytes] = compress
) -> Assets:
    """Everything in the page. `runtime` is what the folder of Python holds, by name; `pack` makes gzip of it."""
    home, elements = embed_runtime(runtime, pack) if runtime is not None else ("", "")
    names = [name for name in SCRIPTS if name != BRIDGE or runtime is not None]
    icon = base64.b64encode(text(read("icon.svg")).encode()).decode()
    return Assets(
        inline(text(read(STYLE)), "style"),
        "",
        in_page(read, names),
        f"data:image/svg+xml;base64,{icon}",
        runtime is not None,
        home,
        elements,
    )


def frame_assets(read: Read) -> Assets:
    """Style and scripts in the page; Python is fetched from the site, if it is asked for.

    In a frame of opaque origin a page must have in itself what it needs to be seen and to step: there WebKit does not
    take files of the page's own host for its own.
    """
    return Assets(inline(text(read(STYLE)), "style"), scripts=in_page(read, SCRIPTS))


def in_page(read: Read, names: Iterable[str]) -> tuple[tuple[str, str], ...]:
    return tuple((name, inline(text(read(name)), "script")) for name in names)


def embed_runtime(runtime: Mapping[str, bytes], pack: Callable[[bytes], bytes]) -> tuple[str, str]:
    """Where the runtime is said to lie, with the hash of its manifest; and the runtime as elements that no browser
    runs."""
    manifest = json.loads(runtime["runtime.json"])
    files = {name: runtime[name] for name in [*manifest["files"], "runtime.json"]}
    parts = []
    for name in sorted(files):
        data = encode_text(pack(files[name]))
        parts.append(f'<script type="text/plain" data-file="{escape(name)}">{data}</script>\n')
    return f"{CARRIED}-{hashlib.sha256(files['runtime.json']).hexdigest()[:32]}/", "".join(parts)


def encode_text(data: bytes) -> str:
    """Bytes as text, seven bits a character: a seventh longer in UTF-8, where base64 is a third longer.

    Three of 128 characters do not come through HTML as they are, or would end the element: 0, a carriage return and <.
    They are written as the characters 128 after them, of which boot.js takes the low seven bits, as of all.
    """
    bits = np.unpackbits(np.frombuffer(data, np.uint8))
    sevens = np.pad(bits, (0, -len(bits) % 7)).reshape(-1, 7)
    codes = np.packbits(sevens, axis=1) >> 1  # [n, 1]
    return codes.tobytes().decode("ascii").translate({code: chr(code + 128) for code in (0, 13, ord("<"))})


def text(data: str | bytes) -> str:
    return data if isinstance(data, str) else data.decode("utf-8")


def inline(code: str, element: str) -> str:
    """`code`, if it can stand inside that element as it is."""
    if re.search(rf"</{element}|<!--", code, re.I):
        raise ValueError(f"this text would end the <{element}> that it stands in")
    return code
