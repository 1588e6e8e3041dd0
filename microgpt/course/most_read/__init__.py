"""Which key gets the most attention?"""

from microgpt.errors import N_
from microgpt.viz.page import Page

PAGE = Page(
    "most-read",
    label=N_("Heavy hitters"),
    title=N_("Which key gets the most attention?"),
    summary=N_(
        "Every query reads every row of the cache that it may see, but does not give each the same weight. Here is "
        "what each row has received, head by head, over all steps. Policies such as H2O keep the rows with the "
        "most, the heavy hitters."
    ),
    model="stories",
    prompt="The next day is bright",
    spoken=(("es", "cuentos", "El nuevo día es claro"),),
    try_=N_("go from head to head, and look for a row that stands out."),
    notice=N_("how often a row is read follows from its place; how much weight it gets does not."),
    needs=("kv-cache",),
    sources=("sinks", "h2o"),
)
