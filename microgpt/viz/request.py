"""What is asked for: a page, a run of its model and what is to be on show; from a command line, a form, a notebook or
an address alike, so that each mistake is told in one way. Knows no HTML.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from microgpt.course import prompt_for
from microgpt.errors import N_, UserError
from microgpt.viz.controls import THEME
from microgpt.viz.lesson import lesson_named
from microgpt.viz.page import Page
from microgpt.viz.settings import Settings, parse
from microgpt.viz.text.language import LANGUAGES, language
from microgpt.weights import KEPT, OWN_MODEL

NO_OWN = N_("This browser keeps no model of yours. The page “Train your own” makes one.")
# what is first on show: choices that have a name of their own everywhere
START_CHOICES = ("step", "layer", "head", "phase")


class Request(NamedTuple):
    """A lesson, with the model and the text that it is to show."""

    page: Page
    settings: Settings
    chosen: Mapping[str, object]  # of its choices: step=4
    lang: str = "en"
    theme: str = "auto"


def request(
    widget: str = "stepper",
    model: str = "",
    prompt: str = "",
    chosen: Mapping[str, object | None] | None = None,
    lang: str = "en",
    theme: str = "auto",
    temperature: float = 0.0,
    top_k: int = 0,
    seed: int = 42,
) -> Request:
    """What is left out ("" or None) is the page's own. Raises UserError for what is not there."""
    check_looks(lang, theme)
    with language(lang):
        page = lesson_named(widget, model)
    settings = settings_for(page, model, prompt or None, temperature, top_k, seed)
    page = page._replace(model=settings.model, prompt=settings.prompt)
    return Request(page, settings, drop_missing(chosen or {}), lang, theme)


def drop_missing(chosen: Mapping[str, object | None]) -> dict[str, object]:
    """What is chosen indeed."""
    return {name: value for name, value in chosen.items() if value is not None}


def settings_for(
    page: Page, model: str = "", prompt: str | None = None, temperature: float = 0.0, top_k: int = 0, seed: int = 42
) -> Settings:
    """A run of a model that the page knows; without a prompt, on one that the model knows."""
    model = model or page.model
    if model == OWN_MODEL and OWN_MODEL not in KEPT:
        raise UserError(NO_OWN)
    if model in KEPT and KEPT[model].config.n_layer < page.own_layers:
        sentence = N_("This lesson needs a model of %(least)s layers or more; yours has %(n)s. Train a larger one.")
        raise UserError(sentence, least=page.own_layers, n=KEPT[model].config.n_layer)
    if model not in (*page.models, *KEPT):
        sentence = N_("The page “%(page)s” does not know the model “%(model)s”; it has %(models)s.")
        raise UserError(sentence, page=page.name, model=model[:40], models=", ".join(page.models))
    if prompt is None:
        prompt = page.prompt if model == page.model else prompt_for(model)
    return Settings(model, prompt, temperature, top_k, seed)


def settings_from(page: Page, fields: Mapping[str, str]) -> Settings:
    """The run that the controls of a page spell out; a control that was not sent says nothing."""
    typed = parse(fields)
    return settings_for(page, typed.model, fields.get("prompt"), *typed[2:])


def check_looks(lang: str, theme: str = "auto") -> None:
    """Raise UserError for a language or colours that are not there."""
    one_of("language", lang, LANGUAGES)
    one_of("theme", theme, [str(value) for value in THEME.values])


def one_of(name: str, value: str, known: Iterable[str]) -> None:
    """Raise UserError unless `value` is among the `known` ones."""
    if value not in known:
        raise UserError(
            "%(name)s is “%(value)s”; give one of %(known)s.", name=name, value=value[:40], known=", ".join(known)
        )
