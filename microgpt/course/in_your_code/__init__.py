"""How do you use a cache in your own code?"""

from microgpt.errors import N_
from microgpt.viz.page import Page

PAGE = Page(
    "in-your-code",
    label=N_("In your code"),
    title=N_("How do you use a cache in your own code?"),
    summary=N_(
        "The loop that writes a text is short in every library. Here it is in plain NumPy, with this package and "
        "with transformers: what to feed, what comes back, and what goes wrong."
    ),
    model="stories",
    prompt="The next day is bright",
    try_=N_("go from pass to pass, and rest on a line of code or on a strip: what belongs together is lit."),
    notice=N_("with a cache one id goes in per pass, and only the length of what is kept grows."),
    needs=("prefill-and-decode", "fewer-heads"),
    sources=("transformers", "llama3", "gpt2"),
    live="",
    models=("stories",),
    spoken=(("es", "cuentos", "El nuevo día es frío"),),
    extra="live",
    styles=("live",),
    figures=("loops",),
)
