"""Questions about q: what can be forgotten, how often rows are read, a window, and keeping x in place of K and V."""

from types import SimpleNamespace as Numbers

from microgpt.architectures.known import PRESETS
from microgpt.config import Config
from microgpt.errors import N_
from microgpt.experiments.lifetimes import all_asked
from microgpt.viz.drawing.picture import Picture
from microgpt.viz.text.answers import answers
from microgpt.viz.text.tasks import Task, calc, chain, ratio, triangle, unlike

FORGOTTEN = ("q", "kv", "qkv")  # what might be forgotten after each step
FEW = 5  # steps of a curve that is to be foretold
N_TOKENS, WINDOW = 12, 4
MODELS_OF_X = ("GPT-2 124M", "Gemma-2B", "Llama-3-8B")  # that could keep x
LONG = 1000  # rows of the cache, for what x costs


def asks(picture: Picture, so_far: list[list[int]]) -> Numbers:
    """`so_far` has the reads of q, k and v up to each step."""
    n, reads, all_reads = picture.n, picture.reads, so_far[-1][1]
    later = {kind: sum(step > i for i in range(n) for step in reads[kind, 0, i]) for kind in "qkv"}
    grow = [(k, q, (j + 1) ** 2) for j, (q, k, _) in enumerate(so_far[:FEW])]
    read, asked, square = (", ".join(map(str, row)) for row in zip(*grow, strict=True))
    last, others = all_asked(picture.trace, picture.config, n)  # how far answers are off if all queries are asked again
    return Numbers(
        grow=answers(read, asked=asked, square=square),
        forget=min(FORGOTTEN, key=lambda kinds: sum(later[kind] for kind in kinds)),
        rows=n + 1,
        reads=answers(all_reads + n + 1, own=all_reads + n, square=(n + 1) ** 2),
        last=last,
        others=others,
    )


def window() -> Numbers:
    """How often the rows of a text are read when a token sees its last w rows alone."""
    reads = [min(WINDOW, N_TOKENS - j) for j in range(N_TOKENS)]
    unlike(sum(reads), triangle(N_TOKENS))
    return Numbers(
        t=N_TOKENS,
        w=WINDOW,
        reads=reads,
        total=calc("{} × {} − {} × {} ÷ {} = {}", WINDOW, N_TOKENS, WINDOW, WINDOW - 1, 2, sum(reads)),
        whole=calc("{} × {} ÷ {} = {}", N_TOKENS, N_TOKENS + 1, 2, triangle(N_TOKENS)),
    )


def instead() -> Numbers:
    """What models keep per token and layer, and what they would keep of x."""
    configs = {name: PRESETS[name].config for name in MODELS_OF_X}
    models = [
        Numbers(
            name=name,
            x=c.n_embd,
            heads=c.n_kv_head,
            head_dim=c.head_dim,
            row=chain([2, c.n_kv_head, c.head_dim], "×"),
            times=ratio(c.n_embd, row_of(c)),
        )
        for name, c in configs.items()
    ]
    last = configs[MODELS_OF_X[-1]]
    return Numbers(
        models=models,
        long=LONG,
        again=chain([LONG, last.n_embd, row_of(last)], "×"),
        own=chain([last.n_embd, row_of(last)], "×"),
    )


def row_of(c: Config) -> int:
    """Numbers of K and V, per token and layer."""
    return 2 * c.n_kv_head * c.head_dim


TASKS = (
    Task("window", N_("Every token sees the last w rows"), 1, "compute", 15, 9, window),
    Task("instead", N_("Keep x in place of K and V"), 2, "compute", 15, 9, instead, also=("inside",)),
)
