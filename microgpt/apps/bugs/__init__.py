"""Which bugs do KV caches really have?"""

from microgpt.errors import N_
from microgpt.viz.page import Page

PAGE = Page(
    "bugs",
    N_("Real bugs"),
    N_("Which bugs do KV caches really have?"),
    N_(
        "Each of these was told of in public by somebody who had it. Here each is made in the code of this course, "
        "run, and drawn: the first row that is wrong, beside what it should be."
    ),
    model="names",
    prompt="emmali",
    live="",
    styles=("apps/workbench",),
)
