"""Questions about long texts: layers with a window, what sharing halves, a plan, and what thinking costs."""

from __future__ import annotations

from types import SimpleNamespace as Numbers

from microgpt.architectures.known import PRESETS
from microgpt.course.long_texts.shapes import H100
from microgpt.errors import N_
from microgpt.serving.hardware import SIZE
from microgpt.viz.text.answers import answers
from microgpt.viz.text.tasks import Task, calc, unlike

ASKED_LAYERS, EVERY, ASKED_WINDOW, TEXT = 48, 6, 1024, 131_072  # of a model that is asked about
BUGGY = "gpt-oss-20b"
ROW = 4096  # numbers
MILLION = 1_048_576
PLANNED = "Llama-3.1-8B"
GIVEN, THOUGHT, ANSWERED, QUESTION = 30_000, 12_000, 800, 200  # tokens of a turn, and of the next question


def asks() -> Numbers:
    full = ASKED_LAYERS // EVERY
    near, far = (ASKED_LAYERS - full) * ASKED_WINDOW, full * TEXT
    model = PRESETS[BUGGY]
    row = model.row * SIZE
    return Numbers(
        layers=ASKED_LAYERS,
        full=full,
        window=ASKED_WINDOW,
        text=TEXT,
        rows=answers(near + far, all=ASKED_LAYERS * TEXT, near=ASKED_LAYERS * ASKED_WINDOW, far=far),
        bug=Numbers(
            name=model.name,
            text=TEXT,
            said=model.config.n_layer * min(TEXT, model.window) * row,
            true=model.cache_bytes(TEXT),
        ),
    )


def two_kinds() -> Numbers:
    """A cache at two lengths, with a window in most layers and with none."""
    full = ASKED_LAYERS // EVERY
    near = ASKED_LAYERS - full
    row = ROW * SIZE
    held = [(near * ASKED_WINDOW + full * n) * row for n in (TEXT, MILLION)]
    every = [ASKED_LAYERS * n * row for n in (TEXT, MILLION)]
    unlike(*held, *every)
    return Numbers(
        layers=ASKED_LAYERS,
        full=full,
        window=ASKED_WINDOW,
        row=row,
        short=TEXT,
        long=MILLION,
        held=[
            calc("({} × {} + {} × {}) × {} = {}", near, ASKED_WINDOW, full, n, row, found)
            for n, found in zip((TEXT, MILLION), held, strict=True)
        ],
        every=calc("{} × {} × {} = {}", ASKED_LAYERS, MILLION, row, every[1]),
        share=calc("{} ÷ {} = {}", held[1], every[1], held[1] / every[1], digits=3),
        least=calc("{} ÷ {} = {}", full, ASKED_LAYERS, full / ASKED_LAYERS, digits=3),
    )


def thinking() -> Numbers:
    """A turn with thinking, and what of it the next one can use."""
    model, bandwidth = PRESETS[PLANNED], H100.bandwidth
    weights, row = model.weight_bytes_read(), model.bytes_per_token()
    mean = GIVEN + THOUGHT // 2
    step = round(1000 * (weights + mean * row) / bandwidth, 2)
    return Numbers(
        name=PLANNED,
        gpu=H100.name,
        speed=bandwidth / 10**12,
        weights=weights,
        row=row,
        prompt=GIVEN,
        thought=THOUGHT,
        answer=ANSWERED,
        question=QUESTION,
        mean=calc("{} + {} ÷ 2 = {}", GIVEN, THOUGHT, mean),
        step=calc("({} + {} × {}) ÷ {} = {}", weights, mean, row, bandwidth / 1000, step),
        seconds=calc("{} × {} ÷ 1000 = {}", THOUGHT, step, THOUGHT * step / 1000),
        freed=calc("{} × {} = {}", THOUGHT, row, THOUGHT * row),
        again=calc("{} + {} = {}", ANSWERED, QUESTION, ANSWERED + QUESTION),
    )


TASKS = (
    Task("mixed_layers", N_("Eight layers that see everything"), 8, "compute", 15, 9, two_kinds),
    Task("thinking", N_("What thinking costs, and what stays of it"), 9, "plan", 15, 10, thinking),
)
