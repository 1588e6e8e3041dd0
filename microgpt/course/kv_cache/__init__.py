"""Why does a GPT keep K and V, and throw Q away?"""

from microgpt.errors import N_
from microgpt.viz.page import Page

PAGE = Page(
    "kv-cache",
    label=N_("The KV cache"),
    title=N_("Why does a GPT keep K and V, and throw Q away?"),
    summary=N_(
        "A GPT writes one token at a time. For every token it computes three small vectors: a query q, a key k and "
        "a value v. Keys and values are kept for all later steps: they are the KV cache. Here is each of these "
        "vectors, in a model that has learned to write first names letter by letter."
    ),
    model="names",
    prompt="emm",
    try_=N_("step from token to token, or walk the seven stages of one step."),
    notice=N_("every step adds one row of K and V, reads all the rows, and leaves no row of q."),
    needs=("attention",),
    sources=("attention", "microgpt", "makemore", "transformers"),
    live="steps",
    styles=("token_row",),
    large=True,
)
