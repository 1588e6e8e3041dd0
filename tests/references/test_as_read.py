"""A recorded model shows the rows that its attention was given, whatever has become of them in its cache."""

from collections import defaultdict
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

from microgpt.config import Array
from microgpt.errors import UserError
from microgpt.huggingface.recorder import record
from microgpt.huggingface.watch import watched
from microgpt.trace import READ, Reads, Trace, from_json, to_json
from microgpt.viz.large.from_trace import picture_of_excerpt
from microgpt.viz.large.picture import BigPicture, picture_of_run
from tests.references import pytorch
from tests.references.pytorch import EXPERTS, LATENT, torch, transformers, words
from tests.support.strategies import assert_close

pytestmark = pytest.mark.references
FROM = 3  # the step that finds the cache broken
Way = Callable[[Any, Any, int], list[int] | None]  # K and V, in place; which rows stay behind, in which order


def overwrites(k: Any, v: Any, step: int) -> None:
    if step == FROM:
        k[:, :, -3] = 0.5


def swaps(k: Any, v: Any, step: int) -> None:
    if step == FROM:  # once, and it stays so
        v[:, :, [0, 2]] = v[:, :, [2, 0]]


def shifts(k: Any, v: Any, step: int) -> None:
    if step == FROM:
        k[:, :, 1:], v[:, :, 1:] = k[:, :, :-1].clone(), v[:, :, :-1].clone()


def rounds(k: Any, v: Any, step: int) -> None:
    if step >= FROM:
        k.copy_(k.bfloat16())
        v.copy_((8 * v).round() / 8)


def drops(k: Any, v: Any, step: int) -> list[int] | None:
    n = k.shape[2]
    return [*range(n - 2), n - 1] if step == FROM - 1 else None


def drops_and_rounds(k: Any, v: Any, step: int) -> list[int] | None:
    rounds(k, v, step + 1)
    return drops(k, v, step)


def turns(k: Any, v: Any, step: int) -> list[int] | None:
    return [2, 1] if step == FROM - 1 else None


def forgets(k: Any, v: Any, step: int) -> list[int] | None:
    return [2] if step == FROM - 1 else None


BROKEN: dict[Way, list[int]] = {  # -> the older rows that step FROM finds changed
    overwrites: [1],
    swaps: [0, 2],
    shifts: [1, 2],
    rounds: [0, 1, 2],
    drops: [1],
    turns: [0],
    forgets: [0, 1],
}


Handed = dict[tuple[int, int], tuple[Array, Array, list[int]]]  # layer, step -> K, V and the positions of their rows


class Broken(transformers.DynamicCache):  # type: ignore[misc]
    """Breaks its rows in some way, and keeps what it has handed out."""

    def __init__(self, model: Any, way: Way) -> None:
        super().__init__(config=model.config)
        self.way, self.handed, self.at = way, Handed(), defaultdict[int, list[int]](list)
        self.ends = defaultdict[int, int](int)

    def update(self, k: Any, v: Any, layer: int, *more: Any, **named: Any) -> Any:
        keys, values = super().update(k, v, layer, *more, **named)
        at, one, end = self.at[layer], self.layers[layer], self.ends[layer]
        self.ends[layer] = end + k.shape[2]
        at += range(end, end + k.shape[2])
        at[:] = at[-keys.shape[2] :]
        stay = self.way(keys, values, end)
        self.handed[layer, at[-1]] = (*(x[0].clone().numpy() for x in (keys, values)), at.copy())
        if stay is not None:
            one.keys, one.values = keys[:, :, stay], values[:, :, stay]
            at[:] = [at[i] for i in stay]
        return keys, values


def made(family: str, **more: Any) -> Any:
    fields = pytorch.FAMILIES.get(family, {}) | {"vocab_size": len(words()), "max_position_embeddings": 256}
    model = pytorch.made(family, 4, fields=fields, **more)
    model.generation_config.eos_token_id = None
    return model


def shows(shown: BigPicture, handed: Handed, before: int = 0) -> None:
    c = shown.config
    for at, i, (index, one) in product(range(shown.n), range(shown.n), enumerate(shown.heads)):
        *rows, positions = handed[one.layer, before + at]
        for name, cached in zip("kv", rows, strict=True):
            told = [np.float32(row) for _, where, row in shown.rows(name, i, at) if f"O{index}" in where.split()]
            head, place = cached[one.head * c.n_kv_head // c.n_head], before + i
            if i <= at:
                there = head[positions.index(place)] if place in positions else []
                assert np.array_equal(told, [there]), (name, at, i)


@pytest.mark.parametrize("family", ["Olmo2", "GPT2"])
@pytest.mark.parametrize("way", BROKEN, ids=lambda way: way.__name__)
def test_each_step_shows_the_rows_that_attention_was_given(way: Way, family: str) -> None:
    model = made(family)
    cache = Broken(model, way)
    trace = record(model, words(), "the day", 4, compares=False, cache=cache)
    whole = picture_of_run(trace)
    part = whole.of_open_heads()
    for shown in (whole, picture_of_excerpt(from_json(to_json(part)))):
        shows(shown, cache.handed)
        assert [shown.differing_rows(at) for at in range(shown.n)][: FROM + 1] == [[]] * FROM + [BROKEN[way]]
    assert {event.pos for event in trace if event.name in READ} <= {*range(FROM, whole.n)}
    last = whole.n - 1
    for layer in range(2):
        _, values, positions = cache.handed[layer, last]
        weights = trace["attn_weights", last, layer][:, 0]
        assert Reads(trace).positions(last, layer) == positions
        mixed = np.concatenate([weights[head] @ values[head * len(values) // 4] for head in range(4)])
        assert_close(mixed, trace["head_out", last, layer][0], 1e-5)


@pytest.mark.parametrize("way", [overwrites, rounds, drops, drops_and_rounds], ids=lambda way: way.__name__)
def test_of_a_long_text_the_rows_that_are_told_are_compared(way: Way) -> None:
    """With others before them, and where a window lets the oldest go."""
    text = "the day is bright"
    n = len(words()(text)["input_ids"]) + 4
    for before, window in product((0, 2, 8), (None, 6)):
        if window and way in (drops, drops_and_rounds):
            continue  # transformers does not run so
        model = made("Mistral", sliding_window=window)
        broken = Broken(model, lambda k, v, step, late=before: way(k, v, step - late))  # type: ignore[misc]
        trace = record(model, words(), text, 4, compares=False, last=n - before, cache=broken)
        assert trace.about.get("before", 0) == before
        shows(picture_of_run(trace), broken.handed, before)
        assert {event.name for event in trace} & {*READ}


def test_a_right_cache_tells_nothing_while_generate_runs_and_one_that_is_wrapped_tells_at_its_step() -> None:
    """Prompt in one pass; from the second step on, the first row of the second layer is another."""
    model, ids, told = made("Llama"), torch.tensor([[1, 2, 3]]), []
    asked = {"max_new_tokens": 4, "do_sample": False, "pad_token_id": 0}
    for wrapped in (False, True):
        cache, trace = transformers.DynamicCache(config=model.config), Trace()
        own = cache.update

        def update(k: Any, v: Any, layer: int, *more: Any, own: Any = own) -> Any:
            keys, values = own(k, v, layer, *more)
            if layer == 1 and keys.shape[2] == 5:
                values[:, :, 0] = 2
            return keys, values

        if wrapped:
            cache.update = update
        with watched(model, trace.keep):
            model.generate(ids, past_key_values=cache, **asked)
        assert (cache.update is update) == wrapped and ("update" in vars(cache)) == wrapped
        told.append([(event.name, event.pos, event.layer) for event in trace if event.name in READ])
    assert told == [[], [("v_read", 4, 1)]]
    assert (Reads(trace).row("v", 0, 1, 5) == 2).all() and (trace["v", 0, 1][0] != 2).all()


def test_a_quantised_cache_shows_its_rounded_rows_and_what_they_take() -> None:
    """Of transformers' own, in 8 bits: numbers as many as ever, a byte each and a scale a tensor."""
    model = made("Llama")
    cache = transformers.QuantizedCache("fp8", model.config)
    trace = record(model, words(), "the day", 4, cache=cache)
    last, numbers = len(trace.about["ids"]) - 1, 2 * 2 * 2 * 4
    for layer, one in enumerate(cache.layers):
        for name, packed in (("k", one._quantized_keys), ("v", one._quantized_values)):
            found = np.stack([Reads(trace).row(name, i, layer, last) for i in range(last + 1)], axis=1)
            assert np.array_equal(found, one._dequantize(packed)[0].numpy())
            assert not np.array_equal(found[:, 1], trace[name, 1, layer][0])
    assert trace.about["held"] == [[numbers * n, numbers * n + 2 * 2 * 4] for n in range(1, last + 2)]


def test_of_latents_the_rows_that_were_made_of_another_are_told() -> None:
    """In the first layer, and of no other row, though those are made again at every step too."""
    model = made("DeepseekV3", **EXPERTS | LATENT | {"first_k_dense_replace": 1})

    class Zero(transformers.DynamicCache):  # type: ignore[misc]
        def update(self, k: Any, v: Any, layer: int, *more: Any) -> Any:
            keys, values = super().update(k, v, layer, *more)
            if layer == 0 and keys.shape[2] == FROM + 1:
                keys[:, :, 1] = 0
            return keys, values

    trace = record(model, words(), "the day", 4, compares=False, cache=Zero(config=model.config))
    told = [(event.name, event.pos, event.layer) for event in trace if event.name in READ]
    assert told == [("k_read", FROM, 0), ("v_read", FROM, 0)]
    for at in range(FROM, len(trace.about["ids"])):
        values = np.stack([Reads(trace).row("v", i, 0, at) for i in range(at + 1)], axis=1)
        mixed = np.einsum("ht,htd->hd", trace["attn_weights", at, 0][:, 0], values).ravel()
        assert_close(mixed, trace["head_out", at, 0][0], 1e-5)
    assert (values[:, 1] == 0).all()


def test_a_cache_that_is_not_empty_or_has_no_layers_is_refused() -> None:
    full = transformers.DynamicCache()
    full.update(torch.zeros(1, 2, 1, 4), torch.zeros(1, 2, 1, 4), 0)
    for cache in (full, object()):
        with pytest.raises(UserError, match="begins with an empty cache"):
            record(made("Llama"), words(), "the day", 4, cache=cache)
