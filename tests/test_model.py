"""One forward pass: with the cache, without it, at once, in chunks, in any precision: the same answers."""

from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microgpt.cache import KVCache
from microgpt.config import Array, Config, Params, Report, n_params, param_shapes, split, window_of
from microgpt.decode import decode_step, prefill, recompute
from microgpt.errors import UserError
from microgpt.model import causal_mask, forward, remember, triangle
from microgpt.trace import Trace
from microgpt.weights import init, shipped
from tests.support.examples import examples
from tests.support.strategies import REAL, REPORTS, Case, assert_close, cases, parallel


def step_by_step(case: Case, cache: KVCache) -> Array:
    return np.array([decode_step(case.params, case.config, token, cache) for token in case.token_ids])


@given(cases(mlps=REAL) | cases(latent=True))
@settings(max_examples=examples(300))
def test_cached_recomputed_and_parallel_agree(case: Case) -> None:
    params, config, ids = case.params, case.config, case.token_ids
    at_once = parallel(params, config, ids)
    assert_close(step_by_step(case, KVCache(config)), at_once)
    again = np.array([recompute(params, config, ids[: n + 1]) for n in range(len(ids))])
    assert_close(again, at_once)


@given(cases() | cases(latent=True), st.integers(1, 11))
@settings(max_examples=examples(300))
def test_prefill_in_chunks_of_any_size_leaves_the_same_cache_and_logits(case: Case, chunk: int) -> None:
    whole, pieces = KVCache(case.config), KVCache(case.config)
    logits = prefill(case.params, case.config, case.token_ids, whole)
    assert_close(prefill(case.params, case.config, case.token_ids, pieces, chunk=chunk), logits)
    assert_close(logits, parallel(case.params, case.config, case.token_ids)[-1])
    assert len(whole) == len(pieces) == len(case.token_ids)
    for one, other in zip(whole.layers, pieces.layers, strict=True):
        assert_close(one.keys, other.keys)
        assert_close(one.values, other.values)


@given(cases(), st.data())
@settings(max_examples=examples(100))
def test_going_back_and_on_is_as_if_nothing_had_happened(case: Case, data: st.DataObject) -> None:
    back = data.draw(st.integers(0, len(case.token_ids)))
    cache = KVCache(case.config)
    forward(case.params, case.config, [*case.token_ids[:back], *([0] * (len(case.token_ids) - back))], cache)
    cache.crop(back)
    rest = case.token_ids[back:]
    if rest:
        logits = forward(case.params, case.config, rest, cache)
        assert_close(logits, parallel(case.params, case.config, case.token_ids)[back:])


@given(cases(mlps=REAL) | cases(latent=True))
@settings(max_examples=examples(150))
def test_float32_stays_float32_throughout(case: Case) -> None:
    params = {name: value.astype(np.float32) for name, value in case.params.items()}
    seen: set[np.dtype[Any]] = set()

    def look(report: Report) -> None:
        if isinstance(report[1], np.ndarray):
            seen.add(report[1].dtype)

    cache = KVCache(case.config, np.float32)
    logits = forward(params, case.config, case.token_ids, cache, look)
    step_cache = KVCache(case.config, np.float32)
    for token in case.token_ids:
        decode_step(params, case.config, token, step_cache, look)
    assert seen == {np.dtype(np.float32)} == {cache[0].keys.dtype, cache[0].values.dtype}
    assert_close(logits.astype(np.float64), parallel(case.params, case.config, case.token_ids), 1e-3)


@given(cases())
@settings(max_examples=examples(100))
def test_rotated_scores_depend_on_distance_alone(case: Case) -> None:
    """RoPE: shift a text by filling the cache's first rows with something else; its own scores stay the same."""
    config = replace(case.config, position="rope", n_layer=1)
    params = {name: value for name, value in case.params.items() if name in param_shapes(config)}
    ids, ahead = case.token_ids[:5], [0] * 5
    scores: list[Array] = []

    def keep(report: Report) -> None:
        name, value, *_ = report
        if name == "attn_scores":
            scores.append(value)

    parallel(params, config, ids, keep)
    parallel(params, config, ahead + ids, keep)
    own = scores[1][:, len(ahead) :, len(ahead) :]
    visible = np.isfinite(scores[0])
    assert np.array_equal(visible, np.isfinite(own))
    assert_close(own[visible], scores[0][visible], 1e-11)


@given(cases())
@settings(max_examples=examples(100))
def test_a_hook_sees_every_report_once_a_layer_and_changes_nothing(case: Case) -> None:
    seen: list[tuple[str, int]] = []

    def note(report: Report) -> str:
        name, _, pos, layer = report
        assert pos == 0
        seen.append((name, layer))
        return "what a hook returns is dropped"

    with_hook = parallel(case.params, case.config, case.token_ids, note)
    assert np.array_equal(with_hook, parallel(case.params, case.config, case.token_ids))
    once = [("embed", -1), ("resid_final", -1), ("logits", -1)]
    inside = REPORTS - {name for name, _ in once}
    expected = once + [(name, layer) for layer in range(case.config.n_layer) for name in inside]
    assert sorted(seen) == sorted(expected)


@given(cases(), st.integers(1, 12), st.integers(0, 3))
@settings(max_examples=examples(150))
def test_a_window_hides_the_rows_that_are_too_old_and_no_others(case: Case, window: int, window_from: int) -> None:
    """Stepwise and at once: a score is finite where the key is no later than the query and less than `window` back."""
    config, cache = replace(case.config, window=window, window_from=window_from), KVCache(case.config)

    def look(report: Report) -> None:
        name, value, pos, layer = report
        if name == "attn_scores":
            back = np.arange(pos, pos + value.shape[1])[:, None] - np.arange(value.shape[2])
            reach = window if layer >= window_from else n
            assert (np.isfinite(value) == ((back >= 0) & (back < reach))).all()

    n = len(case.token_ids)
    at_once = parallel(case.params, config, case.token_ids, look)
    steps = [decode_step(case.params, config, token, cache, look) for token in case.token_ids]
    assert_close(np.array(steps), at_once)


@given(cases(), st.integers(1, 12), st.integers(1, 11))
@settings(max_examples=examples(150))
def test_a_block_sees_all_of_itself_and_all_before(case: Case, block: int, chunk: int) -> None:
    """By plain counting; and with a cache, if each block is run whole."""
    config = replace(case.config, mask_block=block)
    trace = Trace()
    logits = parallel(case.params, config, case.token_ids, trace.keep)
    n, windows = len(case.token_ids), [window_of(config, layer) for layer in range(config.n_layer)]
    for layer, window in enumerate(windows):
        seen = np.isfinite(trace["attn_scores", 0, layer])
        for i in range(n):
            for j in range(n):
                sees = j // block <= i // block and (not window or i - j < window)
                assert (seen[:, i, j] == sees).all()
    cache = KVCache(config)
    blocks = [case.token_ids[at : at + block] for at in range(0, n, block)]
    assert_close(np.concatenate([forward(case.params, config, ids, cache) for ids in blocks]), logits)


@given(cases(), st.data(), st.integers(0, 6), st.integers(0, 4))
@settings(max_examples=examples(200))
def test_a_branch_of_a_tree_is_what_its_path_would_be_alone(
    case: Case, data: st.DataObject, before: int, window: int
) -> None:
    """The logits of every token, the rows that stay when a path is kept, and what comes after it."""
    config = replace(case.config, window=window)
    known, new = case.token_ids[:before], case.token_ids[before:]
    if not new:
        return
    parents = [data.draw(st.integers(-1, i - 1)) for i in range(len(new))]
    cache = KVCache(config)
    if known:
        forward(case.params, config, known, cache)
    start = len(cache)
    logits = forward(case.params, config, new, cache, parents=parents)
    paths = [[i] for i in range(len(new))]
    for i, parent in enumerate(parents):
        if parent >= 0:
            paths[i] = [*paths[parent], i]
        alone = KVCache(config)
        text = [*known, *(new[j] for j in paths[i])]
        assert_close(forward(case.params, config, text, alone)[-1], logits[i])
    kept = paths[-1]
    cache.keep([*range(start), *(start + i for i in kept)])
    for ours, theirs in zip(cache.layers, alone.layers, strict=True):  # alone is the last path's
        assert_close(ours.keys, theirs.keys)
        assert_close(ours.values, theirs.values)
    if len(alone) < config.n_ctx:
        after = [decode_step(case.params, config, case.token_ids[0], one) for one in (cache, alone)]
        assert_close(after[0], after[1])


@pytest.mark.parametrize(
    ("parents", "sentence"),
    [
        ([-1], "2 tokens, 1 parents: no tree"),
        ([-1, 1], "In a tree, token 1 comes after 1"),
        ([-2, 0], "In a tree, token 0 comes after -2"),
    ],
)
def test_what_is_no_tree(parents: list[int], sentence: str) -> None:
    model = shipped("names")
    cache = KVCache(model.config)
    with pytest.raises(UserError, match=sentence):
        forward(model.params, model.config, [1, 2], cache, parents=parents)
    assert len(cache) == 0


@given(cases(latent=True), st.integers(1, 11))
@settings(max_examples=examples(200))
def test_latents_can_be_read_as_they_are(case: Case, chunk: int) -> None:
    """Absorbed or expanded: the same logits, weights and attn_out, from the same rows."""
    told, logits, caches = [], [], []
    for absorbed in (False, True):
        trace, cache = Trace(), KVCache(case.config)
        config = replace(case.config, absorbed=absorbed)
        ids = [case.token_ids[at : at + chunk] for at in range(0, len(case.token_ids), chunk)]
        logits.append(np.concatenate([forward(case.params, config, part, cache, trace.keep) for part in ids]))
        told.append(trace)
        caches.append(cache)
    assert_close(logits[0], logits[1])
    for one, other in zip(*(trace.events for trace in told), strict=True):
        assert (one.name, one.pos, one.layer) == (other.name, other.pos, other.layer)
        if one.name not in ("attn_scores", "head_out"):  # of keys and values, or of latents
            assert_close(np.asarray(one.value), np.asarray(other.value))
    rank, short = case.config.kv_lora_rank, case.config.rope_dim
    held = 8 * case.config.n_layer * (rank + short) * len(case.token_ids)
    assert [cache.nbytes for cache in caches] == [held, held]


@given(cases(), cases(), st.data())
@settings(max_examples=examples(100))
def test_an_encoder_is_read_in_every_step_and_never_grows(case: Case, other: Case, data: st.DataObject) -> None:
    """Steps equal one pass; what the encoder's rows became is the same after them; other rows, other logits."""
    config = replace(case.config, cross=True)
    params = split(case.rng.normal(0, 0.5, n_params(config)), config)
    encoded = other.rng.normal(size=(data.draw(st.integers(1, 6)), config.n_embd))
    memory = remember(params, config, encoded)
    before = [(keys.copy(), values.copy()) for keys, values in memory]
    at_once = forward(params, config, case.token_ids, KVCache(config), memory=memory)
    cache = KVCache(config)
    steps = [forward(params, config, [token], cache, memory=memory) for token in case.token_ids]
    assert_close(np.concatenate(steps), at_once)
    for layer, (keys, values) in enumerate(memory):
        assert np.array_equal(keys, before[layer][0]) and np.array_equal(values, before[layer][1])
        assert keys.shape == (config.n_kv_head, len(encoded), config.head_dim)
        for row in range(len(encoded)):  # by a head's matrix, written out
            own = params[f"layer{layer}.cross_wk"] @ encoded[row] + params.get(f"layer{layer}.cross_wk.bias", 0)
            assert_close(keys[:, row].ravel(), own)


def test_masks_of_a_long_prompt_are_not_kept() -> None:
    """Of 8,192 tokens in chunks, those of the first few are: at most 32, with 65,536 numbers each."""
    triangle.cache_clear()
    for t in range(128, 8193, 128):
        assert (causal_mask(range(t - 128, t), range(t)) == 0).sum() == 128 * t - 127 * 64  # type: ignore[union-attr]
    assert triangle.cache_info().currsize == 4


def test_the_default_is_microgpt() -> None:
    config, rng = Config(), Random(42)
    assert n_params(config) == 4192
    matrices = (f"layer0.{name}" for name in ("wq", "wk", "wv", "wo", "fc1", "fc2"))
    assert list(param_shapes(config)) == ["wte", "wpe", "lm_head", *matrices]
    assert init(config, Random(42)).tolist() == [rng.gauss(0, 0.08) for _ in range(4192)]


def microgpt_token(params: Params, token: int, pos: int, keys: list[list[float]], values: list[list[float]]) -> Array:
    """microgpt's forward of one token written out with lists, against which the arrays are checked."""

    def matvec(w: Array, x: list[float]) -> list[float]:
        return [sum(float(a) * b for a, b in zip(row, x, strict=True)) for row in w]

    def normed(x: list[float]) -> list[float]:
        scale = (sum(a * a for a in x) / len(x) + 1e-5) ** -0.5
        return [a * scale for a in x]

    x = normed([float(a + b) for a, b in zip(params["wte"][token], params["wpe"][pos], strict=True)])
    a = normed(x)
    q = matvec(params["layer0.wq"], a)
    keys.append(matvec(params["layer0.wk"], a))
    values.append(matvec(params["layer0.wv"], a))
    mixed: list[float] = []
    for head in range(4):
        part = slice(4 * head, 4 * head + 4)
        scores = [sum(a * b for a, b in zip(q[part], k[part], strict=True)) / 2 for k in keys]
        powers = [np.exp(score - max(scores)) for score in scores]
        weights = [power / sum(powers) for power in powers]
        mixed += [sum(w * v[i] for w, v in zip(weights, values, strict=True)) for i in range(4 * head, 4 * head + 4)]
    x = [a + b for a, b in zip(x, matvec(params["layer0.wo"], mixed), strict=True)]
    hidden = [max(0.0, a) for a in matvec(params["layer0.fc1"], normed(x))]
    x = [a + b for a, b in zip(x, matvec(params["layer0.fc2"], hidden), strict=True)]
    return np.array(matvec(params["lm_head"], x))


def test_the_shipped_names_model_computes_what_microgpt_computes() -> None:
    model = shipped("names")
    ids, keys, values = model.tokenizer.encode("emmakarolinabela"[:15]), list[list[float]](), list[list[float]]()
    cache = KVCache(model.config)
    for pos, token in enumerate(ids):
        expected = microgpt_token(model.params, token, pos, keys, values)
        assert_close(decode_step(model.params, model.config, token, cache), expected, 1e-14)
    assert_close(cache[0].keys.swapaxes(0, 1).reshape(len(ids), -1), np.array(keys), 1e-14)
    assert_close(cache[0].values.swapaxes(0, 1).reshape(len(ids), -1), np.array(values), 1e-14)
