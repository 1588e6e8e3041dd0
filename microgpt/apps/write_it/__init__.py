"""Can you write the functions of a KV cache yourself?"""

from microgpt.errors import N_
from microgpt.viz.page import Page

PAGE = Page(
    "write-it",
    N_("Write it yourself"),
    N_("Can you write the functions of a KV cache yourself?"),
    N_(
        "Each begins with an empty function. Its tests run in your browser, and a test that fails shows the number "
        "that is wrong."
    ),
    live="",
    editor=True,
)
