"""show("emma"): a page of the course on a text of your own, in a notebook; its numbers as arrays; saved as a page.

A cell's output holds two forms. The full one is a page in a frame, which steps without any script. Where a notebook
is not trusted, frame and style are taken away by the notebook, and what is left are plain tables, one a step.
Knows no browser and no notebook program; docs/notebooks.md says what each of them leaves.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from microgpt.checkpoints.assemble import Precision
from microgpt.checkpoints.files import ENDING
from microgpt.checkpoints.folder import load_checkpoint
from microgpt.checkpoints.ours import load
from microgpt.errors import UserError
from microgpt.files import write_whole
from microgpt.trace import Trace, TraceArrays
from microgpt.viz import figures, views
from microgpt.viz.controls import View, figure_values, on_show
from microgpt.viz.drawing.picture import Picture
from microgpt.viz.large.from_checkpoint import choices_of, heads_for, page_for, view_of
from microgpt.viz.large.from_trace import drawable, picture_of_trace
from microgpt.viz.large.picture import BigPicture, picture_of_model
from microgpt.viz.lesson import Page, lesson_named
from microgpt.viz.notebook.tables import plain
from microgpt.viz.rendering.assets import STYLE
from microgpt.viz.rendering.policy import policy
from microgpt.viz.rendering.render import by_itself, render
from microgpt.viz.rendering.style import heat_colours, own_style, style
from microgpt.viz.request import Request, check_looks, drop_missing, request
from microgpt.viz.settings import Settings, keep_own
from microgpt.viz.text.language import language
from microgpt.weights import SHIPPED

ASSETS = ("inline", "directory")
HEIGHT = 512  # pixels: in a frame no higher than this the steps stay in reach, and the cache comes first


def show(
    prompt: str | Trace | TraceArrays = "",
    model: str | Path = "",
    widget: str = "stepper",
    *,
    step: int | None = None,
    layer: int | None = None,
    head: int | None = None,
    phase: int | None = None,
    theme: str = "auto",
    lang: str = "en",
    height: int = HEIGHT,
    temperature: float = 0.0,
    top_k: int = 0,
    seed: int = 42,
    new: int | None = None,
    layers: int | Sequence[int] = (),
    heads: int | Sequence[int] = (),
    dtype: Precision = "float32",
    **choices: object,
) -> Shown:
    """A page of the course, or its widget by name, on `prompt`; without one, on the page's own text.

    step, layer, head, phase and any other name of a group of buttons on the page (old=2) say what is chosen at
    first. theme is auto, light or dark; height is that of the frame, in pixels. Raises UserError for what the model
    or the page does not have.

    model is one of ours, the .safetensors file of one that you trained, or the folder of a checkpoint. Of a checkpoint,
    `new` says how many tokens it adds, always the likeliest; layers and heads which of its heads are open; dtype what
    it computes in.

    In place of a prompt, a trace: show(trace) draws the stepper of a run that is over, by whatever engine.
    """
    check_types(locals())
    asked = {"step": step, "layer": layer, "head": head, "phase": phase, **choices}
    layers, heads = (list(at) if isinstance(at, Sequence) else [at] for at in (layers, heads))
    if not isinstance(prompt, str):
        if (model, widget, temperature, top_k, seed, new, dtype) != ("", "stepper", 0.0, 0, 42, None, "float32"):
            raise UserError("A trace is drawn as it is, by the stepper; leave out what a run would need.")
        run = picture_of_trace(prompt if isinstance(prompt, Trace) else prompt.trace, layers, heads)
        settings = Settings(run.about["model"], run.about["prompt"])
        with drawable():
            return large_page(Request(lesson_named("stepper"), settings, asked, lang, theme), run, run, height)
    if is_folder(model):
        if (temperature, top_k, seed) != (0.0, 0, 42):
            raise UserError("A checkpoint adds the likeliest token; leave temperature, top_k and seed out.")
        check_looks(lang, theme)
        page = lesson_named(widget)
        opened = heads_for(page, widget, layers, heads)
        loaded = load_checkpoint(Path(model), dtype)
        large = picture_of_model(loaded, prompt, new, *opened)
        view = view_of(page, loaded, large)
        return large_page(Request(page, Settings(loaded.name, prompt), asked, lang, theme), view, large, height)
    if str(model).endswith(ENDING):  # one of ours, as small as those that ship
        keep_own(load(model), str(model))
    if (new, layers, heads, dtype) != (None, [], [], "float32"):
        raise UserError("new, layers, heads and dtype are for a checkpoint: give its folder as the model.")
    order = request(widget, str(model), prompt, asked, lang, theme, temperature, top_k, seed)
    own = views.view(order.page.widget, order.settings)
    return Shown(order, own, own if isinstance(own, Picture) else Picture(order.settings.trace()), height)


TAKES: dict[str, tuple[type, ...]] = {
    "prompt": (str, Trace, TraceArrays),
    "model": (str, Path),
    **dict.fromkeys(("widget", "theme", "lang"), (str,)),
    **dict.fromkeys(("temperature", "top_k", "seed"), (Real, str)),  # which numbers fit is said where they are used
    **dict.fromkeys(("layers", "heads"), (Integral, Sequence)),
}


def check_types(given: Mapping[str, object]) -> None:
    """Raise UserError for what `show` takes as a text or a number, and is none."""
    for name, kinds in TAKES.items():
        value = given[name]
        if not isinstance(value, kinds):
            raise UserError(
                "%(name)s is of the type %(kind)s; give one of these: %(kinds)s.",
                name=name,
                kind=type(value).__name__,
                kinds=", ".join(kind.__name__ for kind in kinds),
            )


def large_page(order: Request, view: View, picture: BigPicture, height: int) -> Shown:
    """A page of a large model, which says its name and opens on what is asked for."""
    check_looks(order.lang, order.theme)
    chosen = choices_of(order.page, picture, drop_missing(order.chosen))
    with language(order.lang):
        page = page_for(order.page, picture)
    return Shown(order._replace(page=page, chosen=chosen), view, picture, height)


def is_folder(model: str | Path) -> bool:
    """Whether that is a folder, there or not; the name of one of our models goes before a folder of its name."""
    if isinstance(model, Path):
        return model.suffix != ENDING
    return (
        model not in ("", *SHIPPED)
        and not str(model).endswith(ENDING)
        and (bool(set(model) & {"/", os.sep}) or os.path.isdir(model))
    )


def head_of(page: Page, picture: Picture, chosen: Mapping[str, Any]) -> tuple[int, int]:
    """The layer and the head that are seen first: of the open ones, a value like 14.3 names both."""
    if page.widget != "kv_cache":
        return 0, 0
    if not picture.open_heads:
        shown = on_show(picture, chosen)
        return int(shown["layer"]), int(shown["head"])
    first = next((one for one in picture.open_heads if one.value == chosen.get("head")), picture.open_heads[0])
    return first.layer, first.head


class Shown:
    """What show() gives: a cell shows it, .trace has its numbers; .save() writes a page, .figure() a picture."""

    def __init__(self, order: Request, view: View, picture: Picture, height: int) -> None:
        """`view` is what the page draws; `picture` is that of the run, of which the tables show one layer and head."""
        self.trace = TraceArrays(picture.trace)
        self._order, self._view, self._picture = order, view, picture
        self._style = style() + own_style(order.page, big=bool(picture.open_heads))
        # the page goes into single quotes, since it is full of double ones; it knows what can be chosen of it
        framed = self._text(self._style).replace("&", "&amp;").replace("'", "&#39;")
        step = int(str(order.chosen.get("step", picture.at))) if order.page.widget == "kv_cache" else picture.at
        tables = plain(picture, step, *head_of(order.page, picture, order.chosen))
        with language(order.lang):
            self._html = render(
                "notebook/output.html",
                page=order.page,
                whole=framed,
                height=height,
                colours=heat_colours(),
                view=tables,
            )

    def _text(self, style: str = "", href: str = STYLE) -> str:
        """The page, with its style inside or in a file; without the form for a text of one's own: it needs Python."""
        order, rules = self._order, policy(styles=[style] if style else [], python=False)
        with language(order.lang), by_itself():
            return render(
                "notebook/page.html", page=order.page._replace(live="", extra=""), view=self._view,
                at=on_show(self._view, order.chosen), live=False, notebook=True, alone=True, theme=order.theme,
                style=style, href=href, policy=rules,
            )  # fmt: skip

    def _repr_html_(self) -> str:
        return self._html

    def __repr__(self) -> str:
        about = self.trace.about
        return (
            f"<“{about['prompt']}” in the model {about['model']}, {len(about['tokens'])} tokens: "
            "a trusted notebook shows it, .save(path) writes it as a page, .trace has its numbers>"
        )

    def figure(self, path: str | Path, moving: bool = False) -> Path:
        """Write what is on show as an SVG, for slides and papers; with `moving`, all steps (or cases) in turn."""
        path, order, view = Path(path), self._order, self._view
        if path.suffix.lower() != ".svg":
            raise UserError("“%(path)s” is no SVG; give a name that ends in .svg.", path=path)
        with language(order.lang):
            at = figure_values(view, {name: order.chosen[name] for name in figure_values(view) if name in order.chosen})
            if isinstance(view, BigPicture):
                svg = figures.of_case(view, at, moving)
            elif self._picture.open_heads:
                raise UserError("Of a checkpoint or a trace the figure is that of the stepper.")
            else:
                svg = figures.of_view(order.page, order.settings, view, at, moves=moving)
        write_whole({path: svg})
        return path

    def save(self, path: str | Path, assets: str = "inline") -> Path:
        """Write the page to `path`: one file, or with assets="directory" its style in a folder beside it.

        It steps without Python. `build.py --single-file` makes one that carries all of Python, too.
        """
        path = Path(path)
        if assets not in ASSETS:
            raise UserError("assets is “%(assets)s”; here it can be %(known)s.", assets=assets, known=", ".join(ASSETS))
        if assets == "inline":
            files = {path: self._text(self._style)}
        else:
            folder = f"{path.stem}_files"
            files = {path.with_name(folder) / STYLE: self._style, path: self._text(href=f"{folder}/{STYLE}")}
        write_whole(files)
        return path
