"""How does one model answer many people at once?"""

from microgpt.errors import N_
from microgpt.viz.page import Page

PAGE = Page(
    "many-at-once",
    label=N_("Continuous batching"),
    title=N_("How does one model answer many people at once?"),
    summary=N_(
        "A pass that writes one token reads all the weights, and a pass that writes a token for each of many "
        "requests reads them once too. So engines run requests together and let new ones in at every pass: "
        "continuous batching. Who is let in, and when, decides how long each waits."
    ),
    model="stories",
    prompt="The next day is bright and",
    spoken=(("es", "cuentos", "El nuevo día es claro y"),),
    try_=N_("change the policy, and go back to the first pass of each: who runs, who waits?"),
    notice=N_("each text writes the same tokens under all policies; only the waiting differs."),
    needs=("prefill-and-decode", "pages"),
    sources=("orca", "sarathi-serve", "paged", "vllm"),
    models=("stories",),
    figures=("requests",),
)
