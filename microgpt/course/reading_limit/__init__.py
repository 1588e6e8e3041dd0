"""What limits a card that serves many texts?"""

from microgpt.errors import N_
from microgpt.viz.page import Page

PAGE = Page(
    "reading-limit",
    label=N_("Reading"),
    title=N_("What limits a card that serves many texts?"),
    summary=N_(
        "A step reads weights and rows, and computes with them. More texts share the weights, but not the rows. "
        "Here is how far that goes on a real card, and what several cards can do."
    ),
    model="stories",
    prompt="The next day is bright",
    spoken=(("es", "cuentos", "El nuevo día es claro"),),
    try_=N_("make the texts longer, and watch where the dots come to a stand."),
    notice=N_("more texts move a dot to the right until rows stop it; the longer the texts, the earlier."),
    needs=("many-at-once", "in-pieces", "fewer-heads"),
    sources=("h100", "scaling", "llama3", "distserve", "vllm"),
    figures=("ranks", "travel"),
)
