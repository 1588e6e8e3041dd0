"""Files as someone would make them who wishes us ill: a table, and the readers that each of them is put before.

    for case in CASES:
        for reader in case.readers:
            files = laid(case)                  # name -> bytes, a whole checkpoint but for what is hostile
            READERS[reader](files, folder)      # must end in a UserError, soon, and in little memory

`folder` is an empty one; only some readers write into it. Knows the readers; no test framework, so that other
programs can use the table.
"""

import functools
import io
import json
import struct
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from microgpt.apps.look_inside import app as look
from microgpt.apps.own_model import app as own_model
from microgpt.apps.own_model import dropped_model
from microgpt.architectures.config_json import from_config_json
from microgpt.checkpoints.__main__ import tensors_of
from microgpt.checkpoints.folder import load_checkpoint
from microgpt.checkpoints.loading import Loading
from microgpt.viz.local_files import Files
from microgpt.weights import load
from tests.support.checkpoints import llama

WHOLE, INDEX = "model.safetensors", "model.safetensors.index.json"
CONFIG, GENERATION, TOKENIZER, OURS = "config.json", "generation_config.json", "tokenizer.json", "ours.npz"
Bytes = Callable[[], bytes]


class Case(NamedTuple):
    """`files` take the place of a good checkpoint's, None takes one away. The sentence must hold `says`."""

    name: str
    files: dict[str, Bytes | None]
    readers: tuple[str, ...]
    says: str = ""


class Held:
    """A file as a browser hands it over, out of memory; `asked` is how far it was read."""

    def __init__(self, name: str, data: bytes, size: int | None = None) -> None:
        self.name, self.data, self.size, self.changed = name, data, len(data) if size is None else size, 0.0
        self.asked = 0

    def read(self, start: int, stop: int) -> bytes:
        self.asked = max(self.asked, stop)
        return self.data[start:stop]


# ---- the readers ----------------------------------------------------------------------------------


@functools.cache
def good() -> dict[str, bytes]:
    """A small checkpoint that every reader takes."""
    with tempfile.TemporaryDirectory() as folder:
        return {path.name: path.read_bytes() for path in llama(Path(folder)).iterdir()}


def laid(case: Case) -> dict[str, bytes]:
    made = {name: make() for name, make in case.files.items() if make}
    return {name: data for name, data in good().items() if name not in case.files} | made


def write(files: Mapping[str, bytes], folder: Path) -> Path:
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder


def held(files: Mapping[str, bytes]) -> list[Held]:
    return [Held(name, data) for name, data in files.items()]


def from_folder(files: Mapping[str, bytes], folder: Path) -> object:
    """As build.py --model FOLDER and notebooks do."""
    return load_checkpoint(write(files, folder))


def from_drop(files: Mapping[str, bytes], folder: Path) -> object:
    return Loading(held(files)).go_on()


def in_page(files: Mapping[str, bytes], folder: Path) -> object:
    """The page “Your model”."""
    dropped_model.forget()
    chosen: Files = {own_model.FIELD: held(files)}
    model = None
    while model is None:
        model, _ = dropped_model.load_slice(chosen[own_model.FIELD])
    return model


def looked(files: Mapping[str, bytes], folder: Path) -> object:
    """The page “Look inside”."""
    name = WHOLE if WHOLE in files else next(iter(files))
    return look.look({look.FIELD: [Held(name, files[name])]}, None, {})


def listed(files: Mapping[str, bytes], folder: Path) -> object:
    """python -m microgpt.checkpoints"""
    return tensors_of(write({n: data for n, data in files.items() if n.endswith((".safetensors", INDEX))}, folder))


def unpacked(files: Mapping[str, bytes], folder: Path) -> object:
    """A file of weights as we save them."""
    return load(write({OURS: files[OURS]}, folder) / OURS)


def listed_npz(files: Mapping[str, bytes], folder: Path) -> object:
    return tensors_of(write({OURS: files[OURS]}, folder) / OURS)


def pasted(files: Mapping[str, bytes], folder: Path) -> object:
    """A config.json in the page on memory."""
    return from_config_json(files[CONFIG].decode("utf-8", "surrogateescape"))


READERS: dict[str, Callable[[Mapping[str, bytes], Path], object]] = {
    "folder": from_folder,
    "dropped": from_drop,
    "own-model": in_page,
    "look-inside": looked,
    "weights": listed,
    "memory": pasted,
    "ours": unpacked,
    "ours listed": listed_npz,
}
MODELS = ("folder", "dropped", "own-model")  # what makes a model of the files
HEADERS = (*MODELS, "look-inside", "weights")


# ---- how they are made ----------------------------------------------------------------------------


def always(data: bytes | str) -> Bytes:
    return lambda: data.encode() if isinstance(data, str) else data


def packed(header: Any, data: bytes = b"", length: int | None = None) -> Bytes:
    """A file of that header."""

    def make() -> bytes:
        text = header() if callable(header) else header
        text = text if isinstance(text, bytes) else json.dumps(text).encode()
        return struct.pack("<Q", len(text) if length is None else length) + text + data

    return make


def entry(dtype: Any = "U8", shape: Any = (1,), start: Any = 0, stop: Any = 1) -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [start, stop]}


def many(n: int, nbytes: int, name: str = "%06d") -> Bytes:
    """A file of so many tensors of so many bytes each."""

    def header() -> bytes:
        found = {name % i: entry(shape=[nbytes], start=nbytes * i, stop=nbytes * (i + 1)) for i in range(n)}
        return json.dumps(found, separators=(",", ":")).encode()

    return packed(header, bytes(n * nbytes))


def config(**fields: Any) -> Bytes:
    return lambda: json.dumps(json.loads(good()[CONFIG]) | fields).encode()


def spelled(field: str, number: str) -> Bytes:
    """config.json with a number as it is written there."""
    return lambda: config(**{field: "@"})().replace(b'"@"', number.encode())


def indexed(name: Any) -> dict[str, Bytes | None]:
    """An index that says that a tensor is in a file of that name."""
    return {INDEX: always(json.dumps({"weight_map": {"lm_head.weight": name}}))}


def archive(array: bytes, claimed: int | None = None) -> bytes:
    """A zip archive with one array, which may claim to be of another size."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as packed:
        packed.writestr("wte.npy", array)
    data = bytearray(file.getvalue())
    if claimed is not None:
        at = data.index(b"PK\x01\x02") + 24
        data[at : at + 4] = struct.pack("<I", claimed)
    return bytes(data)


def array_of(shape: str, dtype: str = "<f8") -> bytes:
    """The beginning of an array in NumPy's format, and eight of its bytes."""
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117).encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + bytes(8)


ESCAPED = b'{"a":"' + b'\\"' * 100_000  # a string that is never closed
BOM = "\N{ZERO WIDTH NO-BREAK SPACE}".encode()
TEXTS: dict[str, Bytes] = {  # what no JSON of ours may be
    "a string that is not closed": always(ESCAPED),
    "a long string that is not closed": always(ESCAPED[:6] + b'\\"' * 900_000),
    "quotes": always(b'"' * 200_000),
    "nested lists": always(b"[" * 1_000_000),
    "nested objects": always(b'{"a":' * 200_000),
    "nested and closed": always(b'{"a":' + b"[" * 500_000 + b"]" * 500_000 + b"}"),
    "nothing": always(b""),
    "zeros": always(bytes(1000)),
    "no UTF-8": always(b'{"a":"\xff\xfe"}'),
    "half a character in bytes": always(b'{"a":"\xed\xa0\x80"}'),
    "a mark of byte order alone": always(BOM),
    "a list": always(b"[]"),
    "null": always(b"null"),
    "a number of a million digits": always(b"9" * 1_000_000),
    "backslashes": always(b'{"' + b"\\" * 1_000_001),
    "closed before it is open": always(b"]" * 100_000 + b"[" * 100_000),
}


def texts(file: str, readers: tuple[str, ...], others: Mapping[str, Bytes | None]) -> list[Case]:
    return [Case(f"{file}: {name}", {**others, file: make}, readers) for name, make in TEXTS.items()]


# ---- the table ------------------------------------------------------------------------------------

HEADER = [Case(f"header: {name}", {WHOLE: packed(made)}, HEADERS) for name, made in TEXTS.items()] + [
    Case(f"header: {name}", {WHOLE: make}, HEADERS, says)
    for name, make, says in (
        ("80,000 tensors", many(80_000, 1), "There are 80,000 tensors; up to 20,000 are read"),
        ("140,000 empty tensors", many(140_000, 0), "There are 140,000 tensors"),
        ("empty tensors without their fields",
         packed(lambda: b"{%s}" % b",".join(b'"%d":{}' % i for i in range(150_000))), "There are 150,000 tensors"),
        ("9 MB of one name", packed(lambda: b'{"' + b"a.1" * 3_000_000 + b'":{}}'), "has 9,000,000 letters"),
        ("9 MB of a shape",
         packed(lambda: b'{"a":{"dtype":"U8","shape":[' + b"9" * 9_000_000 + b'],"data_offsets":[0,1]}}'), "[inf]"),
        ("9 MB of empty lists", packed(lambda: b'{"a":[' + b"[]," * 3_000_000 + b"[]]}"), "more than 200,000 things"),
        *(
            (f"9 MB of {part.decode()}", packed(lambda part=part: (part * 9_000_000)[:9_000_000]), "")
            for part in (b"[", b"[]", b",", b'"', b'"\\')
        ),
        ("9 MB of wide letters", packed(lambda: '{"😀'.encode() + b"a" * 9_000_000), ""),
        ("9 MB of numbers", packed(lambda: b'{"a": [' + (b"9" * 4_000 + b"," * 100_000) * 86), ""),
        ("9 MB of free words", packed(lambda: json.dumps({"__metadata__": {"a": "\\" * 4_400_000}, "b": 1}).encode()),
         "“b” must be an object"),
        ("free words that are none", packed({"__metadata__": 5}), "“__metadata__” must be an object of texts"),
        ("longer than is read", packed(lambda: b"{}" + b" " * 10_000_000), "headers of up to 10,000,000 are read"),
        ("2^63 bytes long", packed({}, length=2**63), "but only 2 follow"),
        ("2^64 - 1 bytes long", packed({}, length=2**64 - 1), "but only 2 follow"),
        ("a number of 5,000 digits",
         packed(lambda: b'{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,' + b"9" * 5000 + b"]}}"), "data_offsets"),
        ("not a number", packed(b'{"a":{"dtype":"U8","shape":[NaN],"data_offsets":[0,1]}}', b"1"), "[nan]"),
        ("infinity", packed(b'{"a":{"dtype":"U8","shape":[-Infinity],"data_offsets":[0,1]}}', b"1"), "[-inf]"),
        ("a fraction", packed({"a": entry(shape=[1.0])}, b"1"), "[1.0]"),
        ("1e400", packed(b'{"a":{"dtype":"U8","shape":[1e400],"data_offsets":[0,1]}}', b"1"), "[inf]"),
        ("a type that there is not", packed({"a": entry("Q4_K\n\x1b[31m")}, b"1"), "Q4_K\\n\\x1b[31m"),
        ("a type that is an object", packed({"a": entry({"a": ["b"]})}, b"1"), "is of the type"),
        ("a shape that is a text", packed({"a": entry(shape="12")}, b"1"), "has the shape 12"),
        ("a product beyond 64 bits", packed({"a": entry(shape=[2**40] * 30)}, b"1"), "bits"),
        ("a product of nothing", packed({"a": entry(shape=[2**63, 0], stop=0)}), "bits"),
        ("sides without end", packed({"a": entry(shape=[1] * 60_000)}, b"1"), "up to 32 whole numbers"),
        ("ranges that overlap", packed({"a": entry(), "b": entry()}, b"1"), "an overlap"),
        ("a range behind the file", packed({"a": entry("U8", [2**50], 0, 2**50)}), "a part is missing"),
        ("a range that goes back", packed({"a": entry(start=1, stop=0)}, b"1"), "smaller one first"),
        ("a name twice", packed(b'{"a":1,"a":1}'), "“a” twice"),
        ("a name of half a character", packed(b'{"\\ud800":1}'), "half of a character"),
        ("a name that turns the text around", packed({"\u202e\x00\x1b[2J": 1}), "\\u202e\\x00\\x1b[2J"),
        ("a zip archive", always(b"PK\x03\x04" + bytes(100)), "zip archive"),
        ("nothing at all", always(b""), "has 0 bytes"),
        ("seven bytes", always(bytes(7)), "has 7 bytes"),
    )
]  # fmt: skip
MOST = Case(  # the most tensors that are read, one too many for any model that runs here
    "header: 20,000 tensors", {WHOLE: many(20_000, 1, "model.layers.%d.mlp.up_proj.weight")}, MODELS
)

NUMBERS = ("1" + "0" * 23, "1" + "0" * 400, "1" + "0" * 5000, "1e400", "-1e400", "1e-400", "NaN", "-1", "0", "1e31")
REALS = ("rms_norm_eps", "rope_theta")
COUNTS = (
    "hidden_size num_hidden_layers num_attention_heads num_key_value_heads head_dim intermediate_size vocab_size "
    "max_position_embeddings"
).split()
NO_NUMBERS: tuple[Any, ...] = (True, "1", [1], {"a": 1}, [[]], "\ud800\u202e\n")
EVERY_CONFIG = (*MODELS, "memory")

CONFIGS = [
    *texts(CONFIG, MODELS, {}),
    *(
        Case(f"{CONFIG}: {field} is {number[:8]}, {len(number)} long", {CONFIG: spelled(field, number)}, readers,
             f"“{field}” is ")
        for fields, readers in ((REALS, MODELS), (COUNTS, EVERY_CONFIG))
        for field in fields
        for number in NUMBERS
        if (field, number) != ("rms_norm_eps", NUMBERS[0]) and (field, number) != ("rope_theta", NUMBERS[0])
    ),
    *(
        Case(f"{CONFIG}: {field} is {value!r}", {CONFIG: config(**{field: value})}, readers, f"“{field}” is ")
        for fields, readers in ((REALS, MODELS), (COUNTS, EVERY_CONFIG))
        for field in fields
        for value in NO_NUMBERS
    ),
    *(
        Case(f"{CONFIG}: a scaling of {number[:8]}, {len(number)} long",
             {CONFIG: lambda number=number: config(rope_scaling={"type": "linear", "factor": "@"})()  # type: ignore[misc]
              .replace(b'"@"', number.encode())}, MODELS, "“factor” is ")
        for number in NUMBERS[1:]
    ),
    Case(f"{CONFIG}: more heads than numbers", {CONFIG: config(num_attention_heads=9_999_998)}, EVERY_CONFIG,
         "multiple"),
    Case(f"{CONFIG}: a type that is half a character", {CONFIG: config(model_type="\ud800\n")}, EVERY_CONFIG,
         "“model_type” is “\\ud800\\n”"),
    Case(f"{CONFIG}: an activation that is a list", {CONFIG: config(hidden_act=["silu"])}, MODELS, "“hidden_act” is"),
    Case(f"{CONFIG}: a scaling that is half a character",
         {CONFIG: config(rope_scaling={"rope_type": "\ud800"})}, MODELS, '“rope_type” is "\\ud800"'),
    Case(f"{CONFIG}: 3 MB", {CONFIG: config(a="b" * 3_000_000)}, MODELS, "1 MB"),
    Case(f"{CONFIG}: 1 MB of lists", {CONFIG: lambda: b'{"a":[' + (b"[" * 30 + b"]" * 30 + b",") * 16_000 + b"0]}"},
         MODELS, ""),
    Case(f"{CONFIG}: not there", {CONFIG: None}, MODELS, "config.json"),
    Case(f"{CONFIG}: tokens that there are not", {CONFIG: config(eos_token_id=[1.5])}, MODELS, "“eos_token_id” is"),
]  # fmt: skip

GENERATIONS = [
    *texts(GENERATION, MODELS, {}),
    Case(f"{GENERATION}: 3 MB", {GENERATION: always(b'{"a":"' + b"b" * 3_000_000 + b'"}')}, MODELS, "1 MB"),
    Case(
        f"{GENERATION}: a token of 5,000 digits",
        {GENERATION: always(b'{"eos_token_id":' + b"9" * 5000 + b"}")},
        MODELS,
        "“eos_token_id” is Infinity",
    ),
]

BY_INDEX = (*MODELS, "weights")
PART = {WHOLE: None, "a.safetensors": lambda: good()[WHOLE]}  # there is a file, which an index must name
INDICES = [
    *texts(INDEX, BY_INDEX, PART | {"b.safetensors": lambda: good()[WHOLE]}),
    *(
        Case(f"{INDEX}: names {label}", PART | indexed(name), BY_INDEX, "weight_map")
        for label, name in {
            "a file longer than names can be": "a" * 300 + ".safetensors",
            "a file longer than names can be in bytes": "é" * 125 + ".safetensors",
            "a file of 1 MB": "a" * 1_000_000 + ".safetensors",
            "a file with a zero": "a\0.safetensors",
            "a file above": "../a.safetensors",
            "the folder above": "..",
            "an absolute file": "/etc/passwd.safetensors",
            "half a character": "\ud800.safetensors",
            "a line": "a\nb.safetensors",
            "nothing": "",
            "a number": 3,
            "null": None,
            "a list": ["a.safetensors"],
            "a device": "/dev/zero",
            "another kind of file": "a.bin",
        }.items()
    ),
    Case(f"{INDEX}: names no file", {WHOLE: None, INDEX: always('{"weight_map":{}}')}, ("folder", "weights"),
         "no weight_map"),
    Case(f"{INDEX}: a file that there is not", PART | indexed("b.safetensors"), BY_INDEX, "b.safetensors"),
    Case(f"{INDEX}: 100,000 files that there are not",
         PART | {INDEX: lambda: json.dumps({"weight_map": {i: f"{i}.safetensors" for i in range(10**5)}}).encode()},
         BY_INDEX, ".safetensors"),
    Case(f"{INDEX}: 16 MB",
         PART | {INDEX: lambda: b'{"weight_map":{"a":"' + b"a" * 16_000_000 + b'"}}'}, BY_INDEX, "15 MB"),
    Case(f"{INDEX}: 15 MB of wide letters",
         PART | {INDEX: lambda: '{"weight_map":{"a":"😀'.encode() + b"a" * 14_000_000 + b'"}}'}, BY_INDEX,
         "weight_map"),
]  # fmt: skip

TOKENIZERS = [
    *texts(TOKENIZER, MODELS, {}),
    Case(f"{TOKENIZER}: 21 MB", {TOKENIZER: lambda: b'{"a":"' + b"a" * 21_000_000 + b'"}'}, ("dropped",), "20 MB"),
    Case(f"{TOKENIZER}: lists in lists", {TOKENIZER: lambda: (b"[" * 39 + b"]" * 39 + b",") * 100_000},
         ("dropped", "own-model"), "lists more than"),
    Case(f"{TOKENIZER}: not there", {TOKENIZER: None}, MODELS, "tokenizer.json"),
]  # fmt: skip

NPZ = [
    Case(f"{OURS}: unpacks to 2 GB", {OURS: lambda: archive(b"", claimed=2**31)}, ("ours",), "unpacks to more than"),
    *(
        Case(
            f"{OURS}: an array of the shape {shape}",
            {OURS: lambda shape=shape: archive(array_of(shape))},  # type: ignore[misc]
            ("ours",),
            "an array of the shape",
        )
        for shape in ("(10000000000,)", "(1000000, 1000000)", "(-1,)", "(4, -1)")
    ),
    Case(f"{OURS}: an array of objects", {OURS: lambda: archive(array_of("(1,)", "|O"))}, ("ours", "ours listed")),
    Case(f"{OURS}: an array of code", {OURS: lambda: archive(array_of("__import__('os')"))}, ("ours", "ours listed")),
] + [
    Case(f"{OURS}: {name}", {OURS: always(data)}, ("ours", "ours listed"), OURS)
    for name, data in {
        "nothing": b"",
        "the beginning of a zip archive": b"PK\x03\x04" + bytes(100),
        "the end of a zip archive": b"PK\x05\x06" + b"\xff" * 18,
        "zeros": bytes(100_000),
        "JSON": b"{}",
    }.items()
]

TABLES: dict[str, list[Case]] = {
    "header": [*HEADER, MOST],
    "config": CONFIGS,
    "generation": GENERATIONS,
    "index": INDICES,
    "tokenizer": TOKENIZERS,
    "npz": NPZ,
}
CASES = [case for table in TABLES.values() for case in table]
