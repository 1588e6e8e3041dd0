"""Can a small model make a large one quicker?"""

from microgpt.errors import N_
from microgpt.viz.page import Page

PAGE = Page(
    "guess-and-check",
    label=N_("Speculative decoding"),
    title=N_("Can a small model make a large one quicker?"),
    summary=N_(
        "A large model takes as long to read its weights for one token as for five. So a small model, the draft, "
        "guesses the next few, and the large one, the target, checks all of them in one pass. This is speculative "
        "decoding, and what is written still has the target’s own distribution."
    ),
    model="names-deep",
    prompt="em",
    try_=N_("go through a round: the guesses come, the target checks them, and rows go again."),
    notice=N_("a draft that guesses badly costs time, and never changes the distribution of what is written."),
    needs=("prefill-and-decode",),
    sources=("speculative", "vllm"),
    models=("names-deep",),
    own_layers=2,
    figures=("pays",),
)
