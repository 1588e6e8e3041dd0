"""Questions about the limit of reading: texts that are written together, heads over processors, bits and bytes."""

from types import SimpleNamespace as Numbers

from microgpt.viz.text.answers import answers

WEIGHTS, SPEED, TEXTS = 20, 2000, 8  # GB; GB per second; texts
HEADS, RANKS = 8, 16
NETWORK, ROWS = 400, 5  # Gb per second; GB


def asks() -> Numbers:
    steps = SPEED / WEIGHTS
    return Numbers(
        weights=WEIGHTS,
        speed=SPEED,
        texts=TEXTS,
        tokens=answers(steps * TEXTS, one=steps, shared=steps / TEXTS),
        heads=HEADS,
        ranks=RANKS,
        part=answers(HEADS, ranks=RANKS, half=RANKS // HEADS),
        network=NETWORK,
        rows=ROWS,
        seconds=8 * ROWS / NETWORK,
        wrong=ROWS / NETWORK,
    )
