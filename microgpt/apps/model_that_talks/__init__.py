"""What does a model that talks keep?"""

from microgpt.errors import N_
from microgpt.viz.page import Page

PAGE = Page(
    "model-that-talks",
    N_("It talks"),
    N_("What does a model that talks keep?"),
    N_(
        "The other models of this course are small enough to be seen whole, and know few words. This one was "
        "trained on much text and writes sentences of its own. Its cache works in the same way, and shows what "
        "only such training brings."
    ),
    model="stories",
    prompt="The next day is bright",
    hero="fewer_heads",
    styles=("course/kv_cache", "large"),
    still=True,
    drawn=(12, 9),
)
