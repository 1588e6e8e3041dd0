"""What does a model learn from words of your own?"""

from microgpt.errors import N_
from microgpt.viz.page import Page

PAGE = Page(
    "train-your-own",
    N_("Train your own"),
    N_("What does a model learn from your words?"),
    N_(
        "Paste the names of your class, cities or a text in any alphabet, and a model learns from it in this page. "
        "Then the lessons run with your model."
    ),
    styles=("token_row", "course/kv_cache", "course/with_and_without", "course/why_q", "course/training"),
)
