"""What happens if this line is changed?"""

from microgpt.errors import N_
from microgpt.viz.page import Page

PAGE = Page(
    "workbench",
    N_("Workbench"),
    N_("What happens if you change a line?"),
    N_(
        "This is the Python that runs in your browser: the cache, attention, the forward pass and the loop. Change a "
        "line, and the machine is drawn from your code; the checks name the first number that is no longer right."
    ),
    prompt="emm",
    model="names",
    nav=N_("Workbench"),
    editor=True,
    framed=True,
    styles=("token_row", "course/kv_cache", "course/with_and_without", "course/why_q"),
)
