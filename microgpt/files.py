"""Write text into files so that a half-written one never replaces a whole one. Knows nothing of what it writes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from microgpt.errors import N_, UserError


def write_whole(files: Mapping[Path, str]) -> None:
    """Write each text to its path, folders included. All are written beside their places first, then moved there."""
    waiting: dict[Path, Path] = {}
    path = Path()
    try:
        for path, text in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            beside = path.with_name(f".{path.name}.{os.getpid()}")
            waiting[beside] = path
            beside.write_bytes(text.encode("utf-8"))  # not write_text: no platform's line endings
        for beside, path in waiting.items():
            beside.replace(path)
    except OSError as error:
        raise UserError(
            N_("“%(path)s” cannot be written (%(why)s). Choose another place."), path=path, why=error.strerror
        ) from None
    finally:
        for beside in waiting:
            beside.unlink(missing_ok=True)
