"""Tensors by their published names -> our parameters: looked up, cut apart, turned round, checked.

Where the tensors come from, a folder or a page, it is not told. Knows names and shapes; knows no file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Literal, cast

import numpy as np

from microgpt.architectures.facts import Facts
from microgpt.architectures.names import FAMILY_OF, Source, is_computed, source_of
from microgpt.checkpoints.safetensors import quote
from microgpt.config import Array, Params, param_shapes
from microgpt.errors import N_, UserError, printable
from microgpt.simd import Halves, widen
from microgpt.weights import check_fields

Precision = Literal["float32", "float64"]
HALF_DTYPE = np.dtype(np.uint16)  # what bfloat16 lies in, since NumPy has no such type
ROWS_AT_ONCE = 1024  # that are looked at at once


def assemble(
    tensors: Mapping[str, Array],
    facts: Facts,
    dtype: Precision = "float32",
    where: str = "checkpoint",
    release: Callable[[str], object] = lambda name: None,
) -> Params:
    """Our parameters out of `tensors`, which are looked up one after the other. `where` is what errors call them.

    Matrices that come as HALF stay so (`simd.Halves`); all else becomes `dtype`.
    `release` is told the name of each tensor of which no view is kept.
    """
    check_fields(where, facts.config)
    shapes = param_shapes(facts.config)
    sources, found = look_up_all(tensors, facts, where)
    if len({*found.values()}) < len(tensors):
        twice = N_("%(where)s has the same tensor twice, with and without “%(prefix)s” before its name.")
        raise UserError(twice, where=where, prefix=FAMILY_OF[facts.kind].saved)
    if facts.config.tied and "lm_head.weight" in found:
        check_tied(tensors[found["lm_head.weight"]], tensors[found[sources["wte"].name]], where)
    params: Params = {}
    key, theirs = "", np.empty(0)
    for name, source in sources.items():
        if key != found[source.name]:  # q, k and v of one tensor come one after the other
            key, theirs = found[source.name], tensors[found[source.name]]
        check_shape(theirs.shape, uncut(shapes[name], source), source.name, where)
        view = take_part(theirs, source)
        array = view if view.flags.forc else np.ascontiguousarray(view)  # products with rows in pieces take longer
        if array.dtype == HALF_DTYPE:
            params[name] = cast(Array, Halves(array))
        else:
            with np.errstate(over="ignore"):  # what comes of it is looked at below
                params[name] = array = array.astype(dtype, copy=False)
        if not finite(array):
            damaged = N_("%(where)s: %(name)s holds NaN or infinity; the file is damaged, or too large for %(dtype)s.")
            raise UserError(damaged, where=where, name=source.name, dtype=dtype)
        if array is not view:
            release(key)
    return params


def look_up_all(keys: Iterable[str], facts: Facts, where: str) -> tuple[dict[str, Source], dict[str, str]]:
    """Where each of our parameters is found, and the tensors by their names without what is `saved` before them.

    A head that is the embedding may stand for it. Raises UserError where one is missing, or one too many is there.
    """
    family = FAMILY_OF[facts.kind]
    sources = {name: source_of(name, family) for name in param_shapes(facts.config)}
    head, embedding = "lm_head.weight", sources["wte"].name
    found = {key.removeprefix(family.saved): key for key in keys}
    if facts.config.tied and embedding not in found and head in found:
        found[embedding] = found[head]
    check_names(found, sources, facts, where)
    return sources, found


def finite(array: Array) -> bool:
    """Whether all numbers are. A sum, which is three times as quick, says so unless it overflows itself.

    Of those in bfloat16: unless all eight bits behind the sign are ones.
    """
    if array.dtype == HALF_DTYPE:
        return all(int((rows << 1).max(initial=0)) < 0xFF00 for rows in in_parts(array))
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(array.sum()) or np.isfinite(array).all())


def in_parts(array: Array) -> Iterator[Array]:
    """Some rows at a time, so that what is made of them is small."""
    return (array[at : at + ROWS_AT_ONCE] for at in range(0, len(array), ROWS_AT_ONCE))


def take_part(array: Array, source: Source) -> Array:
    """The part that is meant, [out, in]: a view."""
    if source.third is not None:
        width = array.shape[-1] // 3
        array = array[..., source.third * width : (source.third + 1) * width]
    return array.T if source.transposed else array


def uncut(shape: tuple[int, ...], source: Source) -> tuple[int, ...]:
    """The shape of the tensor from which `take_part` makes one of `shape`."""
    shape = shape[::-1] if source.transposed else shape
    return shape if source.third is None else (*shape[:-1], 3 * shape[-1])


def check_names(found: Mapping[str, str], sources: Mapping[str, Source], facts: Facts, where: str) -> None:
    """Raise UserError unless all that is needed is there, and nothing that this model could not have."""
    needed = {source.name for source in sources.values()}
    missing = sorted(name for name in needed if name not in found)  # so that a sentence names the same one each time
    if missing == ["lm_head.weight"]:
        raise UserError(
            "%(where)s has no lm_head.weight, and its config.json does not say that the embedding is the output "
            "head. If it is, write “tie_word_embeddings”: true.",
            where=where,
        )
    family, head = FAMILY_OF[facts.kind], "lm_head.weight" if facts.config.tied else ""
    check_prefix(missing, found, family.saved, where)
    one = N_("%(where)s lacks one tensor that its config.json asks for: %(name)s.")
    some = N_("%(where)s lacks %(count)s tensors that its config.json asks for, among them %(name)s.")
    if missing:
        raise UserError(one if len(missing) == 1 else some, where=where, count=len(missing), name=min(missing))
    extra = [key for name, key in found.items() if name not in {*needed, head} and not is_computed(key, family)]
    one = N_("%(where)s has one tensor that no %(kind)s of this config.json has: %(name)s.")
    some = N_("%(where)s has %(count)s tensors that no %(kind)s of this config.json has, among them %(name)s.")
    if extra:
        message = one if len(extra) == 1 else some
        raise UserError(message, where=where, count=len(extra), kind=facts.kind, name=printable(min(extra)))


def check_prefix(missing: list[str], found: Mapping[str, str], saved: str, where: str) -> None:
    """Raise UserError where the tensors are there, with something before their names, as a compiler writes it."""
    for name in missing:
        for key in found.values():
            prefix = key.removesuffix(name).removesuffix(saved)
            if key.endswith(f".{name}") and sum(f"{prefix}{saved}{one}" in found.values() for one in missing) > 1:
                sentence = N_(
                    "%(where)s has tensors whose names begin with “%(prefix)s”, such as %(key)s; without it they "
                    "would be those that its config.json asks for. Save it again without."
                )
                raise UserError(sentence, where=where, prefix=printable(prefix), key=printable(key))


def check_shape(shape: tuple[int, ...], expected: tuple[int, ...], name: str, where: str) -> None:
    if shape != expected:
        sentence = N_("%(where)s: %(name)s has shape %(shape)s; its config.json says %(expected)s.")
        raise UserError(sentence, where=where, name=name, shape=quote(shape), expected=expected)


def check_tied(head: Array, embedding: Array, where: str) -> None:
    if not all(map(equal, in_parts(head), in_parts(embedding))):
        raise UserError(
            "%(where)s: config.json says that the embedding is the output head, but lm_head.weight differs. "
            "Write “tie_word_embeddings”: false, if the file is right.",
            where=where,
        )


def equal(a: Array, b: Array) -> bool:
    """Whether they hold the same numbers, in whatever they lie."""
    a, b = (widen(one) if one.dtype == HALF_DTYPE else one for one in (a, b))
    return np.array_equal(a, b)
