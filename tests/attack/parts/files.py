"""Files that somebody made to harm, and valid ones with bytes or fields changed: each is read, or refused in a
sentence, soon and in little memory. The first come out of the tables of the tests; the second are drawn here."""

import json
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from jsonschema import Draft202012Validator

from microgpt.decode import recompute
from microgpt.errors import UserError
from microgpt.tokenizers.tokenizer_json import PlainTokenizer
from microgpt.trace import EVENTS
from microgpt.viz.session import dispatch
from microgpt.weights import save, shipped
from tests.attack.answers import wrong_in
from tests.attack.part import Order, Part, Seen, some, source_of
from tests.attack.parts.dispatch import USUAL
from tests.support import hostile, hostile_tokenizers, hostile_traces
from tests.support.checkpoints import GPT2, LLAMA, byte_level, gpt2_tensors, llama_tensors, write
from tools.output.sources import ROOT

SCHEMA = Draft202012Validator(json.loads((ROOT / "docs" / "trace.schema.json").read_text("utf-8")))
SECONDS = 20  # for one file, on a machine that does other things too
CHANGED = 20_000
VALUES: tuple[Any, ...] = (
    None, True, -1, 0, 1, 2, 3, 0.5, -1e308, 1e999, 2**31, 2**53 + 1, 2**63, 10**40, "", "x", "\ud800", "9" * 5000, [],
    [[]], {}, {"type": "BPE"}, ["a", "b"], [0, 10**18], [-1, 2], "F8_E4M3", "I64", "../../x", "\x00", "<b>",
)  # fmt: skip

Files = Mapping[str, bytes]


# ---- who reads them ---------------------------------------------------------------------------------


def running(reader: str) -> Callable[[Files, Path], None]:
    """A reader that makes a model of the files, and a text for it."""

    def read(files: Files, place: Path) -> None:
        model: Any = hostile.READERS[reader](files, place)
        ids = model.tokenizer.encode("day")[: model.config.n_ctx]
        with np.errstate(all="ignore"):
            model.tokenizer.decode([int(recompute(model.params, model.config, ids).argmax())])

    return read


def is_done(hook: str, fields: dict[str, str], chosen: dict[str, list[hostile.Held]] | None = None) -> bool:
    """Whether a page has no more to do after this press; its answer must be one."""
    state, patches = dispatch(None, hook, USUAL | fields, chosen or {})
    assert not (wrong := wrong_in(state, patches)), wrong
    return not any("again" in patch for patch in patches)


def page(files: Files, place: Path) -> None:
    """The page itself, with its answers."""
    fields = {"page": "own-model", "prompt": "day", "layers": "", "heads": ""}
    given = hostile.held({name: data for name, data in files.items() if name not in (hostile.OURS, "trace.json")})
    assert any(is_done("run", fields, {"checkpoint": given}) for _ in range(60)), "it is never done"


def look(files: Files, place: Path) -> None:
    """python -m microgpt.checkpoints, and the page for the same."""
    is_done("look", {"page": "look-inside"}, {"weights": hostile.held({hostile.WHOLE: files[hostile.WHOLE]})})
    hostile.READERS["weights"](files, place)


def ours(files: Files, place: Path) -> None:
    """Our own form of weights."""
    hostile.READERS["ours listed"](files, place)
    running("ours")(files, place)


def config(files: Files, place: Path) -> None:
    """The field of the page on memory."""
    fields = {"page": "memory", "size": "bfloat16", "tokens": "9", "batch": "8", "memory": "24"}
    is_done("calculate", fields | {"config": files[hostile.CONFIG].decode("utf-8", "replace")})
    hostile.READERS["memory"](files, place)


def traced(files: Files, place: Path) -> None:
    """What build.py --trace does with a trace, or with the excerpt of one; what it takes, the schema takes.

    But for events and fields that it does not know, and passes over.
    """
    hostile_traces.drawn(hostile.write(files, place) / "trace.json", place / "out")
    data, of_event = json.loads(files["trace.json"]), SCHEMA.schema["properties"]["events"]["items"]["properties"]
    told = [event for event in data["events"] if event["name"] in EVENTS]
    events = [{name: value for name, value in event.items() if name in of_event} for event in told]
    SCHEMA.validate({name: data[name] for name in ("format", "version", "about")} | {"events": events})


READERS: dict[str, tuple[int, Callable[[Files, Path], None]]] = {  # how often each is chosen
    "folder": (4, running("folder")),
    "dropped": (4, running("dropped")),
    "look": (3, look),
    "ours": (2, ours),
    "config": (2, config),
    "page": (1, page),
    "trace": (4, traced),
}


# ---- what they read ---------------------------------------------------------------------------------


@cache
def valid(kind: str) -> dict[str, bytes]:
    """The files of a small checkpoint, and a model of ours."""
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        if kind == "gpt2":
            write(place, GPT2, gpt2_tensors(rng), byte_level())
        else:
            write(place, LLAMA, llama_tensors(rng), byte_level("<begin>"))
        save(place / hostile.OURS, shipped("names"))
        (place / "trace.json").write_text(hostile_traces.good("whole" if kind == "gpt2" else "excerpt"), "utf-8")
        return {path.name: path.read_bytes() for path in sorted(place.iterdir())}


def changed(rng: Random, data: bytes, is_json: bool) -> bytes:
    """The same file with something else in it."""
    if is_json and rng.random() < 0.7:
        return other_field(rng, data)
    if data[8:10] == b'{"' and rng.random() < 0.6:  # the header of a .safetensors file
        length = int.from_bytes(data[:8], "little")
        header = other_field(rng, data[8 : 8 + length])
        size = len(header) if rng.random() < 0.9 else rng.choice((0, 1, len(header) + 9, 2**40, 2**63, 2**64 - 1))
        return size.to_bytes(8, "little") + header + data[8 + length :]
    at, n = rng.randrange(len(data) + 1), rng.choice((1, 1, 2, 8, 100, 4096))
    kind = rng.randrange(5)
    if kind == 0:
        return data[:at]
    if kind == 1:
        return data[:at] + rng.randbytes(n) + data[at + n :]
    if kind == 2:
        other = rng.randrange(len(data) + 1)
        return data[:at] + data[other : other + n] + data[at:]
    if kind == 3:
        return data[:at] + data[at + n :]
    bit = min(rng.choice((at, at % 300)), len(data) - 1)
    return data[:bit] + bytes([data[bit] ^ 1 << rng.randrange(8)]) + data[bit + 1 :]


def other_field(rng: Random, data: bytes) -> bytes:
    """JSON with another value, or another name, somewhere."""
    try:
        whole = json.loads(data)
    except ValueError:
        return data[: len(data) // 2]
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        place = whole
        while isinstance(place, (dict, list)) and place:
            keys = list(place) if isinstance(place, dict) else list(range(len(place)))
            key = rng.choice(keys[:40])
            if not isinstance(place[key], (dict, list)) or not place[key] or rng.random() < 0.3:
                kind = rng.random()
                if kind < 0.2:
                    del place[key]
                elif kind < 0.3 and isinstance(place, dict):
                    place[str(rng.choice(VALUES))] = place.pop(key)
                elif kind < 0.4:
                    place[key] = deepcopy(place[rng.choice(keys)])
                else:
                    place[key] = deepcopy(rng.choice(VALUES))
                break
            place = place[key]
    return json.dumps(whole).encode()


# ---- the cases --------------------------------------------------------------------------------------


def named(scale: float, order: Order) -> list[str]:
    """Those of the tables, and changed files by their numbers."""
    tables = [f"files: {case.name} | {reader}" for case in hostile.CASES for reader in case.readers]
    tables += [f"tokenizers: {case.name}" for case in hostile_tokenizers.CASES]
    tables += [f"traces: {case.name}" for case in hostile_traces.CASES]
    return some(tables, scale) + [f"changed: {i}" for i in range(max(1, round(CHANGED * scale)))]


def attack(names: Sequence[str], order: Order) -> Iterator[Seen]:
    warnings.simplefilter("ignore")  # numbers overflow in such files
    for name in names:
        start = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            seen = judged(name, order, Path(folder))
        late = time.monotonic() - start > SECONDS
        yield seen._replace(wrong=f"takes more than {SECONDS} s") if late and not seen.wrong else seen


def judged(name: str, order: Order, place: Path) -> Seen:
    try:
        tried(name, order, place)
        return Seen(name, kind="read")
    except UserError as error:
        sound = str(error) and "\n" not in str(error) and len(str(error)) < 2000
        return Seen(name, "" if sound else f"no sentence: {str(error)[:200]!r}", "refused in a sentence")
    except Exception as error:
        return Seen(name, source_of(error), "exceptions", about=str(error)[:300])


def tried(name: str, order: Order, place: Path) -> None:
    kind, _, rest = name.partition(": ")
    if kind == "tokenizers":
        tokenized(rest)
        return
    if kind == "traces":
        hostile_traces.drawn(next(one for one in hostile_traces.CASES if one.name == rest).laid(place), place / "out")
        raise AssertionError("drawn as if nothing were wrong")
    if kind == "files":
        case, _, reader = rest.rpartition(" | ")
        found = next(one for one in hostile.CASES if one.name == case)
        hostile.READERS[reader](hostile.laid(found), place)
        raise AssertionError("read as if nothing were wrong")
    rng = Random(order.of(name))
    reader = rng.choices([*READERS], [often for often, _ in READERS.values()])[0]
    files = dict(valid(rng.choice(("gpt2", "llama"))))
    choice = {
        "look": ["model.safetensors"],
        "ours": [hostile.OURS],
        "config": ["config.json"],
        "trace": ["trace.json"],
    }.get(reader, ["config.json", "model.safetensors", "tokenizer.json"])
    file = rng.choice(choice)
    files[file] = changed(rng, files[file], file.endswith(".json"))
    READERS[reader][1](files, place)


def tokenized(name: str) -> None:
    """Ids, or a sentence."""
    found = next(one for one in hostile_tokenizers.CASES if one.name == name)
    plain = PlainTokenizer(found.file())
    plain.decode(plain.encode(found.text))


PART = Part(
    tried="files made to harm, traces and excerpts among them, and valid ones with bits, bytes or fields changed, "
    "before everything that reads files",
    cases=named,
    attack=attack,
    at_once=1000,
    patience=3 * SECONDS,
    memory=4 << 30,
)
