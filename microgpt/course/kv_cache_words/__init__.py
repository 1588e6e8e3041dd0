"""The same cache, with words: two layers, and heads that share"""

from microgpt.errors import N_
from microgpt.viz.page import Page

PAGE = Page(
    "kv-cache-words",
    widget="kv_cache",
    label=N_("Layers, shared heads"),
    title=N_("The same cache, with words: two layers, and heads that share"),
    summary=N_(
        "This model writes short sentences word by word. It has two layers, and each pair of query heads shares "
        "one key head and one value head, so its cache is half of what it would be without sharing. Its keys are "
        "rotated by their position before they are kept."
    ),
    model="stories",
    prompt="The next day is bright",
    spoken=(("es", "cuentos", "El nuevo día es claro"),),
    try_=N_("step from token to token, or walk the seven stages of one step."),
    notice=N_("every step adds one row of K and V to each layer, and leaves no row of q."),
    needs=("kv-cache",),
    sources=("rope", "gqa", "transformers"),
    live="steps",
    styles=("token_row",),
    large=True,
)
