"""Questions about old rows: how many are stale, the order of a prompt, a window that slides, and what may stay."""

from types import SimpleNamespace as Numbers

from microgpt.architectures.known import PRESETS
from microgpt.errors import N_
from microgpt.viz.text.answers import answers
from microgpt.viz.text.tasks import Task, calc, chain, ratio, unlike

PROMPT = (900, 10, 1500, 60)  # tokens: instructions, date, examples, question
WINDOW = 4
OLD, NEW = [5, 8, 2, 9, 4, 7], [5, 8, 2, 6, 4, 7, 1]


def asks(n: int, n_rows: int, at: int, stale: int, stay: int) -> Numbers:
    """Rows that are stale once the token at `at` of n is changed, and those that may stay when the last one is."""
    return Numbers(
        at=at,
        n_rows=n_rows,
        stale=answers(stale, after=n_rows // n * (n - at), all=n_rows),
        last=answers(stay, layer=n - 1, all=n_rows, none=0),
    )


def order() -> Numbers:
    """A prompt in four parts, of which the second and the last change every day."""
    told, date, examples, question = PROMPT
    total, layers = sum(PROMPT), PRESETS["Llama-3-8B"].config.n_layer
    again, best, later = total - told, date + question, examples + question
    unlike(again, best)
    stale = date * layers + later * (layers - 1)
    return Numbers(
        told=told,
        date=date,
        examples=examples,
        question=question,
        total=chain(PROMPT, "+"),
        again=chain(PROMPT[1:], "+"),
        best=chain([date, question], "+"),
        times=ratio(again, best),
        layers=layers,
        stale=calc("{} × {} + {} × {} = {}", date, layers, later, layers - 1, stale),
        rows=total * layers,
    )


def places() -> Numbers:
    """The positions that the first steps take, and the step whose position is wrong first, counted from 1."""
    taken = [min(step, WINDOW) for step in range(2 * WINDOW)]
    return Numbers(window=WINDOW, positions=taken, first=next(i for i, p in enumerate(taken) if i != p) + 1)


def stay() -> Numbers:
    """Rows of old ids that may stay for new ones, and ids that run then."""
    n = next(i for i, (one, other) in enumerate(zip(OLD, NEW, strict=False)) if one != other)
    return Numbers(old=OLD, new=NEW, n=n, run=len(NEW) - n)


TASKS = (
    Task("order", N_("In which order should a prompt stand?"), 5, "plan", 15, 9, order),
    Task("places", N_("Find the bug: a window that slides"), 6, "bug", 10, 7, places),
    Task("kept", N_("How many rows may stay?"), 3, "write", 20, 12, stay, also=("in-your-code",)),
)
