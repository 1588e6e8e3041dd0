"""Python goes wrong while it runs, in three engines: it loops, fills its memory, ends, is killed, answers nonsense. The
page says so and keeps what it shows; the next press goes on from the same state."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from unittest.mock import patch

import build
from microgpt.viz.patches import State
from microgpt.viz.session import dispatch
from tests.attack.part import Order, Part, Seen, some
from tests.attack.served import served
from tests.attack.tabs import Wait, engines, pressed, readable, stepping, tried
from tests.browser.live import LINE, open_live
from tools.browsers import Page
from tools.output.sources import our_files

HOME = "microgpt/course/kv_cache/lesson.py"  # whose buttons get the hooks below
HOOKS = '''

def _wrong(kind, state, fields):
    """A hook that goes wrong; tests/attack puts it here."""
    import js, sys, time

    if kind == "loops":
        while True:
            pass
    if kind == "fills its memory":
        kept = []
        while True:
            kept.append(bytearray(1 << 26))
    if kind == "fills its memory with small things":
        kept = []
        while True:
            kept.append([kept] * 100000)
    if kind == "calls itself":
        return _wrong(kind, state, fields)
    if kind == "exits":
        sys.exit(3)
    if kind == "raises":
        raise RuntimeError("<xss-1>" * 1000)
    if kind == "raises without a word":
        raise BaseException
    if kind == "is interrupted":
        raise KeyboardInterrupt
    if kind == "kills its worker":
        js.close()
        time.sleep(1)
    if kind == "fails in JavaScript":
        js.JSON.parse("{")
    if kind == "fails later in JavaScript":
        js.Promise.reject(js.Error.new("later"))
        time.sleep(0.1)
        raise RuntimeError("now")
    if kind == "aborts":
        import ctypes

        ctypes.string_at(2**31 - 1, 1 << 20)
    if kind == "answers no number":
        return {"n": float("nan")}, []
    if kind == "answers nothing":
        return None
    if kind == "answers what is no JSON":
        return {"n": object()}, []
    if kind == "answers to nowhere":
        return {**(state or {}), "spoilt": True}, [patch("#nowhere", "<b>lost</b>")]
    if kind == "forgets itself":
        for name in [name for name in sys.modules if name.startswith("microgpt")]:
            sys.modules[name].__dict__.clear()
        raise RuntimeError("all gone")
    if kind == "sleeps":
        time.sleep(3)
        return state, []
    raise AssertionError(kind)


from functools import partial as _partial

HOOKS |= {"wrong-" + _kind.replace(" ", "-"): _partial(_wrong, _kind) for _kind in KINDS}
'''
KINDS = (
    "loops, fills its memory, fills its memory with small things, calls itself, exits, raises, raises without a "
    "word, is interrupted, kills its worker, fails in JavaScript, fails later in JavaScript, aborts, answers no "
    "number, answers nothing, answers what is no JSON, answers to nowhere, forgets itself, sleeps"
).split(", ")
HARMLESS = ("sleeps",)
FIELDS = {"page": "kv-cache", "model": "names", "prompt": "emm", "phase": "7", "head": "0"}


def prepare(order: Order) -> None:
    """A site whose Python has these hooks besides: built as the real one, so that all its hashes are right."""
    if (out := site(order)).exists():
        return

    def more() -> dict[str, bytes]:
        files = our_files()
        return files | {HOME: files[HOME] + f"\n\nKINDS = {KINDS!r}\n{HOOKS}".encode()}

    with patch.object(build, "our_files", more):
        build.build(out)


def site(order: Order) -> Path:
    return order.folder / "spoilt"


def named(scale: float, order: Order) -> list[str]:
    share = {"webkit": 1 / 2}  # one at a time there, so a case takes four times as long
    return [f"{engine}: {kind}" for engine in engines() for kind in some(KINDS, scale * share.get(engine, 1))]


def settled(state: State | None) -> State | None:
    """After a press, and after what the page asks of its own since the answer says so."""
    state, patches = dispatch(state, "next", FIELDS)
    for hook in [one["again"] for one in patches if "again" in one]:
        state, _ = dispatch(state, hook, FIELDS)
    return state


def attack(names: Sequence[str], order: Order) -> Iterator[Seen]:
    after: State | None = None
    for _ in range(3):
        after = settled(after)

    def trial(page: Page, name: str) -> Wait:
        kind = name.split(": ")[1]
        open_live(page, address.address + "x/kv-cache.html")
        yield from pressed(page, "next")
        yield from pressed(page, "next")
        page.run(f"""document.querySelector('[data-hook="trace"]').dataset.hook = "wrong-{kind.replace(" ", "-")}" """)
        said = yield from pressed(page, f"wrong-{kind.replace(' ', '-')}")
        line = page.run(LINE)
        assert said or not (wrong := readable(line)), wrong
        assert bool(said) == (kind in HARMLESS), f"it went on as if nothing had been: {line}"
        yield from stepping(page)
        answer = yield from pressed(page, "next")
        assert answer, f"not healed: {page.run(LINE)}"
        assert answer["state"] == after, f"another state than before: {str(answer['state'])[:200]}"
        return "went on" if said else "said in a line, and gone on from the same state"

    with served(site(order), lambda case: ("", "")) as address:
        yield from tried(names, trial)


PART = Part(
    tried="Python that loops, fills its memory, ends, is killed or answers nonsense, in each engine",
    cases=named,
    attack=attack,
    prepare=prepare,
    at_once=9,
    patience=300,
)
