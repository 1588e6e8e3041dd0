"""What does a model of your own keep?"""

from microgpt.errors import N_
from microgpt.viz.page import Page

PAGE = Page(
    "own-model",
    N_("Your model"),
    N_("What does a model of your own keep?"),
    N_(
        "Choose the files of GPT-2, SmolLM2-135M or another checkpoint, and this picture is drawn from them, on "
        "your computer alone."
    ),
    styles=("apps/look_inside", "course/kv_cache", "course/with_and_without", "course/why_q", "large"),
)
