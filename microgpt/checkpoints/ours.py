"""A model of ours as a .safetensors file: what `describe` says of it in the metadata, then its parameters by our names.

    data = file_bytes(model)        load(path), save(path, model) of the package take such files too

It is what a page keeps of a model that was trained in it. A file may come from anyone: what it says of itself is
checked like any other (safetensors.py), then like an .npz of ours (weights.py). Knows no page.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from microgpt import weights
from microgpt.checkpoints.files import ENDING, FORMATS, check_type, numbers
from microgpt.checkpoints.safetensors import META, PREFIX, Read, read_header
from microgpt.config import param_shapes
from microgpt.errors import UserError, printable
from microgpt.files import megabytes, open_file, write_whole
from microgpt.weights import Model, build_model, describe

KEY = "microgpt"  # of the metadata
LARGEST_OWN = 20_000_000  # of a file that is read here


def file_bytes(model: Model) -> bytes:
    """The file, the same bytes for the same model; in 32 bits a number where they hold it, else in 64."""
    short = all(np.array_equal(array, array.astype(np.float32)) for array in model.params.values())
    dtype, parts, at = "F32" if short else "F64", list[bytes](), 0
    about: dict[str, object] = {META: {KEY: describe(model)}}
    for name in param_shapes(model.config):
        parts.append(model.params[name].astype(FORMATS[dtype]).tobytes())
        place = [at, at := at + len(parts[-1])]
        about[name] = {"dtype": dtype, "shape": model.params[name].shape, "data_offsets": place}
    text = json.dumps(about).encode()
    text += b" " * (-len(text) % 8)  # so that the numbers begin where a number may
    return b"".join([len(text).to_bytes(PREFIX, "little"), text, *parts])


def read_model(read: Read, size: int, name: str) -> Model:
    """The model in a file of `size` bytes, of which `read(start, stop)` gives some; `name` is what errors call it."""
    if size > LARGEST_OWN:
        raise UserError(
            "“%(name)s” has %(size)s MB; a model of this course has at most %(most)s.",
            name=printable(name), size=megabytes(size), most=megabytes(LARGEST_OWN),
        )  # fmt: skip
    header = read_header(read, size)
    if KEY not in header.metadata:
        raise UserError(
            "“%(name)s” was not made here: its header does not describe a model of this course. A checkpoint of others "
            "is opened on the page “Your model”, with its config.json and tokenizer.json.",
            name=printable(name),
        )
    data, arrays = read(PREFIX + header.length, size), {}
    for one in header.tensors:
        check_type(printable(name), one.name, one.dtype)
        arrays[one.name] = numbers(data[one.start : one.stop], one.dtype, one.shape)
    return build_model(printable(name), header.metadata[KEY], arrays, Path(name).stem)


def load(path: str | Path, name: str | None = None) -> Model:
    """Read a model of ours from an .npz or a .safetensors file. Raises UserError for a file that is not as it should
    be."""
    path = Path(path)
    if path.suffix != ENDING:
        return weights.load(path, name)
    try:
        with open_file(path) as file:
            data = file.read(LARGEST_OWN + 1)
    except FileNotFoundError:
        raise UserError("There is no weights file %(path)s.", path=path) from None
    except OSError as error:
        raise UserError("“%(path)s” cannot be read (%(why)s).", path=path, why=error.strerror) from None
    return read_model(lambda start, stop: data[start:stop], len(data), name or path.name)


def save(path: str | Path, model: Model) -> None:
    """Write a model of ours as an .npz or a .safetensors file, by the ending of its name."""
    if Path(path).suffix == ENDING:
        write_whole({Path(path): file_bytes(model)})
    else:
        weights.save(Path(path), model)
