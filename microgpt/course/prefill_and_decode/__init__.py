"""Why is the first token slow to come, and each later one quick?"""

from microgpt.errors import N_
from microgpt.viz.page import Page

PAGE = Page(
    "prefill-and-decode",
    label=N_("Prefill and decode"),
    title=N_("Why is the first token slow to come, and each later one quick?"),
    summary=N_(
        "Before a model can write, it must read the prompt. It reads all of it in one big pass, then writes one "
        "token per pass. Both use the same function and fill the same cache, but they keep a processor busy in "
        "very different ways."
    ),
    model="stories",
    prompt="The next day is bright",
    spoken=(("es", "cuentos", "El nuevo día es claro"),),
    try_=N_("let one token after the other come, and see what each pass waits for."),
    notice=N_("the pass of a long prompt computes for longer than it reads; all others wait for the reading."),
    needs=("with-and-without",),
    sources=("scaling", "chunked", "speculative", "flash", "paged", "a100", "llama3"),
    figures=("passes", "busy", "rounds"),
)
