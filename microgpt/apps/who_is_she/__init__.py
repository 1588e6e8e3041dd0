"""Who is “she”?"""

from microgpt.errors import N_
from microgpt.viz.page import Page

PAGE = Page(
    "who-is-she",
    N_("It looks back"),
    N_("Who is “she”?"),
    N_(
        "A text is in the cache, and one more word comes. Here several words ask the same rows, and one head of a "
        "trained model finds the noun of each that stands for one."
    ),
    model="stories",
    prompt="The next day is bright",
    hero="fewer_heads",
    styles=("large",),
    still=True,
)
