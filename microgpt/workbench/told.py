"""What the reader's program tells, looked at before anything uses it: a report of a hook, and the logits of a pass.

What is wrong is raised where the program tells it, so that its line is named.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from microgpt.config import Array, Config, Report
from microgpt.errors import N_, UserError
from microgpt.trace import ENGINE_EVENTS, EVENTS

ONCE = ("embed", "resid_final", "logits")  # a step, outside the layers
ADDED = ("sample", "recompute_logits", "recompute_macs")  # by whoever records
EACH = tuple(name for name in EVENTS if name not in (*ONCE, *ADDED, *ENGINE_EVENTS))  # in each layer


def check_report(report: Any, config: Config, n: int = 0) -> Report:
    """The report, with a value that is an array of real numbers or a whole number.

    With n, the number of rows, it is to be drawn: its shape and its numbers are looked at too. Raises UserError.
    """
    if not isinstance(report, tuple) or len(report) != 4:
        raise UserError("A report is four things in brackets: a name, a value, a position and a layer.")
    name, value, pos, layer = report
    if name not in (*ONCE, *EACH):
        return report  # of the reader's own: nobody here reads it
    value = real_numbers(name, value)
    layers = range(config.n_layer) if name in EACH else [-1]
    if layer not in layers:
        sentence = N_("“%(name)s” is reported of the layer %(layer)s, which there is not.")
        raise UserError(sentence, name=name, layer=str(layer)[:20])
    if isinstance(value, int):
        if EVENTS[name].shape:
            raise UserError("“%(name)s” is reported as a whole number; it is an array.", name=name)
        return name, value, pos, layer
    wanted = EVENTS[name].shape.split()
    sizes = {"d": config.n_embd, "H": config.n_head, "h": config.head_dim, "G": config.n_kv_head,
             "Hh": config.n_head * config.head_dim, "V": config.vocab_size}  # fmt: skip
    if n:
        sizes["n"] = n
    fits = value.ndim == len(wanted) and all(
        not n or sizes.get(letter, size) == size for letter, size in zip(wanted, value.shape, strict=True)
    )
    if not fits or not value.size:
        shape = ", ".join(str(sizes.get(letter, letter)) for letter in wanted)
        sentence = N_("“%(name)s” is reported with the shape %(shape)s; it has (%(wanted)s).")
        raise UserError(sentence, name=name, shape=value.shape, wanted=shape)
    if n and not (np.isfinite(value) | (name == "attn_scores") & (value == -np.inf)).all():
        raise UserError("“%(name)s” is not a number any more: there is nan or inf in it.", name=name)
    return name, value, pos, layer


def real_numbers(name: str, value: Any) -> Any:
    """The value as an array of real numbers, or the whole number that it is. Raises UserError for anything else."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    try:
        array = np.asarray(value)
    except Exception:  # lists of lists of different lengths
        array = np.empty(0, object)
    if array.dtype.kind not in "fiu":
        what = type(value).__name__ if not isinstance(value, np.ndarray) else f"an array of {array.dtype}"
        raise UserError("“%(name)s” is %(what)s; it must be an array of real numbers.", name=name, what=what)
    return array


def check_logits(logits: Any, config: Config, n: int, who: str) -> Array:
    """The logits [n, vocab_size] that `who` returned, or [vocab_size] with n = 0. Raises UserError."""
    array = np.asarray(real_numbers(who + "()", logits))
    wanted = (n, config.vocab_size)[not n :]
    if array.shape != wanted:
        sentence = N_("“%(name)s” returns the shape %(shape)s; logits have %(wanted)s here.")
        raise UserError(sentence, name=who, shape=array.shape, wanted=wanted)
    return array


def missing(told: set[tuple[str, int]], config: Config) -> str:
    """The name of a report that a step lacks, "" where all are there."""
    whole = [(name, -1) for name in ONCE] + [(name, layer) for layer in range(config.n_layer) for name in EACH]
    return next((name for name, layer in whole if (name, layer) not in told), "")
