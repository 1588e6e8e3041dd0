"""Questions about masks: rows that go stale without one, blocks that are final, and two caches that listen."""

from types import SimpleNamespace as Numbers

from microgpt.errors import N_
from microgpt.viz.text.answers import answers
from microgpt.viz.text.tasks import Task, calc

TOKENS, N_LAYER = 6, 4  # of a model without a mask
N_TOKENS, BLOCK_TOKENS = 10, 4  # tokens, and tokens of a block
HEARD, LAYERS, WIDTH, SOURCE, WRITTEN, BEAMS = "Whisper large-v3", 32, 1280, 1500, 100, 5


def asks() -> Numbers:
    final = N_TOKENS // BLOCK_TOKENS * BLOCK_TOKENS
    return Numbers(
        tokens=TOKENS,
        layers=N_LAYER,
        stale=answers(TOKENS * (N_LAYER - 1), all=TOKENS * N_LAYER, own=N_LAYER, none=0),
        long=N_TOKENS,
        size=BLOCK_TOKENS,
        kept=answers(final, all=N_TOKENS, none=0, last=N_TOKENS - final),
    )


def caches() -> Numbers:
    """A model that writes down speech: its decoder's two caches."""
    row = 2 * LAYERS * WIDTH * 2  # bytes of K and V, all layers, at two bytes a number
    form = "2 × 2 × {} × {} × {} = {}"
    return Numbers(
        name=HEARD,
        n_layer=LAYERS,
        width=WIDTH,
        source=SOURCE,
        written=WRITTEN,
        beams=BEAMS,
        of_source=calc(form, LAYERS, WIDTH, SOURCE, row * SOURCE),
        own=calc(form, LAYERS, WIDTH, WRITTEN, row * WRITTEN),
        anew=calc("{} × {} = {}", WRITTEN, SOURCE, WRITTEN * SOURCE),
        apart=calc("{} × ({} + {}) = {}", BEAMS, SOURCE, WRITTEN, BEAMS * (SOURCE + WRITTEN)),
        shared=calc("{} + {} × {} = {}", SOURCE, BEAMS, WRITTEN, SOURCE + BEAMS * WRITTEN),
    )


TASKS = (Task("heard", N_("Two caches that listen"), 10, "compute", 15, 10, caches),)
