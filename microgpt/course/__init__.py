"""The course: a folder for each lesson, and here their order. PAGES is what exists, in reading order.

What lies in the folder of a lesson, and what a new one takes: CONTRIBUTING.md, "A new lesson". Its `__init__.py` says
what the page says of itself, and computes nothing; `lesson.py` beside it is loaded when a page needs it. Knows no HTML.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import NamedTuple

from microgpt.apps import APPS, START
from microgpt.errors import N_, UserError
from microgpt.viz.page import Page
from microgpt.weights import KEPT


class CoursePart(NamedTuple):
    """A part of the course: its title, what it is about, the page of its exercises, and the folders of its lessons."""

    title: str
    about: str
    sheet: str
    folders: tuple[str, ...]

    @property
    def lessons(self) -> list[Page]:
        """The pages of its lessons."""
        return [one for one in LESSONS if one.name.replace("-", "_") in self.folders]


COURSE_PARTS = (
    CoursePart(
        N_("The idea"),
        N_("One token goes in. What is made, what stays, and what that saves."),
        "exercises-idea",
        ("next_token", "attention", "kv_cache", "kv_cache_words", "with_and_without"),
    ),
    CoursePart(
        N_("Why it is right"),
        N_("Why q goes, why old rows may stay, and what training has to do with it."),
        "exercises-right",
        ("why_q", "inside", "old_rows", "edited_text", "training"),
    ),
    CoursePart(
        N_("What it costs"),
        N_("The cache is paid for in memory and in reading. How much, and what helps?"),
        "exercises-cost",
        ("prefill_and_decode", "memory", "fewer_heads", "long_texts", "most_read"),
    ),
    CoursePart(
        N_("In your code"),
        N_("One loop, and the libraries that you write it with."),
        "exercises-code",
        ("in_your_code",),
    ),
    CoursePart(
        N_("What engines do"),
        N_("One memory and one processor serve many texts. What do engines do with the rows?"),
        "exercises-engines",
        (
            "pages",
            "shared_prefixes",
            "many_at_once",
            "guess_and_check",
            "full_cache",
            "fewer_bits",
            "in_pieces",
            "latent_row",
            "reading_limit",
            "no_cache",
            "on_your_server",
        ),
    ),
)


def number_pages(folders: Sequence[str]) -> Iterator[Page]:
    """The pages in these folders, with their numbers; one with the picture of the one before shares its number."""
    number, before = 0, ""
    for folder in folders:
        found: Page = import_module(f"microgpt.course.{folder}").PAGE
        widget = found.widget or folder
        number, before = number + (widget != before), widget
        yield found._replace(widget=widget, number=number)


# What pictures were called before they were called as their pages are: programs and commands that say so go on.
FORMER = dict(
    pair.split("=")
    for pair in (
        "stepper=kv_cache loop=next_token compare=with_and_without prefill=prefill_and_decode heads=fewer_heads "
        "sharing=shared_prefixes serving=many_at_once guess=guess_and_check dropping=full_cache bits=fewer_bits "
        "pieces=in_pieces latent=latent_row limit=reading_limit masks=no_cache"
    ).split()
)
# The core of the course, for one who has ninety minutes; the front page marks it. It needs no lesson but its own.
ROAD = tuple("next-token attention kv-cache with-and-without why-q prefill-and-decode memory fewer-heads".split())
LESSONS = tuple(number_pages([folder for part in COURSE_PARTS for folder in part.folders]))
PAGES = (START, *LESSONS, *APPS)


def page(name: str) -> Page:
    """The page of that name."""
    for one in PAGES:
        if one.name == name:
            return one
    raise UserError("There is no page “%(name)s”.", name=name[:40])


def prompt_for(model: str) -> str:
    """A prompt that `model` knows: that of its own stepper, or of the one whose name its own begins with; of a model of
    the reader's, its own."""
    if model in KEPT:
        return KEPT[model].prompt
    steppers = [one for one in LESSONS if one.widget == "kv_cache"]
    known = [run for one in steppers for run in ((one.model, one.prompt), *(named[1:] for named in one.spoken))]
    return next((prompt for name, prompt in known if model.startswith(name)), "")


def part_of(lesson: Page) -> CoursePart:
    """The part of the course that the lesson belongs to."""
    return next(part for part in COURSE_PARTS if lesson.name in [one.name for one in part.lessons])
