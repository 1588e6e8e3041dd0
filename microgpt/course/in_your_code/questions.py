"""Questions about loops: shapes pass by pass, the turns of a chat, copies of a cache, and what it costs to grow one."""

from __future__ import annotations

from types import SimpleNamespace as Numbers

from microgpt.architectures.known import PRESETS
from microgpt.errors import N_
from microgpt.viz.text.answers import answers
from microgpt.viz.text.tasks import Task, calc, chain, ratio, triangle, unlike

LARGE = "Llama-3-8B"
BATCH, LENGTH = 3, 500
PROMPT, PASSES = 9, 4
CHAT = (820, 260, 45, 310, 70)  # tokens: first prompt, answer, question, answer, question
TEXT = 4000  # tokens, token by token


def asks() -> Numbers:
    """The shape that the keys of a layer have, for a batch of texts."""
    c = PRESETS[LARGE].config
    return Numbers(
        config=c,
        batch=BATCH,
        length=LENGTH,
        shapes=answers(
            f"{[BATCH, c.n_kv_head, LENGTH, c.head_dim]}",
            queries=f"{[BATCH, c.n_head, LENGTH, c.head_dim]}",
            joined=f"{[1, c.n_kv_head, BATCH * LENGTH, c.head_dim]}",
        ),
    )


def shapes() -> Numbers:
    """What goes into each pass, and what the cache has after it."""
    c, passes = PRESETS[LARGE].config, []
    for i in range(1, PASSES + 1):
        n, start = (PROMPT, 0) if i == 1 else (1, PROMPT + i - 2)
        positions, length = f"{start}–{start + n - 1}" if n > 1 else f"{start}", start + n
        keys = f"{[1, c.n_kv_head, length, c.head_dim]}"
        passes.append(Numbers(i=i, ids=f"{[1, n]}", positions=positions, length=length, keys=keys))
    return Numbers(name=LARGE, config=c, prompt=PROMPT, passes=passes)


def turns() -> Numbers:
    """The turns of a chat: prompts, the rows that lie there already, and what must run."""
    first, answer, question, second, last = CHAT
    texts, rows = [CHAT[:1], CHAT[:3], CHAT], [0, first + answer - 1, sum(CHAT[:4]) - 1]
    prompts = [sum(text) for text in texts]
    runs = [prompt - have for prompt, have in zip(prompts, rows, strict=True)]
    unlike(sum(prompts), sum(runs))
    return Numbers(
        first=first,
        answer=answer,
        question=question,
        second=second,
        last=last,
        turns=[
            Numbers(
                prompt=chain(text, "+") if len(text) > 1 else calc("{}", *text),
                kept=calc("{} − {} = {}", have + 1, 1, have) if have else calc("{}", 0),
                run=calc("{} − {} = {}", sum(text), have, sum(text) - have),
            )
            for text, have in zip(texts, rows, strict=True)
        ],
        plain=chain(prompts, "+"),
        cached=chain(runs, "+"),
        times=ratio(sum(prompts), sum(runs)),
    )


def growth() -> Numbers:
    """Rows that are written when a cache grows: by a row each time, by doubling, not at all."""
    per_token, room = PRESETS[LARGE].bytes_per_token(), 1
    while room < TEXT:
        room *= 2
    joined, doubled = triangle(TEXT), TEXT + room - 1
    unlike(joined, doubled, TEXT)
    return Numbers(
        name=LARGE,
        n=TEXT,
        per_token=per_token,
        joined=calc("{} × {} ÷ {} = {}", TEXT, TEXT + 1, 2, joined),
        joined_bytes=chain([joined, per_token], "×"),
        room=room,
        doubled=calc("{} + {} − {} = {}", TEXT, room, 1, doubled),
        doubled_bytes=chain([doubled, per_token], "×"),
        reserved_bytes=chain([TEXT, per_token], "×"),
    )


TASKS = (
    Task("shapes", N_("Shapes, pass by pass"), 2, "compute", 10, 4, shapes),
    Task("turns", N_("The turns of a chat"), 4, "compute", 15, 8, turns),
    Task("copies", N_("Find the bug: several ways to go on"), 5, "bug", 10, 7),
    Task("growth", N_("What it costs to grow"), 6, "compute", 15, 9, growth),
)
