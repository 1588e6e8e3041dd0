"""Press everything: every hook of every page, with good fields and bad ones, in CPython and in Pyodide alike.

`answers()` is what the pages would be told. tools/used.py learns from it which modules a reader's browser needs.
"""

from __future__ import annotations

import json
import logging
import re
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from microgpt import viz
from microgpt.viz import canvas, views
from microgpt.viz.browser import receive
from microgpt.viz.controls import controls
from microgpt.viz.language import LANGUAGES
from microgpt.viz.pages import PAGES, Page
from microgpt.viz.render import render_page

WRONG = ({"prompt": "@"}, {"prompt": "zzz zzz"}, {"prompt": ""}, {"temperature": "x"}, {"model": "x"}, {"config": "{"})


def answers() -> list[str]:
    """The HTML of all answers."""
    for path in sorted(Path(viz.__file__).parent.rglob("*.py")):
        import_module(".".join(["microgpt", *path.relative_to(Path(viz.__file__).parents[1]).with_suffix("").parts]))
    said = []
    for page in PAGES:
        html = render_page(page, views.of(page))
        hooks = sorted(set(re.findall(r'data-hook="(\w+)"', html)) - {"model"})
        fields = {name: control.default for name, control in controls(html).items()}
        for lang in LANGUAGES:
            said += pressed(page, hooks, {"page": page.name, **fields, "lang": lang})
    canvas.size('<svg width="1" height="1"/>')  # a figure in pixels begins so; the rest of it needs a browser
    quarrel()
    return said


def pressed(page: Page, hooks: Sequence[str], fields: dict[str, str]) -> list[str]:
    """Every hook, twice; then the model of each name; then what is wrong."""
    said = []
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


def quarrel() -> None:
    """What Python needs to say that something went wrong."""
    try:
        receive('{"state": null, "hook": "none", "fields": {"page": "kv-cache"}}')
    except KeyError:
        warnings.formatwarning("a warning", UserWarning, "x.py", 1)
        logging.Formatter().formatException(sys.exc_info())
