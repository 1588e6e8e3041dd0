"""Questions about an edit: what runs again in a chat, in blocks, and after several edits of one file."""

from __future__ import annotations

from types import SimpleNamespace as Numbers

from microgpt.errors import N_
from microgpt.viz.text.answers import answers
from microgpt.viz.text.tasks import Task, calc, chain, unlike

CHAT, EDITED, BLOCK = 1000, 250, 16  # tokens, a position and the size of a block
FILE, EDITS = 4000, (3900, 2000, 3000)  # tokens of a file, and the positions at which it is edited, one after the other


def asks() -> Numbers:
    return Numbers(
        chat=CHAT,
        edited=EDITED,
        block=BLOCK,
        again=answers(CHAT - EDITED, one=1, before=EDITED, all=CHAT),
        taken=answers(EDITED // BLOCK * BLOCK, rows=EDITED, up=-(-EDITED // BLOCK) * BLOCK),
    )


def edits() -> Numbers:
    """Tokens to run if the model is asked after each edit of a file, or once."""
    first, second, _ = sorted(EDITS)
    each, once = sum(FILE - at for at in EDITS), FILE - first
    unlike(each, once)
    return Numbers(
        length=FILE,
        at=EDITS,
        each=chain([FILE - at for at in EDITS], "+"),
        once=calc("{} − {} = {}", FILE, first, once),
        between=calc("{} − {} − 1 = {}", second, first, second - first - 1),  # rows from one edited token to the next
    )


TASKS = (Task("edits", N_("Three edits of one file"), 7, "compute", 10, 6, edits),)
