"""Press everything: every hook of every page, with good fields and bad ones, in CPython and in Pyodide alike.

`answers()` is what the pages would be told, or those of some names; `answers_of(fields)` what one would be. usage.py
learns from it which modules a reader's browser needs.
"""

from __future__ import annotations

import json
import logging
import math
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from microgpt import viz
from microgpt.course import PAGES
from microgpt.viz import views
from microgpt.viz.browser import receive
from microgpt.viz.lesson import page_named
from microgpt.viz.page import Page
from microgpt.viz.rendering.render import render_page
from microgpt.viz.session import dispatch, hooks_of
from microgpt.viz.text.language import LANGUAGES

WRONG = ({"prompt": "@"}, {"prompt": "zzz zzz"}, {"prompt": ""}, {"temperature": "x"}, {"model": "x"}, {"config": "{"})
# what the forms of apps say
APPS = {
    "index": {"prompt": "anna"},
    "embed-builder": {"embed_page": "kv-cache"},
    "own-model": {"prompt": ""},
    "write-it": {"exercise": "append"},
    "train-your-own": {"data": "ana\neva\nluis\nnoa\npau\nleo", "kind": "letters", "size": "small", "model": "own"},
}


def answers(names: Sequence[str] = ()) -> list[str]:
    """The HTML of all answers, or of those of the pages with these names."""
    with ticks():
        return press_all(names)


def answers_of(fields: dict[str, str]) -> list[str]:
    """The HTML of all answers of the page that stands by itself with these fields."""
    with ticks():
        return press(page_named(fields["page"]), fields)


@contextmanager
def ticks() -> Iterator[None]:
    """The clock goes by ticks, so that times are the same everywhere."""
    try:
        timing: Any = import_module("microgpt.viz.drawing.timing")
    except ModuleNotFoundError:  # a lesson by itself, which takes no time
        yield
        return
    kept, timing.clock = timing.clock, iter(range(10**9)).__next__
    try:
        yield
    finally:
        timing.clock = kept


def initial_fields(page: Page, lang: str = "en") -> dict[str, str]:
    """What the controls of a page say when nobody has touched them."""
    from microgpt.apps.embed_builder.app import controls_of  # a page that stands by itself has no builder

    known = controls_of(page, views.of(page)) if page.widget else ()
    own = {control.name: control.default for control in known}
    return {"page": page.name, **own, **APPS.get(page.name, {}), "lang": lang}


def press_all(names: Sequence[str]) -> list[str]:
    for name in modules():
        import_module(name)
    said = []
    for page in (one for one in (map(page_named, names) if names else PAGES) if not one.still):
        render_page(page, views.of(page))
        for lang in LANGUAGES:
            said += press(page, initial_fields(page, lang))
    said += step_checkpoint()
    quarrel()
    return said


def modules() -> list[str]:
    """All of microgpt.viz: by its files; in Pyodide, where there are none, by what finder.py knows."""
    if finder := sys.modules.get("sitecustomize"):
        return sorted(name for name in vars(finder)["FINDER"].modules if name.startswith("microgpt.viz."))
    top = Path(viz.__file__).parents[1]
    paths = sorted(Path(viz.__file__).parent.rglob("*.py"))
    return [".".join(["microgpt", *path.relative_to(top).with_suffix("").parts]) for path in paths]


def press(page: Page, fields: dict[str, str]) -> list[str]:
    """Every hook, twice; then the model of each name; then what is wrong."""
    said, hooks = [], sorted({*hooks_of(fields)} - {"model"})
    for hook in hooks:
        state, html = ask(hook, fields)
        said += [html, ask(hook, fields, state)[1]]
    for model in page.models if "run" in hooks else ():
        said.append(ask("model", {**fields, "model": model})[1])
    for wrong in WRONG:
        if wrong.keys() <= fields.keys():
            said += [ask(hook, {**fields, **wrong})[1] for hook in hooks]
    return said


def ask(hook: str, fields: dict[str, str], state: Any = None) -> tuple[Any, str]:
    """What one event is answered: the state, and the HTML of all patches."""
    answer = json.loads(receive(json.dumps({"state": state, "hook": hook, "fields": fields})))
    return answer["state"], "".join(patch.get("html", "") for patch in answer["patches"])


class MemoryFile:
    """A file that is not on a disk; see microgpt/viz/local_files.py."""

    def __init__(self, name: str, data: bytes) -> None:
        self.name, self.size, self.changed, self.data = name, len(data), 0.0, data

    def read(self, start: int, stop: int) -> bytes:
        return self.data[start:stop]


def step_checkpoint() -> list[str]:
    """A checkpoint of the reader's own, of the smallest kind, through all that its page can do."""
    words = {word: i for i, word in enumerate(["a", "b", "c", "<end>"])}
    config = {"n_embd": 4, "n_layer": 1, "n_head": 2, "n_positions": 8, "vocab_size": len(words), "eos_token_id": 3}
    shapes: dict[str, tuple[int, ...]] = {"wte.weight": (len(words), 4), "wpe.weight": (8, 4)}
    for name, width in {"ln_f": 4, "h.0.ln_1": 4, "h.0.ln_2": 4}.items():
        shapes |= {f"{name}.weight": (width,), f"{name}.bias": (width,)}
    for name, inner, outer in (
        ("attn.c_attn", 4, 12), ("attn.c_proj", 4, 4), ("mlp.c_fc", 4, 16), ("mlp.c_proj", 16, 4),
    ):  # fmt: skip
        shapes |= {f"h.0.{name}.weight": (inner, outer), f"h.0.{name}.bias": (outer,)}
    header, data = {}, b""
    for name, shape in shapes.items():
        more = np.sin(np.arange(math.prod(shape)) + len(data)).astype("<f4").tobytes()
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(more)]}
        data += more
    start = json.dumps(header).encode()
    tokenizer: dict[str, Any] = {
        "added_tokens": [], "normalizer": None, "post_processor": None, "decoder": None,
        "pre_tokenizer": {"type": "WhitespaceSplit"},
        "model": {"type": "WordLevel", "vocab": words, "unk_token": "a"},
    }  # fmt: skip
    texts = {"config.json": config, "tokenizer.json": tokenizer}
    files = [MemoryFile(name, json.dumps(text).encode()) for name, text in texts.items()]
    files.append(MemoryFile("model.safetensors", len(start).to_bytes(8, "little") + start + data))
    state, said = None, []
    for hook in ("show", "next", "compare", "trace", "run"):
        again = True
        while again:
            state, patches = dispatch(state, hook, {"page": "own-model", "prompt": "a b c"}, {"checkpoint": files})
            again = any("again" in patch for patch in patches)
        said.append("".join(patch.get("html", "") for patch in patches))
    return said


def quarrel() -> None:
    """What Python needs to say that something went wrong."""
    try:
        receive('{"state": null, "hook": "none", "fields": {"page": "kv-cache"}}')
    except KeyError:
        warnings.formatwarning("a warning", UserWarning, "x.py", 1)
        logging.Formatter().formatException(sys.exc_info())
