"""Does attention need a whole row of scores?"""

from microgpt.errors import N_
from microgpt.viz.page import Page

PAGE = Page(
    "in-pieces",
    label=N_("FlashAttention"),
    title=N_("Does attention need a whole row of scores?"),
    summary=N_(
        "Softmax divides by the sum over all keys, so it seems to need them all at once. It does not: a tile of a "
        "few keys at a time is enough, and the answer is the same. This is how FlashAttention works."
    ),
    model="names-deep",
    prompt="adrianna",
    try_=N_("go from tile to tile, and watch what happens to the earlier bars when a larger score comes."),
    notice=N_("nothing is left out: what was summed before is only made smaller."),
    needs=("prefill-and-decode",),
    sources=("online-softmax", "flash", "flash-2", "paged"),
    figures=("moved", "halves"),
)
