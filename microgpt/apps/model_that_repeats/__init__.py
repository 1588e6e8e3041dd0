"""Why does it say the same again?"""

from microgpt.errors import N_
from microgpt.viz.page import Page

PAGE = Page(
    "model-that-repeats",
    N_("It repeats"),
    N_("Why does it say the same again?"),
    N_(
        "A model that always takes the likeliest token can come back to its own words, and each time it is surer "
        "of them. Here are the same words, round after round, and what becomes of it when the rows of the earlier "
        "rounds are taken out of the cache."
    ),
    model="stories",
    prompt="The next day is bright",
    hero="fewer_heads",
    still=True,
)
