"""How do many requests share one memory?"""

from microgpt.errors import N_
from microgpt.viz.page import Page

PAGE = Page(
    "pages",
    label=N_("PagedAttention"),
    title=N_("How do many requests share one memory?"),
    summary=N_(
        "An engine serves many requests at once, and each has a cache that grows. Nobody knows how long it will "
        "get. So vLLM’s PagedAttention cuts memory into small blocks. Here two texts take turns in such a memory."
    ),
    model="names-deep",
    prompt="li",
    try_=N_("step through the turns, and follow a row from its text through the table to its slot."),
    notice=N_("no room is kept for rows to come, and what one text gives back the other takes."),
    needs=("memory",),
    sources=("paged", "vllm", "nano-vllm", "sglang"),
    models=("names", "names-deep"),
    figures=("policies",),
)
