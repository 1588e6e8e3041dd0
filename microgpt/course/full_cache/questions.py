"""Questions about a full cache: rows that a window holds, and how far back it reaches."""

from __future__ import annotations

from types import SimpleNamespace as Numbers

from microgpt.viz.text.answers import answers

ASKED_WINDOW, TEXT = 1024, 10_000
LAYERS, SMALL = 4, 3


def asks() -> Numbers:
    return Numbers(
        window=ASKED_WINDOW,
        text=TEXT,
        held=answers(ASKED_WINDOW - 1, window=ASKED_WINDOW, text=TEXT),
        layers=LAYERS,
        small=SMALL,
        reach=answers(LAYERS * (SMALL - 1), one=SMALL - 1, product=LAYERS * SMALL),
    )
