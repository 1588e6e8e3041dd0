"""How many examples Hypothesis tries of what it draws: all in `make test`, a quarter in `make check`, and ten times as
many of what caches must hold in `make references`.
"""

from __future__ import annotations

import os

SHARE = 4 if os.environ.get("EVERY_DAY") else 1
TIMES = 10 if os.environ.get("THOUSANDS") else 1


def examples(n: int) -> int:
    """Of `n`, how many here and now."""
    return max(1, n * TIMES // SHARE)
