"""PAGES: what exists. One entry a page, in reading order. Knows no HTML."""

from __future__ import annotations

from typing import NamedTuple

from microgpt.errors import N_


class Page(NamedTuple):
    """A page of the site; `name` is its file name without .html."""

    name: str
    label: str
    title: str
    summary: str
    template: str
    widget: str = ""
    model: str = ""
    prompt: str = ""


PAGES = (
    Page(
        "index",
        N_("Start"),
        N_("The KV cache of a GPT, made visible"),
        N_(
            "A small, real GPT runs in this page. Watch it keep a key and a value for every token, "
            "and throw every query away."
        ),
        "pages/index.html",
    ),
    Page(
        "kv-cache",
        N_("Letters"),
        N_("Why does a GPT keep K and V, and throw Q away?"),
        N_(
            "A GPT writes one token at a time. For every token it computes three small vectors: a query q, a key k "
            "and a value v. Two of them are kept for all later steps. Here is each one of them, in a model that "
            "has learned to write first names letter by letter."
        ),
        "pages/stepper.html",
        "stepper",
        "names",
        "emm",
    ),
    Page(
        "kv-cache-words",
        N_("Words"),
        N_("The same cache, with words: two layers, and heads that share"),
        N_(
            "This model writes short sentences word by word. It has two layers, and each pair of query heads shares "
            "one key head and one value head, so its cache is half of what it would be without sharing. Its keys are "
            "rotated by their position before they are kept."
        ),
        "pages/stepper.html",
        "stepper",
        "stories",
        "The next day is bright",
    ),
)


def page(name: str) -> Page:
    """The page of that name."""
    return next(p for p in PAGES if p.name == name)


def prompt_for(model: str) -> str:
    """A prompt that `model` knows: that of its own page, or of the page whose name its own begins with."""
    return next((p.prompt for p in PAGES if p.model and model.startswith(p.model)), "")
