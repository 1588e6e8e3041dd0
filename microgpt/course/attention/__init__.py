"""How does a token look back?"""

from microgpt.errors import N_
from microgpt.viz.page import Page

PAGE = Page(
    "attention",
    label=N_("Attention"),
    title=N_("How does a token look back?"),
    summary=N_(
        "To say what comes next, a token must know what came before it. Attention fetches that, with a few "
        "products, one softmax and one weighted sum. Here is all of it for one token, small enough to redo on "
        "paper."
    ),
    model="names",
    prompt="emm",
    try_=N_("go from key to key and redo one line on paper, then let the triangle grow step by step."),
    notice=N_("the weights add up to one, and each step adds one row to the triangle without touching the others."),
    needs=("next-token",),
    sources=("attention", "microgpt"),
    models=("names", "names-deep"),
    figures=("triangle",),
)
