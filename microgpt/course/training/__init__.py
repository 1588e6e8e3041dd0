"""Does training need a cache?"""

from microgpt.errors import N_
from microgpt.viz.page import Page

PAGE = Page(
    "training",
    label=N_("Training"),
    title=N_("Does training need a cache?"),
    summary=N_(
        "A model learns from whole texts at once, so nothing is ever computed twice. It could use a cache all the "
        "same. Here is what would flow through it, and the training itself."
    ),
    model="names",
    prompt="emma",
    try_=N_("go on to all at once and look at the mask; then train the model below from its first step."),
    notice=N_(
        "the losses are the same with and without a cache; early rows learn most from those who read them later."
    ),
    needs=("kv-cache",),
    sources=("microgpt", "makemore", "adam"),
    extra="live",
    figures=("learned", "broken"),
)
