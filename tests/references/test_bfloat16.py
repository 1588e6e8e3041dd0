"""Rounding to bfloat16 and float16 against PyTorch, bit for bit: `make references`."""

import numpy as np
import pytest

from microgpt.experiments.exactness.rounding import to_bfloat16, to_float16
from tests.references.pytorch import torch

pytestmark = pytest.mark.references


def test_rounding_is_pytorchs() -> None:
    """Over all of float32: a million bit patterns, and around every number that is half-way between two neighbours."""
    rng = np.random.default_rng(0)
    some = rng.integers(0, 2**32, 1_000_000, dtype=np.uint32)
    halves = (np.arange(2**16, dtype=np.uint32) << 16) + np.uint32(0x8000)
    bits = np.concatenate([some, halves - 1, halves, halves + 1])
    x = bits.view(np.float32)
    with np.errstate(over="ignore"):
        for nearest, dtype in ((to_bfloat16, torch.bfloat16), (to_float16, torch.float16)):
            theirs = torch.tensor(x).to(dtype).to(torch.float32).numpy()
            ours = nearest(x)
            assert np.array_equal(ours, theirs, equal_nan=True)
            known = ~np.isnan(x)
            assert np.array_equal(np.signbit(ours[known]), np.signbit(theirs[known]))
