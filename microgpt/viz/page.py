"""What a page says of itself. Knows no HTML."""

from __future__ import annotations

from typing import NamedTuple

from microgpt.weights import SHIPPED


class Page(NamedTuple):
    """A page of the site; `name` is its file name without .html.

    A lesson is a folder of microgpt/course/, called as its page is: lesson.py computes what the templates beside it
    place: in widget.html the picture, in prose.html the text below it, in figure.svg the figure to save; style.css says
    how the widget looks. An app is a page that is no lesson, made in the same way: microgpt/apps/. `live`
    says what the reader can send to Python: "text" (a prompt for one of `models`), "steps" (the same, and token by
    token), "form" (the widget brings a form along) or nothing.
    """

    name: str
    label: str  # two or three words, for the map
    title: str  # the question that the page asks
    summary: str
    widget: str = ""  # the lesson whose picture it shows: its own, or another one's
    model: str = ""
    prompt: str = ""
    try_: str = ""
    notice: str = ""
    number: int = 0  # of the lesson, by its place in the course; two pages may share one
    needs: tuple[str, ...] = ()  # the lessons that this one builds on, without those that they need themselves
    sources: tuple[str, ...] = ()  # what it rests on, by keys of viz/text/sources.py
    live: str = "text"
    models: tuple[str, ...] = SHIPPED
    own_layers: int = 1  # that a reader's model must have
    extra: str = ""  # a second template of the widget, below it, which answers to the first leave alone
    app: str = ""
    hero: str = ""  # the widget whose figure stands for a page that has none
    frames: bool = False  # it shows other pages of the site in frames
    framed: bool = False  # it has a page for the frames of others, as each lesson has
    still: bool = False  # drawn from a file beside the site, which Python in the browser does not have
    drawn: tuple[int, ...] = ()  # the steps and the open heads of such a page: its style has rules for no more
    recorded: str = ""  # where the model ran, if not here, and what is different in it
    nav: str = ""  # how the head of every page names it, if it does
    figures: tuple[str, ...] = ()  # templates of the figures in its text; a frame has them below the widget
    styles: tuple[str, ...] = ()  # folders of templates with more style that it needs
    editor: bool = False  # its textarea[data-editor] gets an editor: site/editor.js
    spoken: tuple[tuple[str, str, str], ...] = ()  # languages in which it has another model, that, and its prompt
    trace: str = ""  # how the file of its trace is named, if not as the page
    large: bool = False  # it can be drawn of a large model: its lesson has `of_large(model, picture)`

    @property
    def folder(self) -> str:
        """Where what it places lies, as templates are named."""
        return f"course/{self.widget}" if self.widget else f"apps/{self.app}"

    @property
    def trace_name(self) -> str:
        """How the file of its trace is named, without .json."""
        return self.trace or self.name

    def in_language(self, lang: str) -> Page:
        """The page as it is in that language: with the model that speaks it, where it has one."""
        for one, model, prompt in self.spoken:
            if one == lang:
                models = (model, *(name for name in self.models if name != model))
                return self._replace(model=model, prompt=prompt, models=models, trace=f"{self.name}-{lang}")
        return self

    @property
    def view_name(self) -> str:
        """The lesson or app whose view the page shows; "" where it needs none."""
        return self.widget or self.app
