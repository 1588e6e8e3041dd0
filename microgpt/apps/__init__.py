"""The pages that are no lessons: the start, the exercises, the glossary, and what is made of trained models. A folder
for each, made as that of a lesson is (microgpt/course/); its `app.py` is loaded when a page needs it. Knows no HTML.
"""

from importlib import import_module

from microgpt.viz.page import Page


def pages_of(folder: str) -> tuple[Page, ...]:
    """The pages that an app has: one, but for the exercises."""
    module = import_module(f"microgpt.apps.{folder}")
    found: tuple[Page, ...] = getattr(module, "PAGES", ()) or (module.PAGE,)
    return tuple(page._replace(app=folder) for page in found)


FOLDERS = (
    "exercises",
    "glossary",
    "model_that_talks",
    "chat_turn",
    "numbers",
    "who_is_she",
    "model_that_repeats",
    "look_inside",
    "own_model",
    "train_your_own",
    "workbench",
    "write_it",
    "bugs",
    "embed_builder",
)
(START,) = pages_of("index")
APPS = tuple(page for folder in FOLDERS for page in pages_of(folder))
