"""What is inside a file of weights?"""

from microgpt.errors import N_
from microgpt.viz.page import Page

PAGE = Page(
    "look-inside",
    N_("Look inside"),
    N_("What is inside a file of weights?"),
    N_(
        "Two well-known models as their files, drawn to scale beside their caches. A file of yours can be looked "
        "into too; it never leaves your computer."
    ),
    nav=N_("Look inside"),
)
