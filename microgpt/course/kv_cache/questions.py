"""Questions about the cache: what it holds, a bug that makes it forget, and one to write."""

from __future__ import annotations

from types import SimpleNamespace as Numbers

from microgpt.cost import kv_bytes
from microgpt.errors import N_
from microgpt.viz.text.tasks import Task, calc, chain, ratio, triangle
from microgpt.weights import shipped

MODEL, T = "stories", 7  # steps of the cache that is counted


def sizes() -> Numbers:
    """What the cache holds after some steps, and what has been read."""
    c = shipped(MODEL).config
    row, read = 2 * c.n_kv_head * c.head_dim, triangle(T) * c.n_layer * 2 * c.n_kv_head * c.head_dim
    return Numbers(
        t=T,
        config=c,
        row=chain([2, c.n_kv_head, c.head_dim], "×"),
        held=chain([T, c.n_layer, row], "×"),
        half=chain([kv_bytes(c, T, 1), 2], "×"),
        read=calc("{} × {} ÷ {} = {}; {} × {} × {} = {}", T, T + 1, 2, triangle(T), triangle(T), c.n_layer, row, read),
        own=ratio(T, triangle(T)),
    )


TASKS = (
    Task("grown", N_("What has been kept, and read"), 5, "compute", 10, 8, sizes, also=("kv-cache-words",)),
    Task("alias", N_("Find the bug: a cache that forgets"), 6, "bug", 10, 7),
    Task("write", N_("Write a cache"), 1, "write", 60, 0, also=("prefill-and-decode", "in-your-code")),
)
