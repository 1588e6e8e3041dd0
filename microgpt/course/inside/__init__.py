"""What happens to one token on its way through the model?"""

from microgpt.errors import N_
from microgpt.viz.page import Page

PAGE = Page(
    "inside",
    label=N_("Inside one step"),
    title=N_("What happens to one token on its way through the model?"),
    summary=N_(
        "A token enters as one row of numbers and leaves as a guess about the next one. Here is every stop in "
        "between, with its real shape and its real numbers; then the place where tokens meet; then all that the "
        "model is made of."
    ),
    model="names",
    prompt="emm",
    try_=N_("follow one token from top to bottom, then swap another and see which stops notice."),
    notice=N_("of all that a step makes, only k and v outlive it, and tokens meet in attention alone."),
    needs=("attention",),
    sources=("attention", "rmsnorm", "memories", "bert-heads", "lora", "gpt2", "smollm2"),
    figures=("alone", "inventory"),
)
