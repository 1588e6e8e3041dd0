"""Rows before and after their codes, on the models that ship."""

import numpy as np
import pytest

from microgpt.caches.quantised import QuantisedCache
from microgpt.course.full_cache.policies import text_of
from microgpt.experiments.dropping.bits import Fewer, bytes_of, compare_formats, formats
from microgpt.weights import shipped

MODELS = [("stories", "The next day is bright"), ("names-deep", "emm"), ("names", "emm")]


def found_in(name: str, prompt: str) -> dict[str, Fewer]:
    model = shipped(name)
    return {one.name: one for one in compare_formats(model, text_of(model, prompt)[0])}


@pytest.mark.parametrize(("name", "prompt"), MODELS)
def test_no_number_is_further_off_than_its_bound(name: str, prompt: str) -> None:
    for one in found_in(name, prompt).values():
        for kind in (one.keys, one.values):
            assert (np.abs(kind.after - kind.before) <= kind.bound + 1e-12).all()
            assert 0 < kind.error <= kind.bound.max() and kind.error > kind.bound.max() / 4


@pytest.mark.parametrize(("name", "prompt"), MODELS)
def test_fewer_bits_are_further_off(name: str, prompt: str) -> None:
    found = found_in(name, prompt)
    for few, many in (("int4", "int8"), ("e5m2", "e4m3"), ("KIVI, int2", "KIVI, int4")):
        assert found[few].keys.error > found[many].keys.error and max(found[few].off) > max(found[many].off)
    assert all(one.first is None for one in found.values())  # measured: none of the three texts changes


def test_bytes_of_a_token_of_stories() -> None:
    """2 layers, K and V of 2 heads of 8 numbers: 128 bytes in sixteen bits, and what a row's scale takes."""
    found = found_in(*MODELS[0])
    per_row = {"int8": 8 + 4, "int8 symmetric": 8 + 2, "int4": 4 + 4, "e4m3": 8}
    for name, expected in per_row.items():
        assert found[name].bytes_per_token == 2 * 2 * 2 * expected and found[name].bytes_full == 128


def test_bytes_are_those_of_the_cache() -> None:
    """Closed groups and open rows, as a cache of sixteen bits holds them."""
    model = shipped("stories")
    config, rows = model.config, np.ones((23, 2, 8), np.float16)
    for keys, values in formats().values():
        cache = QuantisedCache(config, keys, values, np.float16)
        for layer in cache.layers:
            layer.append(rows, rows)
        assert cache.nbytes == sum(bytes_of(one, 23, config) for one in (keys, values))
