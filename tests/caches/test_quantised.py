"""Rows in fewer bits: what a cache of codes hands out, what it holds, and which groups bear a large number."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microgpt.caches.codes import Float8, Grid
from microgpt.caches.quantised import QuantisedCache, QuantisedRows, Rows
from microgpt.config import Array, n_params, split
from microgpt.model import forward
from tests.support.examples import examples
from tests.support.strategies import Case, assert_close, cases

ANY = st.sampled_from(
    [
        Rows(Grid(8)),
        Rows(Grid(8, symmetric=True), recent=2),
        Rows(Grid(8), group=2),
        Rows(Float8()),
        Rows(Grid(8), per_channel=True, group=3),
        Rows(Grid(8), per_channel=True, group=2, recent=3),
        Rows(Grid(4), per_channel=True, group=2),
        Rows(Float8("e5m2"), recent=1),
    ]
)


def turned_back(rows: Rows, x: Array) -> Array:
    """Rows [g, n, d] through their codes, all at once."""
    return rows.join_groups(rows.codes.decode(rows.codes.encode(rows.split_groups(x)), x.dtype))


@given(ANY, st.lists(st.integers(1, 5), min_size=1, max_size=6), st.integers(0, 2**32 - 1))
def test_closed_groups_never_change_and_the_newest_rows_are_exact(rows: Rows, chunks: list[int], seed: int) -> None:
    x = np.random.default_rng(seed).normal(size=(2, sum(chunks), 4))
    held, at, found = QuantisedRows(rows, 2, 40, 4, np.float64), 0, [np.empty((2, 0, 4))]
    closed = [0]
    for n in chunks:
        found.append(held.append(x[:, at : at + n]))
        at += n
        closed.append(at - held.open.shape[1])
        assert rows.recent <= held.open.shape[1] < rows.recent + rows.block or closed[-1] == 0
        assert len(held) == at and (found[-1][:, closed[-1] :] == x[:, closed[-1] : at]).all()
    for (before, n), (after, _) in pairwise(zip(found, closed, strict=True)):
        assert (before[:, :n] == after[:, :n]).all()
    assert (found[-1][:, : closed[-1]] == turned_back(rows, x[:, : closed[-1]])).all()
    groups = 2 * closed[-1] * 4 // rows.length(4)
    assert held.nbytes == groups * rows.codes.bytes_of(rows.length(4)) + held.open.nbytes


class Plainly:
    """A layer that keeps all rows in full, and hands out what codes would make of them."""

    def __init__(self, keys: Rows, values: Rows) -> None:
        self.kept: list[tuple[Rows, list[Array]]] = [(keys, []), (values, [])]

    def append(self, k: Array, v: Array) -> tuple[Array, Array, range]:
        found = []
        for (rows, kept), new in zip(self.kept, (k, v), strict=True):
            kept += list(new)
            x = np.stack(kept, axis=1)  # [g, t, d]
            closed = max(0, len(kept) - rows.recent) // rows.block * rows.block
            found.append(np.concatenate([turned_back(rows, x[:, :closed]), x[:, closed:]], axis=1))
        return found[0], found[1], range(len(self.kept[0][1]))


class PlainlyCache(list[Plainly]):
    """Such layers."""

    @property
    def next_position(self) -> int:
        return len(self[-1].kept[0][1])

    def check_room(self, n: int) -> None:
        """There is."""


@given(cases(), ANY, ANY)
@settings(max_examples=examples(100), deadline=None)
def test_steps_read_what_all_rows_through_their_codes_give(case: Case, keys: Rows, values: Rows) -> None:
    """Whatever the model: closed little by little, a step reads what coding the whole text at once would give."""
    config = replace(case.config, head_dim=4)
    params = split(case.rng.normal(0.0, 0.5, n_params(config)), config)
    ours = QuantisedCache(config, keys, values)
    plain = PlainlyCache(Plainly(keys, values) for _ in range(config.n_layer))
    for token in case.token_ids:
        found, expected = (forward(params, config, [token], cache) for cache in (ours, plain))
        assert_close(found, expected)
    assert len(ours) == ours.next_position == len(case.token_ids)


def planted(seed: int = 0, n: int = 64, d: int = 16) -> Array:
    """Rows with one channel 20 times as large as the others."""
    x = np.random.default_rng(seed).normal(size=(1, n, d))
    x[:, :, 3] *= 20
    return x


@pytest.mark.parametrize(("bits", "token", "channel"), [(8, 0.026, 0.005), (4, 0.458, 0.091), (2, 1.59, 0.47)])
def test_a_large_channel_costs_the_others_per_token_and_not_per_channel(
    bits: int, token: float, channel: float
) -> None:
    """Planted: our own small models have no such channel. Averaged over 20 draws, the error of the OTHER channels."""
    per = {"token": Rows(Grid(bits)), "channel": Rows(Grid(bits), per_channel=True, group=64)}
    errors = {name: rms_of_others(rows) for name, rows in per.items()}
    assert errors["token"] == pytest.approx(token, rel=0.15) and errors["channel"] == pytest.approx(channel, rel=0.15)


def rms_of_others(rows: Rows) -> float:
    off = [np.delete(turned_back(rows, x) - x, 3, axis=-1) for x in map(planted, range(20))]
    return float(np.sqrt(np.mean(np.square(off))))


def test_a_large_token_costs_the_others_per_channel_and_not_per_token() -> None:
    """So values are kept per token."""
    x = np.random.default_rng(1).normal(size=(1, 64, 16))
    x[:, 20] *= 20
    per_token, per_channel = (
        float(np.sqrt(np.square(np.delete(turned_back(rows, x) - x, 20, axis=1)).mean()))
        for rows in (Rows(Grid(4)), Rows(Grid(4), per_channel=True, group=64))
    )
    assert 4 * per_token < per_channel
