"""A page of the course for a large model: which pages can be, what each draws, and what it says of the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from microgpt.course import LESSONS
from microgpt.errors import N_, UserError
from microgpt.viz.controls import View
from microgpt.viz.large.family import of_family
from microgpt.viz.large.picture import BigPicture
from microgpt.viz.lesson import module_of
from microgpt.viz.page import Page
from microgpt.viz.text.formats import show, whole
from microgpt.viz.text.language import say
from microgpt.weights import Model

FIRST_PLACE = [0]  # the layer and the head that a page other than the stepper draws

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
RECORDED = N_("Recorded from %(engine)s, in %(dtype)s, on %(device)s.")
TRY = N_(
    "step from token to token, or walk the stages of one step; then press a framed head in the picture of all heads."
)
NOTICE = N_("every step adds one row of K and V to each layer, reads all the rows, and leaves no row of q.")
NOT_ALL = N_(
    "every step adds one row of K and V where rows are kept, reads what the layer keeps, and leaves no row of q."
)


def heads_for(
    page: Page, asked: str, layers: Sequence[int], heads: Sequence[int]
) -> tuple[Sequence[int], Sequence[int]]:
    """The layers and the heads to open on `page`, which was asked for by that name; none of them: those of the rule.

    Raises UserError for a page that cannot be made from a checkpoint, or with these.
    """
    if not page.large:
        known = [one.name for one in LESSONS if one.large and one.widget != "kv_cache"]
        sentence = N_("The widget “%(widget)s” cannot be made from a checkpoint; these can: %(known)s.")
        raise UserError(sentence, widget=asked, known=", ".join(["stepper", *known]))
    if page.widget == "kv_cache":
        return layers, heads
    if layers or heads:
        raise UserError("layers and heads are for the stepper; leave them out.")
    return FIRST_PLACE, FIRST_PLACE


def view_of(page: Page, model: Model, picture: BigPicture) -> View:
    """What the templates of that page place."""
    made: View = module_of(page.widget).of_large(model, picture)
    return made


def choices_of(page: Page, view: BigPicture, start: Mapping[str, Any]) -> dict[str, Any]:
    """`start` as the page's controls have it: on the stepper, layer and head are one choice."""
    chosen = dict(start)
    if page.widget != "kv_cache":
        return chosen
    layer, head = chosen.pop("layer", None), chosen.pop("head", None)
    if layer is None and head is None:
        return chosen
    fitting = [one for one in view.open_heads if layer in (None, one.layer) and head in (None, one.head)]
    if not fitting:
        raise UserError(
            "Layer %(layer)s, head %(head)s is not open on this page; open it with the options layers and heads.",
            layer="–" if layer is None else layer,
            head="–" if head is None else head,
        )
    return {**chosen, "head": fitting[0].value}


def page_for(page: Page, view: BigPicture) -> Page:
    """`page` for the model and the text of that run, in the language that is set. No live form: no weights travel."""
    name, c = view.about["model"], view.config
    page = page._replace(model=name, prompt=view.about["prompt"], models=(name,), live="", extra="")
    if page.widget != "kv_cache":
        return page  # the others say nothing of their model

    def words(message: str) -> str:
        return say(
            message,
            model=show(name).replace("␣", " "),
            layers=whole(c.n_layer),
            heads=whole(c.n_head),
            kv_heads=whole(c.n_kv_head),
            head_dim=whole(c.head_dim),
        )

    summary = words(SUMMARY if c.n_kv_head == c.n_head else SHARED)
    recorded, notice = "", words(NOTICE if view.grows_evenly else NOT_ALL)
    if "engine" in view.about:
        ran = {name: view.about.get(name) or "–" for name in ("engine", "dtype", "device")}
        recorded = " ".join([say(RECORDED, **ran), *of_family(view)])
    return page._replace(title=words(TITLE), summary=summary, try_=words(TRY), notice=notice, recorded=recorded)
