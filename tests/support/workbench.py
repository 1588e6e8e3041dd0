"""The workbench as a reader presses it: its answers, by the places that they go to."""

import re

from microgpt.viz.patches import Patch
from microgpt.viz.session import dispatch
from microgpt.workbench.original import original
from tests.support.pages import parse, text


def press(hook: str = "run", /, lang: str = "en", **fields: str) -> dict[str, str]:
    """Target -> HTML of an answer, and of what it asks for afterwards; a file by its name."""
    fields = {"page": "workbench", "lang": lang, "model": "names", "prompt": "emm", "code": original(), **fields}
    _, patches = dispatch(None, hook, fields)
    for later in [one["again"] for one in patches if "again" in one]:
        patches += dispatch(None, later, fields)[1]
    return {where(one): one.get("html", one.get("text", "")) for one in patches if "again" not in one}


def where(one: Patch) -> str:
    return one.get("target", "") or one.get("file", "")


def verdict(answer: dict[str, str]) -> str:
    return re.sub(r"\s+", " ", text(parse(f"<div>{answer['#verdict']}</div>"))).strip()
