"""One HTML file that holds everything: style, bridge, Pyodide, NumPy, our Python, templates and weights.

It runs live from a double click. Here is only what microgpt/viz/rendering/assets.py cannot bring along itself: the
files, and a packer that makes gzip smaller than Python's own can, always the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import deflate

from microgpt.viz.rendering.assets import Assets, self_contained
from microgpt.viz.rendering.style import read_site


def single(runtime: Mapping[str, bytes]) -> Assets:
    """What a page loads, with everything in it."""
    return self_contained(read_site, runtime, gzip)


@cache
def gzip(data: bytes) -> bytes:
    """gzip by libdeflate, about a twentieth smaller than by zlib. Two pages carry the same: it is done once."""
    return bytes(deflate.gzip_compress(data, 12))
