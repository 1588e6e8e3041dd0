"""How many bits does a row need?"""

from microgpt.errors import N_
from microgpt.viz.page import Page

PAGE = Page(
    "fewer-bits",
    label=N_("Quantised cache"),
    title=N_("How many bits does a row need?"),
    summary=N_(
        "A number of the cache takes two bytes in most engines. In a quantised cache it takes half of that, or a "
        "quarter: it is moved to the nearest of a few points, and only the number of that point is kept. Here is "
        "what this does to a row, and to the answer."
    ),
    model="stories",
    prompt="The next day is bright and the sun",
    spoken=(("es", "cuentos", "El nuevo día es claro y el sol"),),
    try_=N_("take bits away, then make one channel large, and watch the lines that the numbers may lie on."),
    notice=N_(
        "no number is off by more than half the distance between two lines, and who shares a grid decides how wide "
        "it is."
    ),
    needs=("fewer-heads",),
    sources=("kivi", "vllm", "llama.cpp", "transformers"),
    figures=("axes", "formats"),
)
