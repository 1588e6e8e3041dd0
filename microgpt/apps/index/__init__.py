"""The KV cache of a GPT, made visible."""

from microgpt.errors import N_
from microgpt.viz.page import Page

PAGE = Page(
    "index",
    N_("Start"),
    N_("The KV cache of a GPT, made visible"),
    N_("Without a cache, a GPT computes the keys and values of its whole text again for every token that it adds."),
    model="names",
    prompt="emm",
    hero="why_q",
    nav=N_("Course"),
)
