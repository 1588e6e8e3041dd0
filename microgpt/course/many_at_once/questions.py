"""Questions about batches: places that stay empty, a prompt in pieces, and texts that take turns."""

from types import SimpleNamespace as Numbers

from microgpt.errors import N_
from microgpt.viz.text.answers import answers
from microgpt.viz.text.tasks import Task, calc, chain, unlike

STATIC = (4, (6, 9, 9, 12))  # places, and the tokens that four texts write
CHUNKS = (20, 3, 8)  # a prompt, texts that write meanwhile, the budget of a pass
PLACES, WRITES = 2, (5, 1, 1, 3)  # and tokens that each text writes


def asks() -> Numbers:
    places, writes = STATIC
    prompt, others, budget = CHUNKS
    idle, room = places * max(writes) - sum(writes), budget - others
    return Numbers(
        places=places,
        answers=writes,
        idle=answers(idle, used=sum(writes), last=max(writes) - min(writes)),  # in a batch that stays together
        prompt=prompt,
        others=others,
        budget=budget,
        passes=answers(-(-prompt // room), whole=-(-prompt // budget), one=1),  # until the prompt is done
    )


def turns() -> Numbers:
    """Texts in static batches, and in places that are taken at once."""
    a, b, c, d = WRITES
    one, other, tokens = max(a, b), max(c, d), sum(WRITES)
    ends, begins = [0] * PLACES, []
    for n in WRITES:
        place = ends.index(min(ends))
        begins.append(ends[place] + 1)
        ends[place] += n
    passes, static = max(ends), one + other
    like = sum(sorted(WRITES, reverse=True)[::PLACES])
    unlike(static, like, passes)
    unlike(one + 1, begins[-1])
    form = "{} ÷ ({} × {}) = {}"
    return Numbers(
        places=PLACES,
        writes=WRITES,
        static=chain([one, other], "+"),
        joined=passes,
        share=calc(form, tokens, PLACES, static, tokens / (PLACES * static)),
        better=calc(form, tokens, PLACES, passes, tokens / (PLACES * passes)),
        sorted=like,  # passes of static batches, if texts of like length come together
        last=(one + 1, begins[-1]),  # the pass in which the last text begins, both ways
    )


TASKS = (Task("turns", N_("Who writes when?"), 5, "compute", 15, 9, turns),)
