"""Questions about prefill and decode: chunks, the time of an answer, and drafts that are checked."""

from types import SimpleNamespace as Numbers

from microgpt.architectures.known import PRESETS
from microgpt.course.prefill_and_decode.passes import A100, CHUNK, SOURCE, Estimate
from microgpt.errors import N_
from microgpt.experiments.schedule import weights_read
from microgpt.serving.hardware import PER_MAC
from microgpt.viz.text.answers import answers
from microgpt.viz.text.tasks import Task, calc, chain, ratio, unlike

NEW = 100  # tokens of a text that a question lets a model write
SECOND = 1000  # ms
ASKED_MODEL, PROMPT, ANSWER, BATCH = "Llama-3-8B", 6000, 400, 16
GUESSES, ACCEPTED, CHEAP = 4, (4, 2, 0, 3, 4), 10  # tokens per round, of which the target accepts; passes of the draft


def asks(prompt: Estimate, step: Estimate) -> Numbers:
    """Of a prompt in chunks, and of a text. The prompt gives the first new token: so many take one step less."""
    n, first, each = prompt.work.n, prompt.milliseconds, step.milliseconds
    steps = NEW * each
    return Numbers(
        prompt=n,
        chunk=CHUNK,
        reads=answers(-(-n // CHUNK), whole=n // CHUNK, once=1, tokens=n),  # of each weight
        new=NEW,
        milliseconds=answers(round(first + (NEW - 1) * each), twice=round(first + steps), steps=round(steps)),
    )


def times() -> Numbers:
    """The least times of a chat on one machine, in ms. `weights` and `read` are numbers and bytes that a pass reads."""
    a = PRESETS[ASKED_MODEL]
    weights, per_token = weights_read(a.config, 1), a.bytes_per_token()
    macs, carried = round(A100.operations / PER_MAC / SECOND), round(A100.bandwidth / SECOND)  # per ms
    read, cache = 2 * weights, PROMPT * per_token
    prefill, step = round(PROMPT * weights / macs, 2), round((read + cache) / carried, 2)
    together = round((read + BATCH * cache) / carried, 2)
    unlike(round(SECOND / step), round(BATCH * SECOND / together))
    return Numbers(
        machine=A100.name,
        source=SOURCE,
        macs=macs,
        carried=carried,
        prompt=PROMPT,
        answer=ANSWER,
        batch=BATCH,
        weights=weights,
        read=read,
        per_token=per_token,
        prefill=calc("{} × {} ÷ {} = {}", PROMPT, weights, macs, prefill),
        cache=chain([PROMPT, per_token], "×"),
        step=calc("({} + {}) ÷ {} = {}", read, cache, carried, step),
        total=calc("{} + {} × {} = {}", prefill, ANSWER, step, prefill + ANSWER * step),
        together=calc("({} + {} × {}) ÷ {} = {}", read, BATCH, cache, carried, together),
        rate=calc("{} ÷ {} = {}", SECOND, step, round(SECOND / step)),
        rate_together=calc("{} × {} ÷ {} = {}", BATCH, SECOND, together, round(BATCH * SECOND / together)),
    )


def drafts() -> Numbers:
    """Speculative decoding, round by round."""
    rounds = [Numbers(accepted=n, written=n + 1, appended=GUESSES + 1, cropped=GUESSES - n) for n in ACCEPTED]
    written, price = sum(one.written for one in rounds), len(rounds) * (1 + GUESSES / CHEAP)
    unlike(written / price, 1)
    return Numbers(
        drafted=GUESSES,
        cheap=CHEAP,
        rounds=rounds,
        written=chain([one.written for one in rounds], "+"),
        cropped=chain([one.cropped for one in rounds], "+"),
        price=calc("{} × ({} + {} ÷ {}) = {}", len(rounds), 1, GUESSES, CHEAP, price),
        saved=ratio(written, price),
    )


TASKS = (
    Task("times", N_("The least time of an answer"), 3, "compute", 20, 11, times),
    Task("drafts", N_("Drafts that are accepted, and some that are not"), 4, "compute", 15, 9, drafts),
)
