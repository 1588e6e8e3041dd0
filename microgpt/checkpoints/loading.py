"""A checkpoint out of files that a reader handed over, read piece by piece: for a browser, where there is no folder.

    loading = Loading(files)
    while (model := loading.go_on(seconds)) is None: ...    # show loading.read of loading.total

Everything that can be checked is checked before the first number is read. Then one tensor after the other is read and
becomes what the model computes with, so that memory holds the model and one tensor more. Matrices in bfloat16 stay as
they are where a product reads them so, see simd/: a browser has little memory. No library is needed.
Knows files by name and size; knows no page.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import NamedTuple

import numpy as np

from microgpt import simd
from microgpt.architectures.facts import GENERATION, LONGEST_CONFIG, Facts, facts_of
from microgpt.architectures.names import FAMILY_OF, is_computed
from microgpt.checkpoints.assemble import HALF_DTYPE, Precision, assemble, check_shape, look_up_all, uncut
from microgpt.checkpoints.files import ENDING, INDEX, LONGEST_INDEX, OTHERS, WHOLE, check_type, numbers, weight_map
from microgpt.checkpoints.safetensors import PREFIX, check_count, read_header
from microgpt.checkpoints.tokenizer import TOKENIZER, tokenizer_of
from microgpt.config import Array, Config, param_shapes
from microgpt.errors import N_, UserError, printable
from microgpt.files import Readable, megabytes
from microgpt.weights import Model

CONFIG = "config.json"
LIMIT = 1_500_000_000  # bytes of parameters; a 32-bit interpreter can have 4 GB in all
MOST_BYTES = {  # the most bytes that are read of each; tokenizer.json of the models that run here has up to 17 million
    CONFIG: LONGEST_CONFIG,
    GENERATION: LONGEST_CONFIG,
    INDEX: LONGEST_INDEX,
    TOKENIZER: 20_000_000,
}
SAMPLES, SAMPLE = 4, 4096  # places in a file, and bytes at each, that tell it from another of its name and size: few,
# since a browser takes some milliseconds for each, at every answer
NEAR = 64


class Piece(NamedTuple):
    """Where a tensor is; `start` counts from the beginning of its file."""

    file: Readable
    start: int
    stop: int
    dtype: str
    shape: tuple[int, ...]


class Loading:
    """A model on its way: `read` of `total` bytes, `n_done` of `count` tensors."""

    def __init__(
        self, files: Sequence[Readable], dtype: Callable[[Config], Precision] = lambda config: "float32"
    ) -> None:
        optional = any(file.name == GENERATION for file in files)
        self.facts = facts_of(text_of(files, CONFIG), text_of(files, GENERATION) if optional else None)
        self.dtype = dtype(self.facts.config)
        self.places = tensor_places(weights_of(files))
        self.wanted, self.turned = plan(self.places, self.facts)
        check_room([self.places[name] for name in self.wanted], self.dtype)
        vocabulary = text_of(files, TOKENIZER)
        self.tokenizer = tokenizer_of(vocabulary, self.facts)
        self.arrays: dict[str, Array] = {}
        self.read, self.total = 0, sum(self.places[name].stop - self.places[name].start for name in self.wanted)

    @property
    def n_done(self) -> int:
        return len(self.arrays)

    @property
    def count(self) -> int:
        return len(self.wanted)

    def go_on(self, seconds: float = math.inf) -> Model | None:
        """Read for about so long; the model, once all is read."""
        end = time.monotonic() + seconds
        while self.n_done < self.count:
            name = self.wanted[self.n_done]
            self.arrays[name] = self.tensor(name)
            self.read += self.places[name].stop - self.places[name].start
            if time.monotonic() > end:
                return None
        where = self.places[self.wanted[0]].file.name
        params = assemble(
            self.arrays, self.facts, self.dtype, printable(where), lambda name: self.arrays.pop(name, None)
        )
        return Model(self.facts.name, self.facts.config, params, self.tokenizer)

    def tensor(self, name: str) -> Array:
        """One tensor as the model will hold it. What will be transposed is laid out as it will be read then.

        NumPy without a library for matrices, as browsers have it, takes ten times as long on columns.
        """
        file, start, stop, dtype, shape = self.places[name]
        data = file.read(start, stop)
        if len(data) < stop - start:
            raise UserError("%(name)s was cut short as it was read. Choose it again.", name=printable(file.name))
        if stays(self.places[name], self.dtype):
            array = np.frombuffer(data, HALF_DTYPE).reshape(shape)
        else:
            with np.errstate(over="ignore"):  # `assemble` looks at what comes of it
                array = numbers(data, dtype, shape).astype(self.dtype, copy=False)
        return transpose(array).T if name in self.turned else array


# ---- which files ----------------------------------------------------------------------------------


def mark(files: Sequence[Readable]) -> str:
    """What tells these files from others: name, size, date, and SAMPLES places in each, both ends among them.

    The checkpoints of one training run differ in their numbers alone; a file that was edited, perhaps in few of them.
    """
    said: list[object] = []
    for file in sorted(files, key=lambda file: file.name):
        said += [file.name, file.size, file.changed]
        last = max(0, file.size - SAMPLE)
        for start in sorted({last * i // (SAMPLES - 1) for i in range(SAMPLES)}):
            said.append(file.read(start, min(start + SAMPLE, file.size)))
    return sha256(repr(said).encode()).hexdigest()[:16]


def text_of(files: Sequence[Readable], name: str) -> str:
    """The text of the file of that name."""
    found = next((file for file in files if file.name == name), None)
    if found is None:
        raise UserError(
            "%(name)s is missing. Choose it together with the other files of the checkpoint’s folder.", name=name
        )
    if found.size > MOST_BYTES[name]:
        sentence = N_("%(name)s has %(size)s MB; a text of up to %(limit)s MB is read here.")
        raise UserError(sentence, name=name, size=megabytes(found.size), limit=megabytes(MOST_BYTES[name]))
    try:
        return found.read(0, found.size).decode("utf-8")
    except UnicodeDecodeError:
        raise UserError("%(name)s is not a text in UTF-8. Fetch it anew.", name=name) from None


def weights_of(files: Sequence[Readable]) -> dict[str, Readable]:
    """The files that hold the tensors, by name: one, or all that an index names."""
    found = {file.name: file for file in files if file.name.endswith(ENDING)}
    if not found:
        other = next((file.name for file in files if file.name.endswith(OTHERS)), None)
        if other:
            raise UserError(
                "%(other)s is not read here, since such files may hold code. Convert it to .safetensors, for "
                "instance with save_pretrained of transformers.",
                other=printable(other),
            )
        raise UserError(
            "%(name)s is missing: choose the .safetensors file together with the other files of the folder.", name=WHOLE
        )
    if len(found) == 1 and not any(file.name == INDEX for file in files):
        return found
    if WHOLE in found:
        return {WHOLE: found[WHOLE]}
    if not any(file.name == INDEX for file in files):
        raise UserError(
            "There are %(n)s .safetensors files. If they are one model, choose its %(index)s too; else choose one.",
            n=len(found),
            index=INDEX,
        )
    text = text_of(files, INDEX)
    try:
        named = sorted(set(weight_map(text).values()))
    except ValueError as error:
        raise UserError("%(path)s cannot be read (%(why)s). Fetch it anew.", path=INDEX, why=error) from None
    for name in named:
        if name not in found:
            raise UserError(
                "%(name)s is missing, which %(index)s names. Choose it too.", name=printable(name), index=INDEX
            )
    return {name: found[name] for name in named}


def tensor_places(files: dict[str, Readable]) -> dict[str, Piece]:
    """Every tensor of the files, by the headers alone."""
    found: dict[str, Piece] = {}
    for file in files.values():
        header = read_header(file.read, file.size)
        at = PREFIX + header.length
        for one in header.tensors:
            if one.name in found:
                raise UserError("Two files hold the tensor %(name)s. Choose one model’s.", name=printable(one.name))
            found[one.name] = Piece(file, at + one.start, at + one.stop, one.dtype, one.shape)
        check_count(len(found))
    return found


# ---- what of them ---------------------------------------------------------------------------------


def plan(places: dict[str, Piece], facts: Facts) -> tuple[list[str], set[str]]:
    """The tensors to read, and which of them are stored the other way round. Raises UserError where they do not fit."""
    shapes = param_shapes(facts.config)
    where = printable(next(iter(places.values())).file.name) if places else ENDING
    sources, bare = look_up_all(places, facts, where)
    wanted = [key for key in dict.fromkeys(bare.values()) if not is_computed(key, FAMILY_OF[facts.kind])]
    for key in wanted:
        check_type(printable(places[key].file.name), key, places[key].dtype)
    for name, source in sources.items():
        check_shape(places[bare[source.name]].shape, uncut(shapes[name], source), source.name, where)
    if facts.config.tied and "lm_head.weight" in bare:
        check_shape(places[bare["lm_head.weight"]].shape, shapes["wte"], "lm_head.weight", where)
    return wanted, {bare[source.name] for source in sources.values() if source.transposed}


def stays(tensor: Piece, dtype: Precision) -> bool:
    """Whether a model that computes in `dtype` holds this tensor as its file does, 2 bytes a number: a matrix in
    bfloat16, where products are simd's."""
    return not simd.BLAS and dtype == "float32" and tensor.dtype == "BF16" and len(tensor.shape) == 2


def transpose(array: Array) -> Array:
    """The transpose, its rows in one piece; made of so many rows as stay near, which takes a quarter of the time."""
    found = np.empty(array.shape[::-1], array.dtype)
    for at in range(0, len(array), NEAR):
        found[..., at : at + NEAR] = array[at : at + NEAR].T
    return found


def check_room(tensors: Sequence[Piece], dtype: Precision) -> None:
    """Raise UserError for a model that this place is too small for."""
    full = np.dtype(dtype).itemsize
    needed = sum(math.prod(one.shape) * (HALF_DTYPE.itemsize if stays(one, dtype) else full) for one in tensors)
    if needed > LIMIT:
        raise UserError(
            "This model needs %(size)s MB of memory; there is room for %(limit)s MB in a page. At the command line "
            "there is more: python build.py --model FOLDER --prompt TEXT --out lesson.",
            size=megabytes(needed),
            limit=megabytes(LIMIT),
        )
