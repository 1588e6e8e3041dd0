"""The sheets of exercises, one for each part of the course."""

from microgpt.errors import N_
from microgpt.viz.page import Page

PAGES = (
    Page(
        "exercises-idea",
        N_("Exercises: the idea"),
        N_("Exercises: the idea"),
        N_("The loop, attention by hand, the rows that are kept, and the work that they save."),
        model="stories",
        prompt="The next day is bright",
        hero="next_token",
    ),
    Page(
        "exercises-right",
        N_("Exercises: why it is right"),
        N_("Exercises: why it is right"),
        N_("Windows, what else could be kept, what a change reaches, and a loss computed by hand."),
        model="names-deep",
        prompt="emma",
        hero="old_rows",
    ),
    Page(
        "exercises-cost",
        N_("Exercises: what it costs"),
        N_("Exercises: what it costs"),
        N_("Memory for a deployment, the least times, drafts, shared heads, and a key that is dropped."),
        model="names",
        prompt="emm",
        hero="memory",
    ),
    Page(
        "exercises-code",
        N_("Exercises: in your code"),
        N_("Exercises: in your code"),
        N_("A cache to write, with tests, shapes to fill in, turns of a chat, and a test that you can trust."),
        model="stories",
        prompt="The next day is bright",
        hero="in_your_code",
    ),
    Page(
        "exercises-engines",
        N_("Exercises: what engines do"),
        N_("Exercises: what engines do"),
        N_("Block tables worked out by hand, readers that fit on a GPU, and a chat that begins with the time."),
        model="names-deep",
        prompt="li",
        hero="pages",
    ),
)
