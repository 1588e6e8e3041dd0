"""How many examples Hypothesis tries of what it draws: a quarter in `make test` and `make check`, all in
`make everything`, and ten times as many of what caches must hold in `make references`.
"""

import os


def examples(n: int) -> int:
    """Of `n`, how many here and now."""
    if os.environ.get("THOUSANDS"):
        return n * 10
    return n if os.environ.get("EVERYTHING") else max(1, n // 4)
