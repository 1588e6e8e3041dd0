"""Does every query head need its own keys and values?"""

from microgpt.errors import N_
from microgpt.viz.page import Page

PAGE = Page(
    "fewer-heads",
    label=N_("GQA and MQA"),
    title=N_("Does every query head need its own keys and values?"),
    summary=N_(
        "What is cached for a token grows with the number of key and value heads. In grouped-query attention (GQA) "
        "several query heads share one of them, in multi-query attention (MQA) all share one, and in latent "
        "attention (MLA) all read a single short row. Here is one model in each of these ways."
    ),
    model="stories",
    prompt="The next day is bright",
    spoken=(("es", "cuentos", "El nuevo día es claro"),),
    try_=N_("take heads away, and see what is kept and what the model then writes."),
    notice=N_("the query heads stay; only what they read becomes less."),
    needs=("memory",),
    sources=("mqa", "gqa", "deepseek-v2", "deepseek-v3", "smollm2", "llama3"),
    figures=("all_ways", "trained", "smol"),
)
