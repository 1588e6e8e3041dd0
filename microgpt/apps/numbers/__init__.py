"""The numbers behind the strips of pages with a trained model, a page for each, since they are many."""

from microgpt.errors import N_
from microgpt.viz.page import Page

SUMMARY = N_(
    "What each strip of the open heads holds, one number after the other, step by step; what each step costs, and how "
    "it was checked."
)
PAGES = tuple(
    Page(name, label, title, SUMMARY, model="stories", prompt="The next day is bright", hero="fewer_heads", still=True)
    for name, label, title in (
        ("model-that-talks-numbers", N_("Its numbers"), N_("The numbers of a model that talks")),
        ("chat-turn-numbers", N_("Its numbers"), N_("The numbers of a turn of a chat")),
    )
)
