"""What does the cache save, and is the answer the same?"""

from microgpt.errors import N_
from microgpt.viz.page import Page

PAGE = Page(
    "with-and-without",
    label=N_("With and without a cache"),
    title=N_("What does the cache save, and is the answer the same?"),
    summary=N_(
        "One text, run twice by the same model. With the cache, each step runs one token and reads what was kept "
        "of the others. Without it, nothing is kept, and every step runs the whole text again."
    ),
    model="names",
    prompt="emm",
    try_=N_("go through the steps, and watch the rows that are computed again."),
    notice=N_("the logits are the same in both runs, while the work without the cache grows and grows."),
    extra="live",
    styles=("live",),
    needs=("kv-cache",),
    sources=("scaling", "picogpt", "gpt2"),
    large=True,
    figures=("work", "far", "exact"),
)
