"""The workbench, and the exercises beside it, as a reader presses them: its answers, by the places that they go to."""

from microgpt.viz.session import dispatch
from microgpt.workbench.original import original
from tests.support.pages import folded, parse


def press(hook: str = "run", /, lang: str = "en", **fields: str) -> dict[str, str]:
    """Target -> HTML of an answer, and of what it asks for afterwards; a file by its name."""
    fields = {"page": "workbench", "lang": lang, "model": "names", "prompt": "emm", "code": original(), **fields}
    _, patches = dispatch(None, hook, fields)
    for later in [one["again"] for one in patches if "again" in one]:
        patches += dispatch(None, later, fields)[1]
    told = [one for one in patches if "again" not in one]
    return {one.get("target") or one["file"]: one.get("html", one.get("text", "")) for one in told}


def said(html: str) -> str:
    return folded(parse(f"<div>{html}</div>"))


def verdict(answer: dict[str, str]) -> str:
    return said(answer["#verdict"])
