"""A checkpoint folder as Hugging Face lays it out, as a Model: config.json, .safetensors files and tokenizer.json.

What ends a text is read from generation_config.json, where there is one.

    model = load_checkpoint(Path("SmolLM2-135M"))

`assemble` is the heart: it takes tensors by their published names, from wherever they come, and hands back ours.
What the files are called and how they are read is checkpoint_files.py's business, what config.json means that of
checkpoint_config.py, the names are checkpoint_names.py's. Knows no page, and no model but its names and shapes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from microgpt.checkpoint_config import GENERATION, LONGEST_CONFIG, Facts, facts_of
from microgpt.checkpoint_files import open_tensors
from microgpt.checkpoint_names import NAMES, Names, Source
from microgpt.checkpoint_tokenizer import CheckpointTokenizer, read_tokenizer
from microgpt.errors import N_, UserError
from microgpt.files import read_text
from microgpt.model import Array, Params, param_shapes
from microgpt.safetensors_header import quoted, shown
from microgpt.weights import Model, check_fields

Precision = Literal["float32", "float64"]


def load_checkpoint(folder: Path, dtype: Precision = "float32") -> Model:
    """The model in `folder`. Raises UserError, one sentence, for whatever cannot be read or run here."""
    facts, params = load_params(folder, dtype)
    tokenizer: CheckpointTokenizer = read_tokenizer(folder, facts)
    return Model(folder.resolve().name, facts.config, params, tokenizer)


def load_params(folder: Path, dtype: Precision = "float32") -> tuple[Facts, Params]:
    """The same without a tokenizer: what config.json says, and the parameters.

    Numbers that are stored in `dtype`, and in one piece, are views of the mapped files. Others are copied, one tensor
    at a time.
    """
    if dtype not in get_args(Precision):
        known = ", ".join(get_args(Precision))
        raise UserError(N_("The model computes in %(known)s; not in “%(dtype)s”."), known=known, dtype=dtype)
    if not os.path.isdir(folder):  # unlike the method of Path, it takes any text: there is no folder of that name
        raise UserError(N_("There is no folder %(folder)s."), folder=folder)
    text = text_in(folder / "config.json")
    if text is None:
        raise UserError(
            N_("%(folder)s has no config.json. Give the folder of a checkpoint, as Hugging Face lays it out."),
            folder=folder,
        )
    facts = facts_of(text, text_in(folder / GENERATION))
    tensors = open_tensors(folder)
    return facts, assemble(tensors, facts, dtype, str(folder), tensors.release)


def text_in(path: Path) -> str | None:
    """The text of a file; None where there is none."""
    try:
        return read_text(path, LONGEST_CONFIG)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UserError(N_("%(path)s cannot be read (%(why)s)."), path=path, why=error.strerror) from None


def assemble(
    tensors: Mapping[str, Array],
    facts: Facts,
    dtype: Precision = "float32",
    where: str = "checkpoint",
    release: Callable[[str], object] = lambda name: None,
) -> Params:
    """Our parameters out of `tensors`, which are looked up one after the other. `where` is what errors call them.

    `release` is told the name of each tensor of which no view is kept.
    """
    check_fields(where, facts.config)
    names, shapes = NAMES[facts.kind], param_shapes(facts.config)
    found = {key.removeprefix(names.prefix): key for key in tensors}
    sources = {name: source_of(name, names) for name in shapes}
    if len(found) < len(tensors):
        raise UserError(
            N_("%(where)s has the same tensor twice, with and without “%(prefix)s” before its name."),
            where=where, prefix=names.prefix,
        )  # fmt: skip
    check_names(found, sources, facts, where)
    if facts.config.tied and "lm_head.weight" in found:
        check_tied(tensors[found["lm_head.weight"]], tensors[found[names.sources["wte"].name]], where)
    params: Params = {}
    key, theirs = "", np.empty(0)
    for name, source in sources.items():
        if key != found[source.name]:  # q, k and v of one tensor come one after the other
            key, theirs = found[source.name], tensors[found[source.name]]
        check_shape(theirs.shape, uncut(shapes[name], source), source.name, where)
        view = cut(theirs, source)
        array = view if view.flags.forc else np.ascontiguousarray(view)  # products with rows in pieces take longer
        with np.errstate(over="ignore"):  # what comes of it is looked at below
            params[name] = array.astype(dtype, copy=False)
        if not np.isfinite(params[name]).all():
            raise UserError(
                N_("%(where)s: %(name)s holds NaN or infinity; the file is damaged, or too large for %(dtype)s."),
                where=where, name=source.name, dtype=dtype,
            )  # fmt: skip
        if params[name] is not view:
            release(key)
    return params


def source_of(name: str, names: Names) -> Source:
    """Where one of our parameters is found: "layer3.wq.bias" -> what the table says of "wq.bias", in layer 3."""
    layer, _, part = name.removeprefix("layer").partition(".") if name.startswith("layer") else ("", "", name)
    source = names.sources[part]
    return source._replace(name=source.name.format(layer=layer))


def cut(array: Array, source: Source) -> Array:
    """The part that is meant, [out, in]: a view."""
    if source.third is not None:
        width = array.shape[-1] // 3
        array = array[..., source.third * width : (source.third + 1) * width]
    return array.T if source.transposed else array


def uncut(shape: tuple[int, ...], source: Source) -> tuple[int, ...]:
    """The shape of the tensor from which `cut` makes one of `shape`."""
    shape = shape[::-1] if source.transposed else shape
    return shape if source.third is None else (*shape[:-1], 3 * shape[-1])


def check_names(found: Mapping[str, str], sources: Mapping[str, Source], facts: Facts, where: str) -> None:
    """Raise UserError unless all that is needed is there, and nothing that this model could not have."""
    needed = {source.name for source in sources.values()}
    missing = [name for name in needed if name not in found]
    if missing == ["lm_head.weight"]:
        raise UserError(
            N_(
                "%(where)s has no lm_head.weight, and its config.json does not say that the embedding is the output "
                "head. If it is, write “tie_word_embeddings”: true."
            ),
            where=where,
        )
    if missing:
        raise UserError(
            N_("%(where)s lacks %(count)s tensors that its config.json asks for, among them %(name)s."),
            where=where, count=len(missing), name=min(missing),
        )  # fmt: skip
    known = "|".join((*NAMES[facts.kind].ignored, re.escape("lm_head.weight") if facts.config.tied else "(?!)"))
    extra = [key for name, key in found.items() if name not in needed and not re.fullmatch(known, name)]
    if extra:
        raise UserError(
            N_("%(where)s has %(count)s tensors that no %(kind)s of this config.json has, among them %(name)s."),
            where=where, count=len(extra), kind=facts.kind, name=shown(min(extra)),
        )  # fmt: skip


def check_shape(shape: tuple[int, ...], expected: tuple[int, ...], name: str, where: str) -> None:
    if shape != expected:
        raise UserError(
            N_("%(where)s: %(name)s has shape %(shape)s; its config.json says %(expected)s."),
            where=where, name=name, shape=quoted(shape), expected=expected,
        )  # fmt: skip


def check_tied(head: Array, embedding: Array, where: str) -> None:
    if not np.array_equal(head, embedding):
        raise UserError(
            N_(
                "%(where)s: config.json says that the embedding is the output head, but lm_head.weight differs. "
                "Write “tie_word_embeddings”: false, if the file is right."
            ),
            where=where,
        )
