"""Exercises of the fourth part: the cache written, shapes of a loop, turns of a chat, shared caches, how one grows.

Knows no HTML.
"""

from __future__ import annotations

from typing import NamedTuple

from microgpt.apps.exercises.sheet import Calc, Task, calc, chain, listing, triangle, unlike
from microgpt.architectures.known import PRESETS
from microgpt.config import Config

LESSON = ("in-your-code",)
TASKS = (
    Task("write", "write", 60, 0, ("kv-cache", "prefill-and-decode", *LESSON)),
    Task("shapes", "compute", 10, 4, LESSON),
    Task("kept", "write", 20, 12, ("old-rows", *LESSON)),
    Task("turns", "compute", 15, 8, LESSON),
    Task("copies", "bug", 10, 7, LESSON),
    Task("growth", "compute", 15, 9, LESSON),
    Task("trust", "explain", 15, 9, ("with-and-without", *LESSON)),
)
LARGE = "Llama-3-8B"
PROMPT, PASSES = 9, 4
CHAT = (820, 260, 45, 310, 70)  # tokens: first prompt, answer, question, answer, question
TEXT = 4000  # tokens, token by token
OLD, NEW = [5, 8, 2, 9, 4, 7], [5, 8, 2, 6, 4, 7, 1]


class Pass(NamedTuple):
    """What goes into a pass, and what the cache has after it."""

    i: int
    ids: str
    positions: str
    length: int
    keys: str


class Turn(NamedTuple):
    """A turn of a chat: its prompt, the rows that lie there already, and what must run."""

    prompt: Calc
    kept: Calc
    run: Calc


class Turns(NamedTuple):
    first: int
    answer: int
    question: int
    second: int
    last: int
    turns: list[Turn]
    plain: Calc
    cached: Calc
    times: Calc


class Growth(NamedTuple):
    """Rows that are written when a cache grows: by a row each time, by doubling, not at all."""

    n: int
    per_token: int
    joined: Calc
    joined_bytes: Calc
    room: int
    doubled: Calc
    doubled_bytes: Calc
    reserved_bytes: Calc
    rule: str = "T × (T + 1) ÷ 2"


class Kept(NamedTuple):
    code: str
    old: list[int]
    new: list[int]
    n: int
    run: int


class Numbers(NamedTuple):
    name: str
    config: Config
    prompt: int
    solution: str
    passes: list[Pass]
    kept: Kept
    turns: Turns
    copies: str
    growth: Growth


def numbers() -> Numbers:
    c = PRESETS[LARGE].config
    return Numbers(LARGE, c, PROMPT, listing("solution"), passes(c), kept(), turns(), listing("copies"), growth())


def passes(c: Config) -> list[Pass]:
    found = []
    for i in range(1, PASSES + 1):
        n, start = (PROMPT, 0) if i == 1 else (1, PROMPT + i - 2)
        positions = f"{start}–{start + n - 1}" if n > 1 else f"{start}"
        found.append(Pass(i, f"[1, {n}]", positions, start + n, f"[1, {c.n_kv_head}, {start + n}, {c.head_dim}]"))
    return found


def kept() -> Kept:
    n = next(i for i, (one, other) in enumerate(zip(OLD, NEW, strict=False)) if one != other)
    return Kept(listing("kept"), OLD, NEW, n, len(NEW) - n)


def turns() -> Turns:
    first, answer, *_ = CHAT
    prompts = [first, sum(CHAT[:3]), sum(CHAT)]
    rows = [0, first + answer - 1, sum(CHAT[:4]) - 1]
    pieces = [CHAT[:1], CHAT[:3], CHAT]
    found = [
        Turn(
            chain(piece, "+", prompt) if len(piece) > 1 else calc("{}", prompt),
            calc("{} − {} = {}", have + 1, 1, have) if have else calc("{}", 0),
            calc("{} − {} = {}", prompt, have, prompt - have),
        )
        for piece, prompt, have in zip(pieces, prompts, rows, strict=True)
    ]  # fmt: skip
    runs = [prompt - have for prompt, have in zip(prompts, rows, strict=True)]
    unlike(sum(prompts), sum(runs))
    return Turns(
        *CHAT, found, chain(prompts, "+", sum(prompts)), chain(runs, "+", sum(runs)),
        calc("{} ÷ {} = {}", sum(prompts), sum(runs), sum(prompts) / sum(runs)),
    )  # fmt: skip


def growth() -> Growth:
    per_token = PRESETS[LARGE].bytes_per_token()
    room = 1
    while room < TEXT:
        room *= 2
    joined, doubled = triangle(TEXT), TEXT + room - 1
    unlike(joined, doubled, TEXT)
    return Growth(
        TEXT, per_token,
        joined=calc("{} × {} ÷ {} = {}", TEXT, TEXT + 1, 2, joined),
        joined_bytes=chain([joined, per_token], "×", joined * per_token),
        room=room, doubled=calc("{} + {} − {} = {}", TEXT, room, 1, doubled),
        doubled_bytes=chain([doubled, per_token], "×", doubled * per_token),
        reserved_bytes=chain([TEXT, per_token], "×", TEXT * per_token),
    )  # fmt: skip
