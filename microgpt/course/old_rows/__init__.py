"""Why does a row, once written, stay right?"""

from microgpt.errors import N_
from microgpt.viz.page import Page

PAGE = Page(
    "old-rows",
    label=N_("Cached rows stay valid"),
    title=N_("Why does a row, once written, stay right?"),
    summary=N_(
        "A cache is only as good as its oldest row. Change something and see which rows a fresh run would write "
        "differently, layer by layer."
    ),
    model="names-deep",
    prompt="emma",
    try_=N_("change an early token and press play; then append one."),
    notice=N_(
        "a change makes rows above it and to its right stale, never to its left; an appended token makes none stale."
    ),
    needs=("inside", "kv-cache"),
    sources=("attention", "paged", "vllm"),
)
