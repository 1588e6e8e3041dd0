"""What do requests that begin alike share?"""

from microgpt.errors import N_
from microgpt.viz.page import Page

PAGE = Page(
    "shared-prefixes",
    label=N_("Prefix caching"),
    title=N_("What do requests that begin alike share?"),
    summary=N_(
        "Many requests to an engine begin with the same tokens: the same instructions, the same question asked "
        "twice. Their first rows are equal, so a prefix cache keeps them once. Here several texts hold the same "
        "blocks, and each runs the rest."
    ),
    model="names-deep",
    prompt="christ",
    try_=N_("step through what happens to four texts, and follow each line through the blocks that its text holds."),
    notice=N_("a block is kept once, however many lines run through it; after a changed token nothing is found."),
    needs=("pages", "old-rows"),
    sources=("paged", "radix", "vllm", "nano-vllm", "sglang"),
    models=("names-deep",),
    own_layers=2,
    figures=("chat",),
)
