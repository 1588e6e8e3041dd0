"""A model of transformers run as its `generate` runs it, one token a step, and its cache asked what it holds.

`prepare_inputs_for_generation` says what a step is given: a family may drop its cache and run the whole text again, as
Phi-3 does where its positions begin to turn in another way. Needs torch; knows no trace and no page.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from inspect import signature
from typing import Any, NamedTuple

from microgpt.errors import UserError

EXPERTS_IN = ("float32", "bfloat16", "float16")  # in others PyTorch has no product of all experts in one call


class CacheSize(NamedTuple):
    """What a cache object holds, all layers together."""

    numbers: int  # of rows, one a token
    bytes: int  # that they take
    state: int  # numbers of fixed size, however long the text


class Engine:
    """A text of one model, and its cache: None before the first pass, and where the model keeps it elsewhere."""

    def __init__(self, model: Any, cache: Any = None) -> None:
        from transformers import DynamicCache

        if cache is not None and (not hasattr(cache, "layers") or cache.get_seq_length()):
            raise UserError(
                "A recording begins with an empty cache, whose layers say what they hold; this %(kind)s is none.",
                kind=type(cache).__name__,
            )
        self.model, self.cache, self.given = model, cache, {*signature(model.forward).parameters}
        self.counted = 0  # multiply-adds of the last step, where they were counted
        self.name = "cache_params" if "cache_params" in self.given else "past_key_values"
        if cache is None and getattr(type(model), "_supports_default_dynamic_cache", lambda: True)():
            self.cache = DynamicCache(config=model.config.get_text_config(decoder=True))
        if hasattr(model, "set_experts_implementation") and str(model.dtype).removeprefix("torch.") not in EXPERTS_IN:
            model.set_experts_implementation("eager")
        if hasattr(getattr(model, "base_model", None), "_setup_cache"):  # clear what an earlier text has left in it
            self.again([0])

    def run(self, ids: list[int], new: int, counts: bool = False) -> Any:
        """The logits [V] after `ids`, of which the last `new` have not run yet. With `counts`, which takes a step three
        times as long, `counted` is then what PyTorch has counted."""
        import torch

        whole = torch.tensor([ids], device=self.model.device)
        given: dict[str, Any] = {self.name: self.cache, "attention_mask": torch.ones_like(whole), "use_cache": True}
        if "position_ids" in self.given:
            given["position_ids"] = torch.arange(len(ids), device=self.model.device)[None]
        with translate_errors(), torch.no_grad(), counter() if counts else nullcontext() as found:
            inputs = self.model.prepare_inputs_for_generation(
                whole, next_sequence_length=new, is_first_iteration=len(ids) == new, **given
            )
            out = self.model(**inputs | self.last_alone(), return_dict=True)
        self.cache = getattr(out, self.name, self.cache)
        self.counted = found.get_total_flops() // 2 if found else 0
        return out.logits[0, -1]

    def again(self, ids: list[int]) -> Any:
        """The same in one pass, without a cache. Some keep their state in the model: run no step after this."""
        import torch

        with translate_errors(), torch.no_grad():
            whole = torch.tensor([ids], device=self.model.device)
            return self.model(input_ids=whole, use_cache=False, **self.last_alone()).logits[0, -1]

    def last_alone(self) -> dict[str, int]:
        """Asks for the logits of the last row alone, where the model can: a vocabulary is large."""
        return {"logits_to_keep": 1} if "logits_to_keep" in self.given else {}

    @property
    def layers(self) -> list[Any]:
        """Those of the cache."""
        return list(getattr(self.cache, "layers", ()))

    def measure(self) -> CacheSize:
        """What the cache holds now."""
        rows = [one for layer in self.layers for name in ROWS for one in row_tensors(layer, name)]
        kept = [getattr(layer, name, None) for layer in self.layers for name in (*ROWS, *PACKED)]
        states = [one for layer in self.layers for name in STATES for one in getattr(layer, name, {}).values()]
        return CacheSize(
            sum(one.numel() for one in rows),
            sum(map(size_of, kept)),
            sum(one.numel() for one in states if one is not None),
        )

    def windows(self, n_layer: int) -> list[int]:
        """How many rows a query of each layer sees at most, its own among them; 0: all. The cache keeps one fewer."""
        found = [getattr(layer, "sliding_window", 0) or 0 for layer in self.layers]
        return (found + [0] * n_layer)[:n_layer]

    def row(self, layer: int) -> int:
        """Numbers that one token adds to the cache in this layer."""
        rows = [row_tensors(self.layers[layer], name)[0] for name in ("keys", "values")]
        return sum(int(one.shape[1] * one.shape[3]) for one in rows)


ROWS, STATES = ("keys", "values", "indexer_keys"), ("conv_states", "recurrent_states")
PACKED = ("_quantized_keys", "_quantized_values")  # beside those that are not quantised yet


def row_tensors(layer: Any, name: str) -> list[Any]:
    """Tensors of rows of one layer of a cache; of what is quantised the numbers that it stands for."""
    plain, packed = getattr(layer, name, None), getattr(layer, f"_quantized_{name}", None)
    found = [plain] if plain is not None and plain.numel() else []
    return found if packed is None else [*found, layer._dequantize(packed)]


def size_of(kept: Any) -> int:
    """Bytes of a tensor or of all that it is made of: what is quantised has scales."""
    if isinstance(kept, (tuple, list, dict)):
        return sum(map(size_of, kept.values() if isinstance(kept, dict) else kept))
    if hasattr(kept, "__tensor_flatten__"):
        return sum(size_of(getattr(kept, name)) for name in kept.__tensor_flatten__()[0])
    return int(getattr(kept, "nbytes", 0))


def counter() -> Any:
    """PyTorch's own, of two operations for each multiply-add; it knows the product of all experts in one call too."""
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    def experts(rows: Any, matrices: Any, *_: Any, **more: Any) -> int:
        return int(2 * rows[0] * matrices[-2] * matrices[-1])

    in_one_call = getattr(torch.ops.aten, "_grouped_mm", None)
    return FlopCounterMode(display=False, custom_mapping={in_one_call: experts} if in_one_call else None)


@contextmanager
def translate_errors() -> Iterator[None]:
    """Around a pass: what transformers and PyTorch raise for a model that they cannot run so becomes a sentence."""
    try:
        yield
    except (ValueError, TypeError, RuntimeError) as error:
        if isinstance(error, UserError):
            raise
        why = str(error).partition("\n")[0]
        raise UserError("This model cannot be run token by token with a cache of rows (%(why)s).", why=why) from None
