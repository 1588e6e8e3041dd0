"""What is a chat to a model?"""

from microgpt.errors import N_
from microgpt.viz.page import Page

PAGE = Page(
    "chat-turn",
    N_("It answers"),
    N_("What is a chat to a model?"),
    N_(
        "A question, and the answer of a trained model, token by token: the marks between the turns, words that "
        "are cut in two, and heads that look back at what was asked."
    ),
    model="stories",
    prompt="The next day is bright",
    hero="fewer_heads",
    styles=("course/kv_cache", "large", "apps/model_that_talks"),
    still=True,
    drawn=(22, 2),
)
