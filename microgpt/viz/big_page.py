"""A page of the course for a large model; the stepper's speaks of its name and shape. Knows no HTML."""

from __future__ import annotations

from markupsafe import escape

from microgpt.errors import N_
from microgpt.viz.big import BigPicture
from microgpt.viz.language import say
from microgpt.viz.pages import Page
from microgpt.viz.text import show
from microgpt.weights import Model

TITLE = N_("Why does %(model)s keep K and V, and throw Q away?")
SUMMARY = N_(
    "%(model)s writes one token at a time, through %(layers)s layers with %(heads)s heads each. In every layer, each "
    "head asks with a query of %(head_dim)s numbers; keys and values are kept for all later steps. Here are some of "
    "these heads at work on a real text, and all of them at once."
)
SHARED = N_(
    "%(model)s writes one token at a time, through %(layers)s layers. In each, %(heads)s heads ask, each with a query "
    "of %(head_dim)s numbers, and share %(kv_heads)s heads of keys and values, which are kept for all later steps. "
    "Here are some of these heads at work on a real text, and all of them at once."
)
TRY = N_(
    "step from token to token, or walk the stages of one step; then press a framed head in the picture of all heads."
)
NOTICE = N_("every step adds one row of K and V to each layer, reads all the rows, and leaves no row of q.")


def page_for(page: Page, model: Model, prompt: str, view: BigPicture) -> Page:
    """`page` for that model and text, in the language that is set. No live form: the weights do not travel."""

    def words(message: str) -> str:
        text = say(message, model=show(model.name).replace("␣", " "), **view.facts)
        return str(escape(text)).replace("%", "%%")  # templates take a page's words for messages, not for text

    page = page._replace(model=model.name, prompt=prompt, models=(model.name,), live="", extra="")
    if page.widget != "stepper":
        return page  # the others say nothing of their model
    c = model.config
    return page._replace(
        title=words(TITLE), summary=words(SUMMARY if c.n_kv_head == c.n_head else SHARED), try_=words(TRY),
        notice=words(NOTICE),
    )  # fmt: skip
