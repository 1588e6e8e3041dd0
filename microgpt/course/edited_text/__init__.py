"""What happens to the cache when the middle of a text is edited?"""

from microgpt.errors import N_
from microgpt.viz.page import Page

PAGE = Page(
    "edited-text",
    label=N_("Edited text"),
    title=N_("What happens to the cache when the middle of a text is edited?"),
    summary=N_(
        "One token of a text is replaced. Which rows of the old cache may stay, how many tokens must run again, and "
        "what if the stale rows are used all the same?"
    ),
    model="names-deep",
    prompt="juliann",
    try_=N_("edit the first token, then the last."),
    notice=N_("only rows before the edit may stay: the earlier it is, the more must run again."),
    needs=("old-rows",),
    sources=("paged", "radix", "vllm"),
    models=("names-deep", "stories"),
)
