"""Look inside a weights file: python -m microgpt.checkpoints FILE. Reads headers alone, never the numbers.

FILE is a .safetensors file, an .npz of ours, or a folder with one of them or with model.safetensors.index.json. Knows
paths and how a table looks in a terminal; what the tensors are is known to contents.py and names.py.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

from microgpt.architectures.names import look_up
from microgpt.architectures.roles import ROLES
from microgpt.checkpoints.contents import Contents, Group, TensorRow, contents, spans
from microgpt.checkpoints.files import ENDING, INDEX, by_file, header, names_in, shards
from microgpt.checkpoints.safetensors import Tensor
from microgpt.errors import N_, UserError, printable
from microgpt.files import open_file
from microgpt.weights import array_header

NUMPY = {"f8": "F64", "f4": "F32", "f2": "F16"}


def main(argv: Sequence[str] | None = None, prog: str = "python -m microgpt.checkpoints") -> int:
    parser = argparse.ArgumentParser(prog=prog, description="What a weights file holds.")
    parser.add_argument("file", type=Path, help=".safetensors, .npz of ours, or a folder with one or with an index")
    parser.add_argument("--json", action="store_true", help="every tensor, for programs")
    options = parser.parse_args(argv)
    try:
        tensors = tensors_of(options.file)
    except UserError as error:
        print(f"weights: {error}", file=sys.stderr)
        return 1
    text = as_json(tensors) if options.json else "\n".join(lines(printable(options.file.name), contents(tensors)))
    try:
        print(text, flush=True)
    except BrokenPipeError:  # whoever reads it has enough, as `head` has; Python flushes once more as it ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


# ---- files ----------------------------------------------------------------------------------------


def tensors_of(path: Path) -> list[Tensor]:
    """All tensors of a file, or of all files of a folder. Raises UserError when one of them is not as it should be."""
    if os.path.isdir(path):  # False for a name that is too long, too
        path = only(path)
    if path.name.endswith(".index.json"):
        return tensors_of_index(path)
    if path.suffix == ".npz":
        return arrays(path)
    return header(path).tensors


def only(folder: Path) -> Path:
    """The index in a folder, or the one file of weights."""
    inside = names_in(folder)
    if INDEX in inside:
        return folder / INDEX
    found = [n for n in inside if n.endswith(ENDING)] or [n for n in inside if n.endswith(".npz")]
    if len(found) != 1:
        sentence = N_("“%(path)s” has %(n)s weights files and no %(index)s. Name one file.")
        raise UserError(sentence, path=folder, n=len(found), index=INDEX)
    return folder / found[0]


def tensors_of_index(path: Path) -> list[Tensor]:
    """The tensors of all files that an index names, each of them where the index says."""
    found: list[Tensor] = []
    for name, expected in by_file(shards(path)).items():
        here = header(path.with_name(name)).tensors
        if missing := expected - {t.name for t in here}:
            sentence = N_("“%(path)s” lacks the tensor “%(name)s”, which the index says it has.")
            raise UserError(sentence, path=path.with_name(name), name=printable(min(missing)))
        found += here
    return found


def arrays(path: Path) -> list[Tensor]:
    """The arrays of an .npz of ours, by the headers that NumPy gives them."""
    found: list[Tensor] = []
    try:
        with open_file(path) as packed, zipfile.ZipFile(packed) as archive:
            for name in archive.namelist():
                with archive.open(name) as file:
                    shape, dtype = array_header(file)
                if dtype.kind == "U":  # config and vocabulary, as JSON
                    continue
                at, n = (found[-1].stop if found else 0), math.prod(shape) * dtype.itemsize
                found.append(Tensor(name.removesuffix(".npy"), NUMPY[dtype.str[1:]], shape, at, at + n))
    except FileNotFoundError:
        raise UserError("There is no weights file %(path)s.", path=path) from None
    except OSError as error:
        raise UserError("“%(path)s” cannot be read (%(why)s).", path=path, why=error.strerror) from None
    except Exception as error:  # a damaged file makes zipfile, zlib and NumPy raise nearly anything
        sentence = N_("“%(path)s” is not an .npz of weights, or it is damaged (%(why)s).")
        raise UserError(sentence, path=path, why=printable(str(error) or type(error).__name__)) from None
    return found


# ---- text -----------------------------------------------------------------------------------------


def as_json(tensors: Sequence[Tensor]) -> str:
    found = []
    for t in tensors:
        k = look_up(t.name)
        about = {"name": t.name, "dtype": t.dtype, "shape": t.shape, "parameters": t.size, "bytes": t.nbytes}
        found.append(about | {"role": k.role if k else None, "layer": k.layer if k and k.layer >= 0 else None})
    return json.dumps(found, indent=1)


def lines(name: str, found: Contents) -> list[str]:
    """A table for a terminal: what the model is, then its tensors, layers that are alike once."""
    cells = [(group, [cells_of(row) for row in group.rows]) for group in found.groups]
    wide = [max([len(row[i]) for _, rows in cells for row in rows], default=0) for i in range(6)]
    said = [f"{name}: {len(found.tensors):,} tensors, {found.size:,} parameters, {found.nbytes:,} bytes", *about(found)]
    for group, rows in cells:
        said += ["", title(group)]
        for row in rows:
            left = [row[0].ljust(wide[0]), row[1].ljust(wide[1]), row[2].ljust(wide[2]), row[3].ljust(wide[3])]
            said.append("  " + "  ".join([*left, row[4].rjust(wide[4]), row[5].rjust(wide[5])]).rstrip())
    return said


def about(found: Contents) -> list[str]:
    """What names and shapes say of the model."""
    s, said = found.shape, []
    said.append("types: " + ", ".join(f"{dtype} {size:,}" for dtype, size in found.dtypes.items()))
    if not found.family:
        return [*said, "its names are not known here"]
    sizes = {
        "layers": len(found.layers),
        "n_embd": s.n_embd,
        "tokens": s.n_vocab,
        "positions": s.n_ctx,
        "n_mlp": s.n_mlp,
    }
    said.append(f"named as {found.family}: " + ", ".join(f"{name} {n:,}" for name, n in sizes.items() if n))
    if not found.whole:
        said.append("a part of a model: some of its tensors are in other files")
    if found.tied:
        said.append("no output head: the embedding is used once more (tied)")
    if s.cached:
        said.append(f"KV cache: {s.cached:,} numbers a token, {2 * s.cached:,} bytes in 16-bit numbers")
    return said


def title(group: Group) -> str:
    if group.where == "layers":
        each = ", ".join(f"{a}" if a == b else f"{a} to {b}" for a, b in spans(group.layers))
        return f"layers {each}, alike" if len(group.layers) > 1 else f"layer {each}"
    return {"before": "before the layers", "after": "behind the layers"}.get(group.where, "not known here")


def cells_of(row: TensorRow) -> list[str]:
    role = ROLES[row.role].symbol if row.role in ROLES else ""
    what = role if row.kind == "weight" else f"{row.kind} of {role}"
    times = f" x {row.times}" if row.times > 1 else ""
    shape = "[" + ", ".join(map(str, row.shape)) + "]"
    return [printable(row.name) + times, what, shape, row.dtype, f"{row.size:,}", f"{row.nbytes:,}"]


if __name__ == "__main__":
    sys.exit(main())
