"""A model of Hugging Face transformers, watched: it tells a hook what our own `forward` tells, wherever it runs.

Its attention is called through a function of ours, which calls the model's own eager attention and reports q, the rows
that join the cache, scores, weights and what comes out; hooks on its modules report the residual stream, the norms and
the MLP. Nothing that it computes is changed. Numbers are told as NumPy arrays: 32 bits, or 64 where the model has them.

    with watched(model, trace.keep):
        model.generate(ids)

Where attention gets other rows than joined the cache, it tells of those too (reads.py).

One text at a time, and a cache with a row a token. What a layer does not have, it does not tell: state-space layers
have no rows, latent attention keeps others than those that its heads see. Needs torch and transformers 5; knows no
page.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np

from microgpt.config import Hook
from microgpt.errors import UserError
from microgpt.huggingface.reads import Rows, numbers

ATTENTION_NAME = "microgpt"  # of the attention function, among those of transformers
SECOND_NORM = ("pre_feedforward_layernorm", "post_attention_layernorm", "channel_pre_norm", "ln_2")
ATTENTION = ("self_attn", "attn", "attention", "temporal_block")
MLP, DOWN = ("mlp", "feed_forward", "mlp_block"), ("down_proj", "c_proj", "fc2")


class Watch:
    """What is being watched: the hook, and the position of the first row of the pass that is under way."""

    def __init__(self, hook: Hook, last: bool = False) -> None:
        self.hook, self.start, self.rows = hook, 0, Rows(hook, last)
        self.ends: Callable[[], object] = bool  # undoes what a pass has begun

    def tell(self, name: str, tensor: Any, layer: int) -> None:
        """Rows [1, n, ...] of one text, as our hooks are told them: [n, ...]; of experts they may come as [n, d]."""
        rows = numbers(tensor)
        self.hook((name, rows[0] if rows.ndim > 2 else rows, self.start, layer))

    def begins(self, rows: Any, seen: Any, cache: Any, positions: Any) -> None:
        """A pass over `rows` [1, n, ...], ids or embeddings, at these `positions` [1, n], or after what the cache says
        that it holds; `seen` is its padding mask."""
        if len(rows) != 1:
            raise UserError("%(n)s texts at once cannot be recorded; give one.", n=len(rows))
        if seen is not None and seen.ndim == 2 and not bool(seen.all()):
            raise UserError("A text with padding cannot be recorded; give its own tokens alone.")
        try:
            self.start = 0 if cache is None else int(cache.get_seq_length())
        except ValueError:
            raise UserError("No layer of this model keeps a row for each token, so there is nothing to tell.") from None
        if positions is not None and positions.ndim == 2:
            self.start = int(positions[0, 0])
        self.rows.begins(self.start, rows.shape[1])
        if cache is not None:
            self.ends = self.rows.listen(cache)

    def end(self) -> None:
        """The pass is over, come what may."""
        self.ends()
        self.ends = bool

    def attention(self, module: Any, query: Any, key: Any, value: Any, mask: Any, weights: Any, out: Any,
                  scaling: float, softcap: float | None) -> None:  # fmt: skip
        """One layer's: query [1, H, n, h], key and value [1, G, t, h], weights [1, H, n, t], out [1, n, H, h]."""
        n, t, layer = query.shape[2], key.shape[2], module.layer_idx
        if t > self.start + n:
            raise UserError(
                "The cache shows %(t)s rows to a text of %(n)s tokens: one of fixed size cannot be recorded. "
                "Use DynamicCache.",
                t=t,
                n=self.start + n,
            )
        self.tell("q", query.transpose(1, 2), layer)
        for name, joined in zip("kv", self.rows.newest(layer, (key, value)), strict=True):
            self.tell(name, joined.transpose(1, 2), layer)
        self.rows.compare(layer, (key, value))
        self.hook(("cache_append", t, self.start, layer))
        of_each = query.unflatten(1, (key.shape[1], -1))  # [1, G, H / G, n, h]: the heads that read the same keys
        scores = (of_each @ key.unsqueeze(2).transpose(3, 4)).flatten(1, 2) * scaling
        if softcap:  # as Gemma 2 does: no score is larger than this
            scores = (scores / softcap).tanh() * softcap
        hidden = np.zeros((n, t), bool) if mask is None else numbers(mask <= lowest(mask))[0, 0, :, :t] > 0
        self.hook(("attn_scores", np.where(hidden, -np.inf, numbers(scores)[0]), self.start, layer))
        self.tell("attn_weights", weights[..., :t], layer)
        self.tell("head_out", out.flatten(2), layer)


_watches: list[Watch] = []  # the innermost is told


def attention_function(
    module: Any, query: Any, key: Any, value: Any, attention_mask: Any, scaling: float | None = None, **more: Any
) -> Any:
    """What transformers calls in place of an attention of its own: that of the model, and a report."""
    own = sys.modules[type(module).__module__].eager_attention_forward
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    given = {} if scaling is None else {"scaling": scaling}
    out, weights = own(module, query, key, value, attention_mask, **given, **more)
    if _watches:
        _watches[-1].attention(module, query, key, value, attention_mask, weights, out, scale, more.get("softcap"))
    return out, weights


def lowest(mask: Any) -> float:
    """What transformers adds to the score of a hidden key: the lowest number of its type."""
    from torch import finfo

    return float(finfo(mask.dtype).min)


@contextmanager
def watched(model: Any, hook: Hook, last: bool = False) -> Iterator[Watch]:
    """Tell `hook` of every pass of `model` within. Raises UserError for a pass that cannot be recorded.

    With `last` the hook keeps the last row of a pass alone; all others, as that pass reads them, are compared with what
    it has kept of those before.
    """
    from transformers import AttentionInterface
    from transformers.masking_utils import AttentionMaskInterface, eager_mask

    AttentionInterface.register(ATTENTION_NAME, attention_function)
    AttentionMaskInterface.register(ATTENTION_NAME, eager_mask)
    watch, before = Watch(hook, last), model.config._attn_implementation
    model.set_attn_implementation(ATTENTION_NAME)
    _watches.append(watch)
    with ExitStack() as stack:
        stack.callback(model.set_attn_implementation, before)
        stack.callback(_watches.pop)
        for handle in add_hooks(model, watch):
            stack.callback(handle.remove)
        yield watch


def layers_of(model: Any) -> Any:
    """The list of the layers: as long as the config says."""
    n = model.config.get_text_config().num_hidden_layers
    for module in model.modules():
        if type(module).__name__ == "ModuleList" and len(module) == n:
            return module
    raise UserError("The layers of this model were not found: it has no list of %(n)s.", n=n)


def module_part(layer: Any, names: tuple[str, ...]) -> Any:
    """The module of a layer that has one of these names; None where there is none."""
    return next((found for name in names if (found := getattr(layer, name, None)) is not None), None)


def attention_of(layer: Any) -> Any:
    """The attention of a layer; None where something else stands in its place, as in most of Recurrent Gemma's."""
    found = module_part(layer, ATTENTION)
    return None if "Recurrent" in type(found).__name__.removeprefix("RecurrentGemma") else found


def add_hooks(model: Any, watch: Watch) -> Iterator[Any]:
    """Hooks on all modules whose work is reported, in the order in which they run."""

    def enters(module: Any, args: Any, kwargs: Any) -> None:
        rows = args[0] if args else kwargs.get("input_ids")
        rows = kwargs.get("inputs_embeds") if rows is None else rows
        cache = kwargs.get("past_key_values", kwargs.get("cache_params"))
        watch.begins(rows, kwargs.get("attention_mask"), cache, kwargs.get("position_ids"))

    def went_in(name: str, layer: int) -> Callable[..., None]:
        return lambda module, args, kwargs=None: watch.tell(name, first(args, kwargs), layer)

    def came_out(name: str, layer: int) -> Callable[..., None]:
        return lambda module, args, out: watch.tell(name, out[0] if isinstance(out, tuple) else out, layer)

    yield model.register_forward_pre_hook(enters, with_kwargs=True)
    yield model.register_forward_hook(lambda *_: watch.end(), always_call=True)
    layers = layers_of(model)
    for i, layer in enumerate(layers):
        if i == 0:
            yield layer.register_forward_pre_hook(went_in("embed", -1), with_kwargs=True)
        yield layer.register_forward_pre_hook(went_in("resid_pre", i), with_kwargs=True)
        two, attention, mlp = module_part(layer, SECOND_NORM), attention_of(layer), module_part(layer, MLP)
        if attention is not None:
            yield attention.register_forward_pre_hook(went_in("attn_norm", i), with_kwargs=True)
            yield attention.register_forward_hook(came_out("attn_out", i))
        if two is not None:
            yield two.register_forward_pre_hook(went_in("resid_mid", i), with_kwargs=True)
            yield two.register_forward_hook(came_out("mlp_norm", i))
        down = mlp is not None and module_part(mlp, DOWN)
        if down:
            yield down.register_forward_pre_hook(went_in("mlp_hidden", i), with_kwargs=True)
        if mlp is not None:
            yield mlp.register_forward_hook(came_out("mlp_out", i))
    yield layers[-1].register_forward_hook(came_out("resid_final", -1))
    yield model.register_forward_hook(lambda module, args, out: watch.tell("logits", out.logits, -1))


def first(args: Any, kwargs: Any) -> Any:
    return args[0] if args else kwargs["hidden_states"]
