"""How long does each q, k and v live?"""

from microgpt.errors import N_
from microgpt.viz.page import Page

PAGE = Page(
    "why-q",
    label=N_("Why q is not cached"),
    title=N_("How long does each q, k and v live?"),
    summary=N_(
        "Every row that the model makes is made at one step. Here is each of them, with the steps at which it is "
        "read. Keys and values are read at every later step, a query at its own alone, so no cache keeps it."
    ),
    model="names",
    prompt="emm",
    try_=N_("follow one token from left to right; then ask its q again, below."),
    notice=N_("a q is read in one column only, and would say nothing new in any other."),
    needs=("kv-cache",),
    sources=("attention", "mqa", "microgpt"),
    large=True,
    figures=("olds",),
)
