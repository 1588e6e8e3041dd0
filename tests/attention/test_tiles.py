"""Attention in tiles, splits and ranks is attention: on the rows of real models, and in figures worked out by hand."""

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microgpt.attention.ranks import context_parallel, kv_heads_of, rows_held, tensor_parallel
from microgpt.attention.tiles import Part, attend, join, n_splits, once, online, separate_traffic, split
from microgpt.cache import KVCache
from microgpt.config import Array
from microgpt.errors import UserError
from microgpt.model import forward
from microgpt.trace import Trace
from microgpt.weights import Model, shipped

MODELS = [shipped(name) for name in ("names", "names-deep", "stories")]
TEXTS = ["emmanuel", "emmanuel", "The next day is bright and the girl"]


class Read(NamedTuple):
    """What the last token of a text reads in one layer, and what comes of it."""

    q: Array  # [n_head, head_dim]
    keys: Array  # [n_kv_head, t, head_dim]
    values: Array
    scores: Array  # [n_head, t]
    head_out: Array  # [n_head * head_dim]
    attn_out: Array
    wo: Array


def last_reads(model: Model, text: str) -> list[Read]:
    ids = model.tokenizer.encode(text)
    trace, cache = Trace(), KVCache(model.config)
    forward(model.params, model.config, ids, cache, trace)
    return [
        Read(
            trace["q", 0, layer][-1],
            cache[layer].keys,
            cache[layer].values,
            trace["attn_scores", 0, layer][:, -1],
            trace["head_out", 0, layer][-1],
            trace["attn_out", 0, layer][-1],
            model.params[f"layer{layer}.wo"],
        )
        for layer in range(model.config.n_layer)
    ]


READS = [read for model, text in zip(MODELS, TEXTS, strict=True) for read in last_reads(model, text)]


def heads(read: Read) -> list[tuple[Array, Array, Array]]:
    """Scores, values and the plain answer of each head."""
    n_head, head_dim = read.q.shape
    group = n_head // len(read.keys)
    plain = read.head_out.reshape(n_head, head_dim)
    return [(read.scores[head], read.values[head // group], plain[head]) for head in range(n_head)]


@pytest.mark.parametrize("read", READS)
def test_every_tile_and_every_number_of_splits_gives_the_plain_answer(read: Read) -> None:
    for scores, values, plain in heads(read):
        lse = np.log(np.exp(scores).sum())
        for size in range(1, len(scores) + 1):
            found = attend(scores, values, size)
            assert np.abs(found.out - plain).max() <= 1e-14 and abs(found.lse - lse) <= 1e-14
            joined = join(split(scores, values, size))
            assert np.abs(joined.out - plain).max() <= 1e-14 and abs(joined.lse - lse) <= 1e-14


def test_two_tiles_by_hand() -> None:
    scores, values = np.array([1.0, 3, 2, 5]), np.array([[1.0], [2], [3], [4]])
    first, second = online(scores, values, 2)
    assert (first.m, round(first.l, 6)) == (3, 1.135335)
    assert (second.m, round(second.l, 6), round(second.factor, 6)) == (5, 1.203438, 0.135335)
    assert round(second.part.out[0], 6) == 3.688057 and round(second.part.lse, 6) == 5.185182
    parts = split(scores, values, 2)
    assert [round(part.out[0], 6) for part in parts] == [1.880797, 3.952574]
    assert [round(part.lse, 6) for part in parts] == [3.126928, 5.048587]
    assert join(parts).out[0] == pytest.approx(0.127677 * 1.880797 + 0.872323 * 3.952574, abs=1e-6)
    assert np.mean([part.out for part in parts]) == pytest.approx(2.916686, abs=1e-6)  # the mistake


def test_scores_that_overflow_apart_do_not_in_tiles() -> None:
    scores, values = np.array([900.0, 1000, 999]), np.array([[1.0], [2], [3]])
    with np.errstate(over="ignore", invalid="ignore"):
        assert np.isnan((np.exp(scores) / np.exp(scores).sum()) @ values)
    assert attend(scores, values, 1).out[0] == pytest.approx(2.268941, abs=1e-6)


@given(st.integers(0, 999), st.integers(1, 12), st.integers(1, 5), st.integers(0, 12))
def test_hidden_keys_and_sinks(seed: int, size: int, splits: int, hidden: int) -> None:
    """Tiles that are hidden whole change nothing, wherever they stand; a sink takes its share and gives no value."""
    rng = np.random.default_rng(seed)
    scores, values = rng.normal(0, 3, 12), rng.normal(0, 1, (12, 4))
    scores[rng.permutation(12)[:hidden]] = -np.inf
    sink = float(rng.normal())
    e = np.exp(scores)
    plain = e @ values / e.sum() if hidden < 12 else np.zeros(4)
    with np.errstate(all="raise"):
        found = attend(scores, values, size), join(split(scores, values, splits, size))
        with_sink = attend(scores, values, size, sink)
    for one in found:
        assert np.abs(one.out - plain).max() <= 1e-13
        assert one.lse == -np.inf if hidden == 12 else abs(one.lse - np.log(e.sum())) <= 1e-13
    assert np.abs(with_sink.out - e @ values / (e.sum() + np.exp(sink))).max() <= 1e-13


@given(st.integers(0, 999), st.permutations(range(5)), st.integers(1, 4))
def test_parts_may_be_joined_in_any_order_and_in_groups(seed: int, order: list[int], cut: int) -> None:
    rng = np.random.default_rng(seed)
    parts = [Part(rng.normal(0, 1, 3), float(rng.normal(0, 5))) for _ in range(5)]
    mixed = [parts[i] for i in order]
    for other in (join(mixed), join([join(mixed[:cut]), join(mixed[cut:])])):
        assert np.abs(other.out - join(parts).out).max() <= 1e-13 and abs(other.lse - join(parts).lse) <= 1e-13


# ---- several processors -----------------------------------------------------------------------------


@pytest.mark.parametrize("ranks", [1, 2, 4])
@pytest.mark.parametrize("read", READS)
def test_ranks_with_some_heads_sum_to_the_whole(read: Read, ranks: int) -> None:
    parts = tensor_parallel(read.q, read.keys, read.values, read.wo, ranks)
    assert len(parts) == ranks and np.abs(sum(parts) - read.attn_out).max() <= 1e-14


@pytest.mark.parametrize("ranks", [1, 2, 3, 50])
@pytest.mark.parametrize("read", READS)
def test_ranks_with_some_rows_join_to_the_whole(read: Read, ranks: int) -> None:
    found = context_parallel(read.q, read.keys, read.values, ranks)
    assert np.abs(found - read.head_out).max() <= 1e-14


def test_fewer_shared_heads_than_ranks_are_kept_more_than_once() -> None:
    assert [rows_held(ranks, 4, 2) for ranks in (1, 2, 4)] == [1, 1, 2]
    assert [rows_held(ranks, 64, 8) for ranks in (8, 16)] == [1, 2]
    with pytest.raises(UserError, match="4 heads cannot be dealt to 3 ranks"):
        kv_heads_of(0, 3, 4, 2)


# ---- figures ----------------------------------------------------------------------------------------


def test_numbers_moved_by_a_head_of_width_128() -> None:
    prefill, decode = (4096, 4096, 128), (1, 4096, 128)
    assert round(separate_traffic(*prefill) / 1e6, 1) == 69.2 and round(once(*prefill) / 1e6, 1) == 2.1
    assert round(separate_traffic(*prefill) / once(*prefill)) == 33
    assert (separate_traffic(*decode), once(*decode)) == (1_065_216, 1_048_832)
    assert round(separate_traffic(*decode) / once(*decode), 2) == 1.02


@pytest.mark.parametrize(
    ("heads", "keys", "splits"), [(8, 1024, 8), (8, 8192, 22), (8, 65_536, 23), (32, 8192, 6), (32 * 8, 8192, 1)]
)
def test_splits_that_flash_attention_2_takes_on_108_processors(heads: int, keys: int, splits: int) -> None:
    assert n_splits(heads, keys, 108) == splits


def test_what_makes_no_tile_is_refused() -> None:
    scores, values = np.zeros(3), np.zeros((3, 1))
    with pytest.raises(UserError, match="A tile of 0 keys holds none; choose 1 or more"):
        attend(scores, values, 0)
    with pytest.raises(UserError, match="-1 splits leave nobody to work; choose 1 or more"):
        split(scores, values, -1)
