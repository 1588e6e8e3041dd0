"""An encoder and its decoder: the source is read at every step, and its rows are made once."""

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from microgpt.attention.cross import decode_with_source, encode, nbytes, with_cross
from microgpt.cache import KVCache
from microgpt.config import Config, n_params, param_shapes, split
from microgpt.model import forward, remember
from tests.support.examples import examples
from tests.support.strategies import Case, assert_close, cases, parallel


@given(cases())
@settings(max_examples=examples(60), deadline=None)
def test_an_encoder_hands_on_what_its_output_head_would_read(case: Case) -> None:
    """With the unit matrix as the head, the logits of a pass without a mask are the rows themselves."""
    d = case.config.n_embd
    config = replace(case.config, mask_block=case.config.n_ctx)
    bare = {name: value for name, value in case.params.items() if name != "lm_head"} | {"lm_head": np.eye(d)}
    assert_close(encode(case.params, case.config, case.token_ids), parallel(bare, config, case.token_ids))


@given(cases(), st.integers(1, 6))
@settings(max_examples=examples(60), deadline=None)
def test_the_sources_rows_are_made_once(case: Case, m: int) -> None:
    params, config = with_cross(case.params, case.config, seed=case.seed)
    assert {name: value.shape for name, value in params.items()} == param_shapes(config)
    source = case.rng.normal(size=(m, config.n_embd))
    steps = decode_with_source(params, config, source, case.token_ids)
    assert [step.own for step in steps] == [i + 1 for i in range(len(case.token_ids))]
    assert all((step.cross, step.moved, step.difference) == (m, 0.0, 0.0) for step in steps)


def test_what_is_written_depends_on_the_source() -> None:
    config = Config()
    params = split(np.random.default_rng(0).normal(0, 0.5, n_params(config)), config)
    params, config = with_cross(params, config)
    one, other = (np.random.default_rng(seed).normal(size=(4, config.n_embd)) for seed in (1, 2))
    logits = [forward(params, config, [1], KVCache(config), memory=remember(params, config, x)) for x in (one, other)]
    assert np.abs(logits[0] - logits[1]).max() > 1e-3


def test_published_shapes() -> None:
    """Whisper and T5 at two bytes a number, in MiB, rounded."""
    sizes = {(4, 384): (8.8, 2.6), (32, 1280): (234.4, 70.0), (4, 1280): (29.3, 8.8)}
    for (n_layer, width), expected in sizes.items():
        assert tuple(round(nbytes(n_layer, width, rows) / 2**20, 1) for rows in (1500, 448)) == expected
    assert nbytes(12, 768, 512) / 2**20 == 18.0
