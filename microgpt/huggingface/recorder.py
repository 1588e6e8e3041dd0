"""A text run through a model of transformers, token by token, as a trace: what `Recording` is for our own models.

    trace = record(model, tokenizer, "The next day is bright", new=8)

Each step runs one token with the cache, and the whole text again without it; of a long text, only the last tokens are
told, and the last step alone is run again. Of the model only its own arithmetic is used: greedy choice, its type of
numbers, its devices. Knows no page.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from ctypes import CDLL
from inspect import signature
from typing import Any, TypeAlias

import numpy as np

from microgpt.checkpoints.facts import Facts
from microgpt.checkpoints.tokenizer import tokenizer_of
from microgpt.config import Array, Hook, Report
from microgpt.errors import N_, UserError
from microgpt.huggingface.shape import Shape, counter, fields_of, shape_of
from microgpt.huggingface.watch import numbers, watched
from microgpt.trace import OVER_KEYS, Trace

Keeps: TypeAlias = Callable[[str, int], bool]  # whether an event of that name and layer is kept
M_MMAP_THRESHOLD = -3  # of malloc.h
CHUNK = 256  # tokens in a pass, of those that are not told
SINK = 0.02  # of all weight, that rests on no row; numbers of 16 bits are this exact


class Vocabulary(Sequence[str]):
    """The text of each token id, made when it is asked for: a model may have a quarter of a million."""

    def __init__(self, tokenizer: Any, size: int) -> None:
        self.tokenizer, self.size = tokenizer, size

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, token: Any) -> Any:
        text: str = self.tokenizer.decode([token])
        piece = self.tokenizer.convert_ids_to_tokens(token)
        begins = isinstance(piece, str) and piece.startswith("▁") and not text.startswith(" ")
        return f" {text}" if begins else text  # SentencePiece leaves out the space before a word that stands alone


def vocabulary_of(tokenizer: Any, facts: Facts) -> Sequence[str]:
    """The texts of all tokens, as our own code names them if it can read the tokenizer; else as transformers does."""
    try:
        return tokenizer_of(tokenizer.backend_tokenizer.to_str(), facts).vocabulary
    except (AttributeError, UserError):
        return Vocabulary(tokenizer, facts.config.vocab_size)


def record(
    model: Any, tokenizer: Any, prompt: str, new: int = 8, compares: bool = True, last: int = 0,
    keeps: Callable[[Mapping[str, Any]], Keeps] | None = None,
) -> Trace:  # fmt: skip
    """Run `prompt` and up to `new` greedy tokens. Raises UserError for what cannot be recorded.

    With `last`, the trace is that of the last so many tokens. Those before them run first; the trace says how many they
    are, as `about["before"]`, and counts its positions from there. What the trace keeps after its first step, `keeps`
    says, by what the trace then says of its model: a large one would fill the memory with what no page shows.
    """
    import torch
    import transformers

    shape = shape_of(model)
    ids: list[int] = tokenizer(prompt)["input_ids"]
    limit = checked(len(ids), new, shape.config.n_ctx)
    before = max(0, min(limit - last, len(ids) - 1)) if last else 0
    trace, stops = begun(model, tokenizer, shape, prompt, ids, before), stops_of(model)
    cache, hook = transformers.DynamicCache(config=model.config), of_last(before, trace)
    with torch.no_grad():
        for start in range(0, before, CHUNK):
            run(model, ids[start : min(start + CHUNK, before)], past_key_values=cache, use_cache=True)
        for i, pos in enumerate(range(before, limit)):
            with watched(model, hook):
                logits = run(model, ids[pos : pos + 1], past_key_values=cache, use_cache=True)
            if i == 0:
                macs = counted(trace, model, shape, limit)
                hook = of_last(before, trace, keeps and keeps(trace.about))
            again, choice = macs(pos + 1), int(logits.argmax())
            ends = pos + 1 == limit or (pos + 1 >= len(ids) and choice in stops)
            if compares and (ends or not before):  # of a long text the last step alone: each takes as long as all of it
                trace(("recompute_logits", numbers(run(model, ids[: pos + 1], use_cache=False)), i, -1))
                trace(("recompute_macs", again, i, -1))
            trace.about["tokens"].append(trace.about["vocabulary"][ids[pos]])
            if pos + 1 >= len(ids):
                trace(("sample", choice, i, -1))
                if not ends:
                    ids.append(choice)
            _ = trace.events  # copied now, each array is as large as itself, and what it was a part of is free
            if ends:
                break
    trace.about["ids"] = ids[before:]
    return trace


def begun(model: Any, tokenizer: Any, shape: Shape, prompt: str, ids: list[int], before: int) -> Trace:
    """An empty trace that says what is run; `before` of the tokens are not told."""
    import transformers

    return Trace(about(model, shape) | {
        "prompt": prompt, "n_prompt": len(ids) - before, "vocabulary": vocabulary_of(tokenizer, shape.facts),
        "stops": sorted(stops_of(model)), "started": not before and ids[0] == tokenizer.bos_token_id,
        "engine": f"transformers {transformers.__version__}",
    } | ({"before": before} if before else {}))  # fmt: skip


def of_last(before: int, trace: Trace, keeps: Keeps | None = None) -> Hook:
    """A hook of a text of which so many tokens are not told: positions and keys count from there."""

    def hook(report: Report) -> None:
        name, value, pos, layer = report
        if keeps and not keeps(name, layer):
            return
        if name == "cache_append" and value != pos + 1:
            raise UserError(
                N_("Layer %(layer)s of this model keeps a window of %(rows)s rows; a page draws texts that are no "
                   "longer. Give fewer tokens."),
                layer=layer, rows=value,
            )  # fmt: skip
        if before and name == "attn_weights" and abs(value.sum(-1) - 1).max() > SINK:
            raise UserError(
                N_("Heads of this model have sinks of their own, and what earlier rows get cannot be told from what "
                   "those take. Of such a model a page draws whole texts alone: give fewer tokens.")
            )  # fmt: skip
        trace((name, value[..., before:] if before and name in OVER_KEYS else value, pos - before, layer))

    return hook


def counted(trace: Trace, model: Any, shape: Shape, limit: int) -> Callable[[int], Array]:
    """After the first step that is told: completes what the trace says of its model. What is returned gives the
    multiply-adds of a step without the cache, after which there are t tokens, and notes those with it where they cannot
    be counted from what is told."""
    kept = layers_with_rows(trace, shape)
    trace.about |= described(trace, model, shape, kept, limit)
    macs = counter(model, shape, len(kept))

    def of_step(t: int) -> Array:
        if "macs" in trace.about:
            trace.about["macs"].append(macs(1, t).tolist())
            trace.about["macs_without"].append(macs(t, t).tolist())
        return macs(t, t)

    return of_step


def checked(n: int, new: int, n_ctx: int) -> int:
    """How many tokens there will be. Raises UserError for none, or more than the model sees."""
    if not n:
        raise UserError(N_("The prompt is empty; give at least one token."))
    if n + new > n_ctx:
        raise UserError(
            N_("%(n)s tokens and %(new)s new ones are more than the %(n_ctx)s that this model sees."),
            n=n, new=new, n_ctx=n_ctx,
        )  # fmt: skip
    return n + new


def run(model: Any, ids: list[int], **more: Any) -> Any:
    """The logits [V] after these tokens. Of the last row alone, where the model can: a vocabulary is large."""
    import torch

    if "logits_to_keep" in signature(model.forward).parameters:
        more["logits_to_keep"] = 1
    try:
        return model(input_ids=torch.tensor([ids], device=model.device), **more).logits[0, -1]
    except UserError:
        raise
    except ValueError as error:  # so transformers refuses a cache that is not the model's own
        why = str(error).partition("\n")[0]
        raise UserError(
            N_("This model cannot be run token by token with a cache of rows (%(why)s)."), why=why
        ) from None


def about(model: Any, shape: Shape) -> dict[str, Any]:
    """What a trace says of the model, before it has run."""
    spread = dict.fromkeys(map(str, getattr(model, "hf_device_map", {}).values()))
    packed = getattr(model.config, "quantization_config", None)
    method = packed.get("quant_method") if isinstance(packed, dict) else getattr(packed, "quant_method", None)
    return ({} if method is None else {"quantised": str(getattr(method, "value", method))}) | {
        "model": str(model.config.name_or_path or type(model).__name__).rstrip("/").rpartition("/")[2],
        "config": fields_of(shape), "temperature": 0.0, "top_k": 0, "seed": 0, "tokens": [],
        "dtype": str(model.dtype).removeprefix("torch."), "device": ", ".join(spread) or str(model.device),
    }  # fmt: skip


def described(trace: Trace, model: Any, shape: Shape, kept: list[int], limit: int) -> dict[str, Any]:
    """What is known after its first step: which layers keep rows, and what they take for `limit` tokens."""
    config = shape.config
    token = len(kept) * config.n_kv_head * (config.head_dim + shape.v_dim)  # numbers that join the cache
    found: dict[str, Any] = {"nbytes_reserved": token * limit * model.dtype.itemsize}
    if shape.v_dim != config.head_dim:
        found["v_dim"] = shape.v_dim
    if shape.latent:
        found["latent"] = shape.latent
    if not shape.ours:
        found["family"] = shape.facts.kind
    if not shape.ours or "before" in trace.about:  # then they cannot be counted from what is told
        found |= {"macs": [], "macs_without": []}
    if len(kept) < config.n_layer:
        found["no_rows"] = [layer for layer in range(config.n_layer) if layer not in kept]
    return found


def layers_with_rows(trace: Trace, shape: Shape) -> list[int]:
    """The layers that have told of a row in the first step. Raises UserError for rows that a page does not draw."""
    c = shape.config
    kept = sorted({event.layer for event in trace if event.name == "cache_append"})
    if not kept:
        raise UserError(
            N_("The attention of this model (%(kind)s) cannot be watched: transformers calls it in a way of its own."),
            kind=shape.facts.kind,
        )  # fmt: skip
    wanted = {"q": (1, c.n_head, c.head_dim), "k": (1, c.n_kv_head, c.head_dim), "v": (1, c.n_kv_head, shape.v_dim)}
    for layer in kept:
        for name, size in wanted.items():
            if (found := np.shape(trace[name, 0, layer])) != size:
                raise UserError(
                    N_("In layer %(layer)s of this model, %(name)s has the shape %(found)s; a page draws rows that are "
                       "of one shape in all layers, here %(size)s."),
                    layer=layer, name=name, found=found, size=size,
                )  # fmt: skip
    return kept


def give_back_blocks() -> None:
    """Ask glibc, where it is, to give each block of a megabyte and more back as soon as it is free.

    Else the small arrays that a trace keeps leave holes between the large ones that a pass needs for a moment: three
    times the memory. For a whole process, so it is for a command to call.
    """
    with suppress(OSError, AttributeError, TypeError):
        CDLL(None).mallopt(M_MMAP_THRESHOLD, 2**20)


def stops_of(model: Any) -> set[int]:
    """The tokens that end a text."""
    found = getattr(model.generation_config, "eos_token_id", None)
    return set(found) if isinstance(found, list) else set() if found is None else {found}
