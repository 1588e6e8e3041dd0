"""What if there is no room for another row?"""

from microgpt.errors import N_
from microgpt.viz.page import Page

PAGE = Page(
    "full-cache",
    label=N_("Eviction and windows"),
    title=N_("What if there is no room for another row?"),
    summary=N_(
        "A cache grows with its text, and memory ends. Then a text must stop, or go on with fewer rows than it has "
        "tokens. Here one text is run in too little memory, with a window, with attention sinks, and with the "
        "eviction policies that papers propose."
    ),
    model="stories",
    prompt="The next day is bright and",
    spoken=(("es", "cuentos", "El nuevo día es claro y"),),
    try_=N_("go step by step and see which row falls through the floor; then change what stays."),
    notice=N_("as long as nothing has left, nothing is off; after that every method is an approximation."),
    needs=("pages", "old-rows", "most-read"),
    sources=("sinks", "h2o", "snapkv", "llama.cpp", "vllm"),
    figures=("comparison", "sinks", "shift"),
)
