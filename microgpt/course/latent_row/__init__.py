"""Can all heads share one compressed row?"""

from microgpt.errors import N_
from microgpt.viz.page import Page

PAGE = Page(
    "latent-row",
    label=N_("Latent attention (MLA)"),
    title=N_("Can all heads share one compressed row?"),
    summary=N_(
        "Sharing key heads makes rows fewer. Multi-head latent attention (MLA) keeps, for all heads together, a "
        "single short row from which keys and values are computed. DeepSeek’s models do so. Here is a small model "
        "that was trained that way."
    ),
    model="stories-mla",
    prompt="The next day is bright and the sun",
    try_=N_("change how the scores are computed, and look at what is made for each head and thrown away again."),
    notice=N_("both ways give the same answer, and what is kept stays one short row per token."),
    needs=("fewer-heads",),
    sources=("deepseek-v2", "deepseek-v3", "linear-attention", "gated-delta", "transformers"),
    models=("stories-mla",),
    spoken=(("es", "cuentos-mla", "El nuevo día es claro y el sol"),),
    figures=("trained", "growth", "recalled"),
)
