"""A text run through a model of transformers, token by token, as a trace: what `Recording` is for our own models.

    trace = record(model, tokenizer, "The next day is bright", new=8)

Each step runs one token with the cache, and the whole text again without it. Of the model only its own arithmetic is
used: greedy choice, its type of numbers, its devices. Knows no page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from microgpt import cost
from microgpt.checkpoints.facts import Facts
from microgpt.checkpoints.tokenizer import tokenizer_of
from microgpt.errors import N_, UserError
from microgpt.huggingface.shape import Shape, counter, fields_of, shape_of
from microgpt.huggingface.watch import numbers, watched
from microgpt.trace import Trace


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


def record(model: Any, tokenizer: Any, prompt: str, new: int = 8, compares: bool = True) -> Trace:
    """Run `prompt` and up to `new` greedy tokens. Raises UserError for what cannot be recorded."""
    import torch
    import transformers

    shape = shape_of(model)
    ids: list[int] = tokenizer(prompt)["input_ids"]
    limit = checked(len(ids), new, shape.config.n_ctx)
    vocabulary, stops = vocabulary_of(tokenizer, shape.facts), stops_of(model)
    trace = Trace(about(model, shape) | {
        "prompt": prompt, "n_prompt": len(ids), "vocabulary": vocabulary, "stops": sorted(stops),
        "started": ids[0] == tokenizer.bos_token_id, "ids": ids, "engine": f"transformers {transformers.__version__}",
    })  # fmt: skip
    cache = transformers.DynamicCache(config=model.config)
    with torch.no_grad():
        for pos in range(limit):
            token = torch.tensor([ids[pos : pos + 1]], device=model.device)
            with watched(model, trace.keep):
                out = stepped(model, token, cache)
            if pos == 0:
                kept = layers_with_rows(trace, shape)
                trace.about |= described(model, shape, kept, limit)
                macs = counter(model, shape, len(kept))
            again = macs(pos + 1, pos + 1)
            if not shape.ours:
                trace.about["macs"].append(macs(1, pos + 1).tolist())
                trace.about["macs_without"].append(again.tolist())
            if compares:
                whole = torch.tensor([ids[: pos + 1]], device=model.device)
                trace(("recompute_logits", numbers(model(input_ids=whole, use_cache=False).logits[0, -1]), pos, -1))
                trace(("recompute_macs", again, pos, -1))
            trace.about["tokens"].append(vocabulary[ids[pos]])
            if pos + 1 >= trace.about["n_prompt"]:
                choice = int(out.logits[0, -1].argmax())
                trace(("sample", choice, pos, -1))
                if choice in stops or pos + 1 == limit:
                    break
                ids.append(choice)
    return trace


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


def stepped(model: Any, token: Any, cache: Any) -> Any:
    """One token [1, 1] through the model, after what the cache holds."""
    try:
        return model(input_ids=token, past_key_values=cache, use_cache=True)
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


def described(model: Any, shape: Shape, kept: list[int], limit: int) -> dict[str, Any]:
    """What is known after its first step: which layers keep rows, and what they take for `limit` tokens."""
    config = shape.config
    found: dict[str, Any] = {
        "nbytes_reserved": cost.kv_bytes(replace(config, n_layer=len(kept)), limit, model.dtype.itemsize)
    }
    if not shape.ours:
        found |= {"family": shape.facts.kind, "macs": [], "macs_without": []}
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
    wanted = {"q": (1, c.n_head, c.head_dim), "k": (1, c.n_kv_head, c.head_dim), "v": (1, c.n_kv_head, c.head_dim)}
    for layer in kept:
        for name, size in wanted.items():
            if (found := np.shape(trace[name, 0, layer])) != size:
                raise UserError(
                    N_("In layer %(layer)s of this model, %(name)s has the shape %(found)s; a page draws rows that are "
                       "of one shape in all layers, here %(size)s."),
                    layer=layer, name=name, found=found, size=size,
                )  # fmt: skip
    return kept


def stops_of(model: Any) -> set[int]:
    """The tokens that end a text."""
    found = getattr(model.generation_config, "eos_token_id", None)
    return set(found) if isinstance(found, list) else set() if found is None else {found}
