"""The tasks of lessons as their sheets tell them, and what answers are compared with.

tests/course/<lesson>/questions.py has for each question of the page a function of its name, as `ask_bug`, which returns
the face of the right option, by the view; and for each task one of its key, as `task_loss`, which returns numbers that
the sheet tells. They come to them in another way than the lesson's own questions.py, and stay out of what travels to a
browser. MEASURED has what the reasons tell of a bug; LEARNED a line for each question that the page answers, and
in it a pattern of the words that hold the answer; CLAIMS what tests/course/test_claims.py says.
"""

import copy
from collections.abc import Iterable, Sequence
from importlib import import_module
from types import SimpleNamespace
from typing import Any, TypeAlias

import numpy as np

from microgpt.apps.exercises.app import Exercise, sheets
from microgpt.cache import KVCache
from microgpt.config import Array, Config
from microgpt.decode import decode_step
from microgpt.model import forward
from microgpt.trace import Trace
from microgpt.viz.page import Page
from microgpt.viz.text.tasks import Calc
from microgpt.weights import Model, shipped
from tests.support.pages import find, folded, text, tree_of

View: TypeAlias = Any  # of the lesson
Facts: TypeAlias = Any  # of a task
Numbers: TypeAlias = dict[str, Any]


def module_of(lesson: Page) -> Any:
    """That module."""
    return import_module(f"tests.course.{lesson.widget}.questions")


def facts_of(one: Exercise) -> Facts:
    """Its numbers, each calculation as what it comes to; its listing, and its answer as it is read."""
    (sheet,) = (name for name, sheet in sheets().items() if one in sheet.exercises)
    (element,) = (e for e in find(tree_of(sheet), "task") if e.get("id") == one.task.key)
    listing, solved = [text(e) for e in find(element, "listing")], folded(find(element, "solved")[0])
    return SimpleNamespace(**vars(results(one.numbers)), listing="".join(listing), solved=solved)


def results(value: Any) -> Any:
    """The same, with what each calculation comes to in its place."""
    if isinstance(value, Calc):
        return value.values[-1]
    if isinstance(value, SimpleNamespace):
        return SimpleNamespace(**{name: results(one) for name, one in vars(value).items()})
    return [results(one) for one in value] if isinstance(value, list) else value


def run(listing: str, *mended: tuple[str, str], **given: object) -> dict[str, Any]:
    """What a listing defines, with these replacements in it."""
    found = {"np": np, "softmax": softmax, "copy": copy, **given}
    for wrong, right in mended:
        assert wrong in listing
        listing = listing.replace(wrong, right)
    exec(listing, found)
    return found


def softmax(x: Array) -> Array:
    """[n]: for scores, [n]."""
    raised = np.exp(x - x.max())
    weights: Array = raised / raised.sum()
    return weights


def logits(
    model: Model | str, ids: Sequence[int], cache: Any = None, trace: Trace | None = None, config: Config | None = None
) -> Array:
    """[len(ids), vocab_size]: of one pass, in a cache of its own if none is given."""
    model = shipped(model) if isinstance(model, str) else model
    config = config or model.config
    return forward(model.params, config, list(ids), KVCache(config) if cache is None else cache, trace)


def stepped(model: Model, ids: Iterable[int], trace: Trace | None = None, config: Config | None = None) -> KVCache:
    """The cache after these tokens, one by one."""
    cache = KVCache(config or model.config)
    for token in ids:
        decode_step(model.params, config or model.config, token, cache, trace)
    return cache
