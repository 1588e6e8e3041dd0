"""Random models for Hypothesis: every field of Config is drawn, parameters come from a drawn seed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from microgpt.cache import KVCache
from microgpt.config import Array, Config, Params, n_params, split
from microgpt.model import forward
from microgpt.tokenizer import START, CharTokenizer
from microgpt.weights import Model

POSITIONS, NORMS = ("learned", "rope"), ("rms_plain", "rms", "layer")
SCALINGS, MLPS = ("none", "linear", "llama3"), ("relu", "gelu", "swiglu")
REAL = (*MLPS, "gelu_exact")  # the standard library's erf takes no complex numbers


@dataclass(frozen=True)
class Case:
    """A model with random weights and a text for it."""

    config: Config
    seed: int
    token_ids: list[int]

    @property
    def rng(self) -> np.random.Generator:
        return np.random.default_rng(self.seed)

    @property
    def vector(self) -> Array:
        """All parameters; spread enough for attention to be neither flat nor one-hot."""
        return self.rng.normal(0.0, 0.5, n_params(self.config))

    @property
    def params(self) -> Params:
        return split(self.vector, self.config)


@st.composite
def configs(draw: st.DrawFn, n_ctx: int = 10, mlps: Sequence[str] = MLPS) -> Config:
    n_kv_head = draw(st.integers(1, 3))
    return Config(
        n_layer=draw(st.integers(1, 3)),
        n_embd=draw(st.integers(3, 10)),
        n_head=n_kv_head * draw(st.integers(1, 3)),
        n_kv_head=n_kv_head,
        head_dim=2 * draw(st.integers(1, 3)),
        n_mlp=draw(st.integers(1, 12)),
        n_ctx=n_ctx,
        vocab_size=draw(st.integers(1, 12)),
        position=draw(st.sampled_from(POSITIONS)),
        rope_theta=draw(st.sampled_from((10_000.0, 500_000.0, 7.0))),
        rope_scaling=draw(st.sampled_from(SCALINGS)),
        rope_factor=draw(st.sampled_from((8.0, 1.5))),
        rope_old_ctx=draw(st.sampled_from((4, 64, 8192))),
        attn_scale=draw(st.sampled_from((0.0, 0.0, 1.0, 0.3))),
        window=draw(st.sampled_from((0, 0, 1, 2, 5, n_ctx + 3))),
        window_from=draw(st.integers(0, 2)),
        qk_norm=draw(st.booleans()),
        norm=draw(st.sampled_from(NORMS)),
        norm_eps=draw(st.sampled_from((1e-5, 1e-6, 0.1))),
        embd_norm=draw(st.booleans()),
        final_norm=draw(st.booleans()),
        mlp=draw(st.sampled_from(mlps)),
        bias=draw(st.booleans()),
        qkv_bias=draw(st.booleans()),
        wo_bias=draw(st.booleans()),
        mlp_bias=draw(st.booleans()),
        tied=draw(st.booleans()),
    )


@st.composite
def latents(draw: st.DrawFn, n_ctx: int = 10) -> Config:
    """With latent rows, as MLA has them."""
    rope_dim = 2 * draw(st.integers(1, 2))
    return replace(
        draw(configs(n_ctx)),
        n_head=draw(st.integers(1, 4)),
        n_kv_head=1,
        rope_dim=rope_dim,
        head_dim=rope_dim + draw(st.integers(1, 4)),
        kv_lora_rank=draw(st.integers(1, 6)),
        q_lora_rank=draw(st.sampled_from((0, 1, 5))),
        position="rope",
        qk_norm=False,
        bias=False,
        qkv_bias=False,
        attn_scale=draw(st.sampled_from((0.0, 0.3))),
    )


@st.composite
def cases(
    draw: st.DrawFn, min_tokens: int = 1, n_ctx: int = 10, mlps: Sequence[str] = MLPS, latent: bool = False
) -> Case:
    config = draw(latents(n_ctx) if latent else configs(n_ctx, mlps))
    token_ids = draw(st.lists(st.integers(0, config.vocab_size - 1), min_size=min_tokens, max_size=n_ctx))
    return Case(config, draw(st.integers(0, 2**32 - 1)), token_ids)


def normal_like(array: Array, rng: np.random.Generator) -> Array:
    return np.asarray(rng.normal(size=array.shape))


def parallel(params: Params, config: Config, token_ids: list[int], hook: Any = None) -> Array:
    """One masked pass over all tokens and a fresh cache: logits [n, vocab_size]."""
    return forward(params, config, token_ids, KVCache(config, params["wte"].dtype), hook)


def assert_close(one: Array, other: Array, tolerance: float = 1e-12) -> None:
    """Equal up to rounding: the largest difference, relative to the largest value (or to 1)."""
    assert one.shape == other.shape
    if one.size:
        scale = max(1.0, float(np.abs(other).max()))
        assert float(np.abs(one - other).max()) <= tolerance * scale


def unwritten(params: Params) -> Params:
    """Where gradients go: NaN until they are written."""
    return {name: np.full_like(value, np.nan) for name, value in params.items()}


def model_of(case: Case) -> Model:
    """A model with random weights; its last token starts and stops a text."""
    vocabulary = [str(i) for i in range(case.config.vocab_size - 1)] + [START]
    return Model("random", case.config, case.params, CharTokenizer(vocabulary))


REPORTS = {
    *(
        "embed resid_pre attn_norm q k v cache_append attn_scores attn_weights head_out attn_out resid_mid mlp_norm "
        "mlp_hidden mlp_out resid_final logits"
    ).split()
}
