"""Put it into your course."""

from microgpt.errors import N_
from microgpt.viz.page import Page

PAGE = Page(
    "embed-builder",
    N_("Embed"),
    N_("Put it into your course"),
    N_(
        "Every page of the course can stand in a frame: in a lecture, a book, a slide, a notebook. Choose what "
        "your readers see first, and copy the code."
    ),
    nav=N_("Embed"),
    frames=True,
)
