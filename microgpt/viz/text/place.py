"""Where templates, catalogues and style lie: beside the package (repository, browser) or inside it (installed)."""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2]
ROOT = PACKAGE if (PACKAGE / "templates").is_dir() else PACKAGE.parent
