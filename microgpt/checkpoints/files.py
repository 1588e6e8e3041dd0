"""The tensors of a checkpoint's .safetensors files, by name, out of a memory map: what is not asked for is not read.

What a file says of itself is checked by safetensors.py; nothing that could run code is ever opened.
Knows files and number formats; does not know what a tensor is for.
"""

from __future__ import annotations

import math
import mmap
import os
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from microgpt.checkpoints.safetensors import PREFIX, Header, read_header
from microgpt.config import Array
from microgpt.errors import N_, UserError, printable
from microgpt.files import open_file, parse_json, read_text
from microgpt.simd import widen

WHOLE, INDEX = "model.safetensors", "model.safetensors.index.json"
ENDING = ".safetensors"
LONGEST_INDEX = 15_000_000  # bytes; that of DeepSeek-V3 has 9 million
LONGEST_NAME = 255  # bytes of a file's name; file systems allow no more
OTHERS = (".bin", ".pt", ".pth", ".ckpt", ".gguf", ".ggml", ".h5", ".msgpack", ".onnx", ".npz")
FORMATS = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2"}  # of the bytes in the file


class Place(NamedTuple):
    """Where a tensor is: `start` counts from the beginning of its file."""

    path: Path
    file: mmap.mmap
    start: int
    dtype: str
    shape: tuple[int, ...]


class Tensors(Mapping[str, Array]):
    """Name -> array. Each look-up makes the array anew: a view of the map, or for 16-bit numbers a copy in float32."""

    def __init__(self, places: Mapping[str, Place]) -> None:
        self._places = places

    def __getitem__(self, name: str) -> Array:
        path, file, start, dtype, shape = self._places[name]
        check_type(str(path), name, dtype)
        if file.size() < len(file):  # reading what is not there any more would end the interpreter
            raise UserError("The file of %(name)s was cut short as it was read. Fetch it anew.", name=printable(name))
        array = numbers(file, dtype, shape, start)
        if dtype in ("F16", "BF16"):  # a copy
            self.release(name)
        return array

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def release(self, name: str) -> None:
        """What was read of this tensor need not stay in memory; whoever reads it again reads the file again."""
        _, file, start, dtype, shape = self._places[name]
        begin = start // mmap.PAGESIZE * mmap.PAGESIZE
        stop = start + math.prod(shape) * np.dtype(FORMATS[dtype]).itemsize
        if hasattr(mmap, "MADV_DONTNEED"):
            file.madvise(mmap.MADV_DONTNEED, begin, stop - begin)


def numbers(buffer: Any, dtype: str, shape: tuple[int, ...], start: int = 0) -> Array:
    """The array of `shape` that begins at byte `start`. F64 and F32 are views; F16 and BF16 become float32."""
    raw = np.frombuffer(buffer, FORMATS[dtype], math.prod(shape), start).reshape(shape)
    if dtype == "BF16":
        return widen(raw)
    return raw.astype(np.float32) if dtype == "F16" else raw


def check_type(where: str, name: str, dtype: str) -> None:
    """Raise UserError for a tensor whose numbers are not read here. One that no model asks for may have any type."""
    if dtype not in FORMATS:
        sentence = N_("%(where)s holds %(name)s as %(dtype)s: quantised, or no real numbers. Read here are %(known)s.")
        raise UserError(sentence, where=where, name=printable(name), dtype=dtype, known=", ".join(FORMATS))


def open_tensors(folder: Path) -> Tensors:
    """The tensors of model.safetensors, or of all the files that its index names."""
    inside = names_in(folder)
    if WHOLE in inside:
        return Tensors(places(folder / WHOLE))
    if INDEX in inside:
        return Tensors(of_shards(folder, shards(folder / INDEX)))
    others = [name for name in inside if name.endswith(OTHERS)]
    if others:
        sentence = N_(
            "%(folder)s has %(other)s but no %(whole)s. Only .safetensors files are read: others may hold code, "
            "or are quantised. Convert it, for instance with save_pretrained of transformers."
        )
        raise UserError(sentence, folder=folder, other=printable(others[0]), whole=WHOLE)
    sentence = N_("%(folder)s has neither %(whole)s nor %(index)s; one of them must hold the weights.")
    raise UserError(sentence, folder=folder, whole=WHOLE, index=INDEX)


def names_in(folder: Path) -> list[str]:
    """What lies in a folder, by name. Raises UserError for one that cannot be read."""
    try:
        return sorted(path.name for path in folder.iterdir())
    except OSError as error:
        raise UserError("“%(path)s” cannot be read (%(why)s).", path=folder, why=error.strerror) from None


def shards(index: Path) -> dict[str, str]:
    """Which file holds which tensor."""
    try:
        return weight_map(read_text(index, LONGEST_INDEX))
    except UserError:
        raise
    except (OSError, ValueError) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or error
        raise UserError("%(path)s cannot be read (%(why)s). Fetch it anew.", path=index, why=why) from None


def weight_map(text: str) -> dict[str, str]:
    """Which file holds which tensor, by the text of an index. Raises ValueError for anything else."""
    found = parse_json(text)
    where = found.get("weight_map") if isinstance(found, dict) else None
    if not isinstance(where, dict) or not where:
        raise ValueError("it has no weight_map")
    if not all(map(is_file_name, where.values())):
        raise ValueError(f"its weight_map must name {ENDING} files beside it")
    return where


def is_file_name(name: Any) -> bool:
    """Whether a file of tensors could be called that, without a folder."""
    if not isinstance(name, str) or not name.isprintable() or not name.endswith(ENDING):
        return False
    return name == Path(name).name and len(name.encode()) <= LONGEST_NAME


def by_file(index: Mapping[str, str]) -> dict[str, set[str]]:
    """The names of the tensors that each file holds, the files in the order of their names."""
    found: dict[str, set[str]] = defaultdict(set)
    for name, file in index.items():
        found[file].add(name)
    return dict(sorted(found.items()))


def of_shards(folder: Path, index: Mapping[str, str]) -> dict[str, Place]:
    found: dict[str, Place] = {}
    for file, names in by_file(index).items():
        if not (folder / file).exists():
            sentence = N_("%(folder)s lacks %(file)s, which %(index)s names. Fetch it too.")
            raise UserError(sentence, folder=folder, file=file, index=INDEX)
        for name, place in places(folder / file).items():
            if name in names or name not in index:  # what the index says of no file is where it is
                found[name] = place
    return found


def places(path: Path) -> dict[str, Place]:
    """Every tensor of one file."""
    found = header(path)
    try:
        with open_file(path) as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:
        raise UserError("“%(path)s” cannot be read (%(why)s).", path=path, why=error) from None
    at = PREFIX + found.length
    return {one.name: Place(path, mapped, at + one.start, one.dtype, one.shape) for one in found.tensors}


def header(path: Path) -> Header:
    """The header of a .safetensors file on disk."""
    try:
        with open_file(path) as file:

            def read(start: int, stop: int) -> bytes:
                file.seek(start)
                return file.read(stop - start)

            return read_header(read, os.fstat(file.fileno()).st_size)
    except OSError as error:
        raise UserError("“%(path)s” cannot be read (%(why)s).", path=path, why=error.strerror) from None
    except UserError as error:
        raise UserError("“%(path)s”: %(said)s", path=path, said=error) from None
