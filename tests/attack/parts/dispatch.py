"""Messages to Python as no page would send them: each gets a well-formed answer, and never an exception."""

from collections.abc import Iterator, Sequence
from copy import deepcopy
from functools import cache
from random import Random
from typing import Any, NamedTuple

from microgpt.course import PAGES
from microgpt.viz.page import Page
from microgpt.viz.session import dispatch, hooks_of
from tests.attack.answers import through_javascript, wrong_in
from tests.attack.part import Order, Part, Seen, source_of
from tests.attack.texts import CHARACTERS, WRONG_TYPES, hostile
from tests.support.hostile import Held

USUAL = {"temperature": "0", "top_k": "0", "seed": "42", "layer": "0", "head": "0", "phase": "7", "step": "1"}
CONTROLS = {  # of single pages
    "memory": {"preset": "Llama-3-8B", "size": "bfloat16", "tokens": "9", "batch": "8", "memory": "24", "config": ""},
    "embed-builder": {"embed_page": "kv-cache", "embed_size": "full", "embed_lang": "en", "address": "", "other": ""},
    "own-model": {"layers": "", "heads": ""},
    "train-your-own": {"data": "ana\neva\nluis\nnoa\npau", "kind": "letters", "size": "small"},
}
WORDS = ("The next day is bright", "the", "the next", "the " * 23, "the old farmer", "The", "day")
LETTERS = ("emm", "a", "zoe", "z" * 15, "maria", "ann")
OTHERS = ("lang", "course", "format", "theme", "lock", "play", "numbers", "check", "name", "__proto__", "html")
LIVE = [shown for shown in PAGES if shown.view_name]
HOOKS = {shown.name: sorted(hooks_of({"page": shown.name})) for shown in LIVE}
EVERY = sorted({hook for hooks in HOOKS.values() for hook in hooks})
PICTURE = 0.05  # of the messages have a text that can be drawn


class Message(NamedTuple):
    """What is sent."""

    state: Any
    hook: str
    fields: dict[str, Any]
    files: dict[str, list[Held]]


def named(scale: float, order: Order) -> list[str]:
    return [str(i) for i in range(max(1, round(100_000 * scale)))]


def attack(names: Sequence[str], order: Order) -> Iterator[Seen]:
    for name in names:
        yield judged(name, message(Random(order.of(name)), int(name)))


def judged(name: str, sent: Message) -> Seen:
    """Send it, and look at what comes back."""
    about = repr(tuple(sent))
    try:
        after, patches = dispatch(sent.state, sent.hook, sent.fields, sent.files)
        wrong = wrong_in(after, patches)
    except Exception as error:
        return Seen(name, source_of(error), "exceptions", about=f"{error} | {about}")
    named = {patch.get("target") for patch in patches}
    files = any("file" in patch for patch in patches)
    kind = "files" if files else "sentences" if named == {"#prompt-error"} else "pictures"
    return Seen(name, wrong, kind, about=about if wrong else "")


@cache
def reached(name: str, hook: str, prompt: str, model: str) -> Any:
    """A state that a page can be in: what a message before has left, as JavaScript hands it back."""
    try:
        state, _ = dispatch(None, hook, {**USUAL, "page": name, "model": model, "prompt": prompt})
    except Exception:  # no such button there
        return None
    return through_javascript(state)


def asked(shown: Page, rng: Random) -> dict[str, Any]:
    """What the controls of a page say when nobody means any harm. Short texts: a long one is drawn for longer."""
    model = shown.model or "names"
    prompt = rng.choice(WORDS if model == "stories" else LETTERS)
    return {**USUAL, "page": shown.name, "model": model, "prompt": prompt, **CONTROLS.get(shown.name, {})}


def message(rng: Random, n: int) -> Message:
    """Pages and hooks that there are, with fields of which some, or all, are hostile."""
    shown = rng.choice(LIVE if rng.random() < 0.995 else PAGES)
    hook = rng.choice((HOOKS.get(shown.name) or EVERY) if rng.random() < 0.99 else (*EVERY, hostile(rng, n)))
    usual = asked(shown, rng)
    fields = {**usual, "format": rng.choice(("svg", "png", "moving", ""))}
    names = [*fields, *OTHERS]
    for name in rng.sample(names, rng.choice((1, 1, 1, 2, 3, len(names) // 2))):
        fields[name] = hostile(rng, n)
    if rng.random() > PICTURE:
        fields["model" if hook == "model" else "prompt"] = hostile(rng, n)  # most of them end in a sentence
    chance = rng.random()
    if chance < 0.01:
        fields[rng.choice([*fields])] = rng.choice(WRONG_TYPES)
    elif chance < 0.02:
        del fields[rng.choice([*fields])]
    state = None
    if rng.random() < 0.3:
        usual = usual if rng.random() < 0.97 else asked(rng.choice(LIVE), rng)  # that of another page
        state = reached(usual["page"], rng.choice(("run", "next")), usual["prompt"], usual["model"])
    return Message(deepcopy(state), hook, fields, files(rng, n))


def files(rng: Random, n: int) -> dict[str, list[Held]]:
    if rng.random() < 0.8:
        return {}
    names = ("config.json", "model.safetensors", "tokenizer.json", hostile(rng, n)[:80], rng.choice(CHARACTERS))
    blobs = []
    for _ in range(rng.randint(0, 3)):
        data = hostile(rng, n).encode("utf-8", "surrogatepass")
        if rng.random() < 0.5:
            data = len(data).to_bytes(8, "little") + data
        blobs.append(Held(rng.choice(names), data))
        blobs[-1].size = rng.choice((len(data), 0, 10**15))
    return {rng.choice(("file", "checkpoint", "weights")): blobs}


PART = Part(
    tried="messages to the live part: every hook, states that pages reach, fields with markup, scripts, marks of "
    "direction, broken characters, huge numbers and wrong types",
    cases=named,
    attack=attack,
    at_once=5000,
    memory=6 << 30,
)
