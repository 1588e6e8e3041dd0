"""The browser's Python as bytes, for a page that carries it: fetched, packed and read. Nothing stays but the cache."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from tools.output.sources import our_files
from tools.runtime.fetch import default_cache, fetch_runtime
from tools.runtime.packing import pack_runtime


def runtime(more: Mapping[str, bytes] | None = None) -> dict[str, bytes]:
    """What the runtime folder of a site holds, by name; `more` goes along with our own Python."""
    cache = default_cache()
    fetched = fetch_runtime(cache)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        packed = out / pack_runtime(fetched, out, {**our_files(), **(more or {})}, cache)
        return {path.name: path.read_bytes() for path in sorted(packed.iterdir())}
