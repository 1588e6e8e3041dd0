"""What limits a GPU that serves many requests?"""

from microgpt.errors import N_
from microgpt.viz.page import Page

PAGE = Page(
    "reading-limit",
    label=N_("Roofline"),
    title=N_("What limits a GPU that serves many requests?"),
    summary=N_(
        "A step reads weights and rows, and computes with them. More requests share the weights, but not the rows. "
        "The roofline of a GPU shows how far that goes, and what several GPUs can do."
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
