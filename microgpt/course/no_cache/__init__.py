"""Where is there no cache, or one that never grows?"""

from microgpt.errors import N_
from microgpt.viz.page import Page

PAGE = Page(
    "no-cache",
    label=N_("Encoders and hybrids"),
    title=N_("Where is there no cache, or one that never grows?"),
    summary=N_(
        "A GPT may keep its rows because no token sees a later one. Encoders such as BERT and diffusion models let "
        "tokens see ahead, a translator reads a finished text, and linear attention keeps a state in place of rows. "
        "Here the mask changes, and the rows answer."
    ),
    model="names-deep",
    prompt="maria",
    try_=N_("change the mask, and see who reads the new token and which rows go stale layer by layer."),
    notice=N_("without a mask one more token makes every row above the first layer stale."),
    needs=("old-rows",),
    sources=("t5", "whisper", "fast-dllm", "lora"),
    figures=("two", "voided"),
)
