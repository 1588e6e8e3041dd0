"""The tensors of a checkpoint's .safetensors files, by name, out of a memory map: what is not asked for is not read.

Files are opened with the safetensors library, which checks them; nothing that could run code is ever opened.
Knows files and number formats; does not know what a tensor is for.
"""

from __future__ import annotations

import json
import math
import mmap
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from microgpt.errors import N_, UserError
from microgpt.model import Array

WHOLE, INDEX = "model.safetensors", "model.safetensors.index.json"
OTHERS = (".bin", ".pt", ".pth", ".ckpt", ".gguf", ".ggml", ".h5", ".msgpack", ".onnx", ".npz")
FORMATS = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2"}  # of the bytes in the file


class Place(NamedTuple):
    """Where a tensor is: `start` counts from the beginning of its file."""

    file: mmap.mmap
    start: int
    dtype: str
    shape: tuple[int, ...]


class Tensors(Mapping[str, Array]):
    """Name -> array. Each look-up makes the array anew: a view of the map, or for 16-bit numbers a copy in float32."""

    def __init__(self, places: Mapping[str, Place]) -> None:
        self._places = places

    def __getitem__(self, name: str) -> Array:
        file, start, dtype, shape = self._places[name]
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
        file, start, dtype, shape = self._places[name]
        begin = start // mmap.PAGESIZE * mmap.PAGESIZE
        stop = start + math.prod(shape) * np.dtype(FORMATS[dtype]).itemsize
        if hasattr(mmap, "MADV_DONTNEED"):
            file.madvise(mmap.MADV_DONTNEED, begin, stop - begin)


def numbers(buffer: Any, dtype: str, shape: tuple[int, ...], start: int = 0) -> Array:
    """The array of `shape` that begins at byte `start`. F64 and F32 are views; F16 and BF16 become float32."""
    if dtype not in FORMATS:
        raise UserError(
            N_("A tensor is stored as %(dtype)s: quantised, or no real numbers. Read here are %(known)s."),
            dtype=dtype, known=", ".join(FORMATS),
        )  # fmt: skip
    raw = np.frombuffer(buffer, FORMATS[dtype], math.prod(shape), start).reshape(shape)
    if dtype == "BF16":  # the upper half of a float32
        wide = raw.astype(np.uint32)
        wide <<= 16
        return wide.view(np.float32)
    return raw.astype(np.float32) if dtype == "F16" else raw


def open_tensors(folder: Path) -> Tensors:
    """The tensors of model.safetensors, or of all the files that its index names."""
    if (folder / WHOLE).is_file():
        return Tensors(places(folder / WHOLE))
    if (folder / INDEX).is_file():
        return Tensors(of_shards(folder, shards(folder / INDEX)))
    others = sorted(path.name for path in folder.iterdir() if path.suffix in OTHERS)
    if others:
        raise UserError(
            N_(
                "%(folder)s has %(other)s but no %(whole)s. Only .safetensors files are read: others may hold code, "
                "or are quantised. Convert it, for instance with save_pretrained of transformers."
            ),
            folder=folder, other=others[0], whole=WHOLE,
        )  # fmt: skip
    raise UserError(
        N_("%(folder)s has neither %(whole)s nor %(index)s; one of them must hold the weights."),
        folder=folder, whole=WHOLE, index=INDEX,
    )  # fmt: skip


def shards(index: Path) -> dict[str, str]:
    """Which file holds which tensor."""
    try:
        found = json.loads(index.read_bytes())["weight_map"]
        if not all(isinstance(name, str) and name == Path(name).name for name in found.values()):
            raise ValueError("a file's name is not one")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UserError(
            N_("%(path)s cannot be read (%(why)s). Fetch it anew."), path=index, why=shorten(error)
        ) from None
    return dict(found)


def of_shards(folder: Path, index: Mapping[str, str]) -> dict[str, Place]:
    found: dict[str, Place] = {}
    for file in sorted(set(index.values())):
        if not (folder / file).is_file():
            raise UserError(
                N_("%(folder)s lacks %(file)s, which %(index)s names. Fetch it too."),
                folder=folder, file=file, index=INDEX,
            )  # fmt: skip
        mine = places(folder / file)
        astray = sorted(mine.keys() ^ {name for name, at in index.items() if at == file})
        if astray:
            raise UserError(
                N_("%(file)s and %(index)s do not agree about the tensor %(name)s. Fetch both anew."),
                file=folder / file, index=INDEX, name=astray[0][:100],
            )  # fmt: skip
        found |= mine
    return found


def places(path: Path) -> dict[str, Place]:
    """Every tensor of one file, checked by the library to lie inside it."""
    try:
        from safetensors import safe_open
    except ImportError:
        raise UserError(N_("To read %(path)s, install safetensors: pip install '.[checkpoints]'"), path=path) from None
    try:
        with safe_open(path, "numpy"), open(path, "rb") as file:
            length = int.from_bytes(file.read(8), "little")
            header = json.loads(file.read(length))
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except Exception as error:  # the library raises what it likes
        raise UserError(
            N_("%(path)s is not a whole safetensors file (%(why)s). Fetch it anew."), path=path, why=shorten(error)
        ) from None
    header.pop("__metadata__", None)
    for name, about in header.items():
        if about["dtype"] not in FORMATS:
            raise UserError(
                N_("%(path)s holds %(name)s as %(dtype)s: quantised, or no real numbers. Read here are %(known)s."),
                path=path, name=name[:100], dtype=about["dtype"], known=", ".join(FORMATS),
            )  # fmt: skip
    return {
        name: Place(mapped, 8 + length + about["data_offsets"][0], about["dtype"], tuple(about["shape"]))
        for name, about in header.items()
    }


def shorten(error: Exception) -> str:
    return textwrap.shorten(str(error) or type(error).__name__, 100)
