"""The browser's Python, fetched and packed: in a folder beside a page, or as bytes for a page that carries it."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from tools.output.sources import our_files
from tools.runtime.fetch import default_cache, fetch_runtime
from tools.runtime.packing import pack_runtime


def packed(out: Path, more: Mapping[str, bytes]) -> str:
    """Make the runtime folder of a site in `out`, and say its name; `more` goes along with our own Python."""
    cache = default_cache()
    return pack_runtime(fetch_runtime(cache), out, {**our_files(), **more}, cache)


def runtime(more: Mapping[str, bytes] | None = None) -> dict[str, bytes]:
    """What such a folder holds, by name. Nothing stays but the cache."""
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / packed(Path(folder), more or {})
        return {path.name: path.read_bytes() for path in sorted(made.iterdir())}
