"""Latent rows against transformers' DeepSeek-V2 and V3, an encoder and its decoder against its T5: `make references`.

Tiny models with random weights, which transformers builds; their tensors are given our names here. Both compute in
float64. DeepSeek's layers have a plain MLP here (experts are not our subject), T5's relative position bias is 0 (we
have none). V2 turns pairs that stand side by side, and so does V3 unless its config says otherwise: their rows are put
into our order, halves, which turns the same pairs.
"""

from dataclasses import replace
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microgpt.architectures.known import LLAMA
from microgpt.architectures.names import table
from microgpt.attention.cross import encode
from microgpt.cache import KVCache
from microgpt.config import Array, Config, Params, param_shapes
from microgpt.decode import decode_step, prefill
from microgpt.model import forward, remember
from tests.references.pytorch import N_CTX, VOCABULARY, filled, in_float64, torch, transformers
from tests.support.examples import examples
from tests.support.strategies import assert_close

pytestmark = pytest.mark.references
LAYER = table(
    "attn_norm=input_layernorm mlp_norm=post_attention_layernorm wq=self_attn.q_proj wq.down=self_attn.q_a_proj "
    "wq.down.norm=self_attn.q_a_layernorm wv.norm=self_attn.kv_a_layernorm wo=self_attn.o_proj gate=mlp.gate_proj "
    "fc1=mlp.up_proj fc2=mlp.down_proj"
)
OUTSIDE = {"wte": "model.embed_tokens", "final_norm": "model.norm", "lm_head": "lm_head"}


def run(model: Any, ids: list[int], cache: Any) -> Array:
    """Their logits, [n, vocab_size]. V2 takes what `float` gives as complex numbers: it must be a copy."""
    with in_float64(), mock.patch.object(torch.Tensor, "float", lambda tensor: tensor.double().clone()):
        return np.asarray(model(torch.tensor([ids]), past_key_values=cache, use_cache=True).logits[0].numpy())


def arrays(model: Any) -> Params:
    return {name: value.detach().numpy() for name, value in model.state_dict().items()}


# ---- DeepSeek -----------------------------------------------------------------------------------------


@st.composite
def deepseeks(draw: st.DrawFn, kind: str) -> Any:
    heads, own = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    more = {"rope_interleave": draw(st.booleans())} if kind == "DeepseekV3" else {}
    n_layer = draw(st.integers(1, 3))
    return getattr(transformers, kind + "Config")(
        vocab_size=VOCABULARY,
        max_position_embeddings=N_CTX,
        num_hidden_layers=n_layer,
        first_k_dense_replace=n_layer,
        hidden_size=heads * draw(st.integers(1, 4)),
        num_attention_heads=heads,
        num_key_value_heads=heads,
        intermediate_size=draw(st.integers(1, 12)),
        rms_norm_eps=1e-6,
        kv_lora_rank=draw(st.integers(1, 7)),
        q_lora_rank=draw(st.sampled_from((None, 1, 5))),
        qk_nope_head_dim=own,
        v_head_dim=own,
        qk_rope_head_dim=2 * draw(st.integers(1, 3)),
        bos_token_id=None,
        eos_token_id=None,
        rope_parameters={"rope_type": "default", "rope_theta": draw(st.sampled_from((10_000.0, 7.0)))},
        **more,
    )


def config_of(theirs: Any) -> Config:
    width = theirs.qk_nope_head_dim + theirs.qk_rope_head_dim
    own = Config(theirs.num_hidden_layers, theirs.hidden_size, theirs.num_attention_heads, 1, width)
    return replace(
        replace(own, n_mlp=theirs.intermediate_size, n_ctx=N_CTX, vocab_size=VOCABULARY, norm_eps=1e-6, **LLAMA),
        rope_theta=theirs.rope_parameters["rope_theta"],
        kv_lora_rank=theirs.kv_lora_rank,
        q_lora_rank=theirs.q_lora_rank or 0,
        rope_dim=theirs.qk_rope_head_dim,
    )


def halves(rows: Array, config: Config, theirs: Any) -> Array:
    """The last rope_dim of some rows [heads, ., in]: pairs side by side become two halves."""
    if not getattr(theirs, "rope_interleave", True):
        return rows
    still, turned = np.split(rows, [rows.shape[1] - config.rope_dim], axis=1)
    return np.concatenate([still, turned[:, ::2], turned[:, 1::2]], axis=1)


def params_of(model: Any, config: Config) -> Params:
    """Our names for their tensors."""
    found, theirs = arrays(model), model.config
    params = {ours: found[name + ".weight"] for ours, name in OUTSIDE.items()}
    for layer in range(config.n_layer):
        there, here = f"model.layers.{layer}.", f"layer{layer}."
        low = {"wq": "self_attn.q_b_proj"} if config.q_lora_rank else {}
        for ours, name in (LAYER | low).items():
            if f"{there}{name}.weight" in found:
                params[here + ours] = found[f"{there}{name}.weight"]
        wq = params[here + "wq"].reshape(config.n_head, config.head_dim, -1)
        params[here + "wq"] = halves(wq, config, theirs).reshape(config.n_head * config.head_dim, -1)
        latent, short = np.split(found[there + "self_attn.kv_a_proj_with_mqa.weight"], [config.kv_lora_rank])
        params |= {here + "wv": latent, here + "wk": halves(short[None], config, theirs)[0]}
        up = found[there + "self_attn.kv_b_proj.weight"].reshape(config.n_head, -1, config.kv_lora_rank)
        wk_up, wv_up = np.split(up, 2, axis=1)
        params |= {here + "wk_up": wk_up.reshape(-1, config.kv_lora_rank)}
        params |= {here + "wv_up": wv_up.reshape(-1, config.kv_lora_rank)}
    assert {name: value.shape for name, value in params.items()} == param_shapes(config)
    return params


@pytest.mark.parametrize("kind", ["DeepseekV2", "DeepseekV3"])
def test_latent_rows_are_theirs_expanded_or_absorbed(kind: str) -> None:
    """Logits and every row that is kept: at once, in chunks, token by token."""

    @given(
        deepseeks(kind),
        st.integers(0, 2**32),
        st.lists(st.integers(0, VOCABULARY - 1), min_size=1, max_size=N_CTX),
        st.integers(1, 6),
    )
    @settings(max_examples=examples(60))
    def agree(theirs: Any, seed: int, ids: list[int], chunk: int) -> None:
        with in_float64():
            model = transformers.AutoModelForCausalLM.from_config(theirs, attn_implementation="eager")
            model = filled(model.double(), seed)
        config, rows = config_of(theirs), transformers.DynamicCache()
        params, expected = params_of(model, config), run(model, ids, rows)
        for how in (config, replace(config, absorbed=True)):
            at_once, stepwise, chunked = (KVCache(how) for _ in range(3))
            assert_close(forward(params, how, ids, at_once), expected)
            assert_close(np.array([decode_step(params, how, token, stepwise) for token in ids]), expected)
            assert_close(prefill(params, how, ids, chunked, chunk=chunk), expected[-1])
            for cache in (at_once, stepwise, chunked):
                for ours, their_rows in zip(cache.layers, rows.layers, strict=True):
                    assert_close(ours.values, their_rows.keys[0].numpy())  # their latents are called keys
                    turned = their_rows.values[0].numpy()
                    if kind == "DeepseekV2":  # which keeps pairs side by side
                        turned = np.concatenate([turned[..., ::2], turned[..., 1::2]], axis=-1)
                    assert_close(ours.keys, turned)

    agree()


# ---- T5 -----------------------------------------------------------------------------------------------


@st.composite
def t5s(draw: st.DrawFn) -> Any:
    return transformers.T5Config(
        vocab_size=VOCABULARY,
        d_model=draw(st.integers(1, 10)),
        d_kv=draw(st.integers(1, 5)),
        num_heads=draw(st.integers(1, 4)),
        d_ff=draw(st.integers(1, 12)),
        num_layers=draw(st.integers(1, 3)),
        num_decoder_layers=draw(st.integers(1, 3)),
        feed_forward_proj="relu",
        tie_word_embeddings=False,
        layer_norm_epsilon=draw(st.sampled_from((1e-6, 0.1))),
        pad_token_id=0,
        decoder_start_token_id=0,
    )


def side(model: Any, which: str) -> tuple[Config, Params]:
    """The encoder or the decoder, as a model of ours. T5 does not divide its scores; its positions are in its bias."""
    found, theirs = arrays(model), model.config
    decoder = which == "decoder"
    config = Config(
        n_layer=theirs.num_decoder_layers if decoder else theirs.num_layers,
        n_embd=theirs.d_model,
        n_head=theirs.num_heads,
        n_kv_head=theirs.num_heads,
        head_dim=theirs.d_kv,
        n_mlp=theirs.d_ff,
        n_ctx=N_CTX,
        vocab_size=VOCABULARY,
        attn_scale=1.0,
        norm="rms",
        norm_eps=theirs.layer_norm_epsilon,
        embd_norm=False,
        final_norm=True,
        mask_block=1 if decoder else N_CTX,
        cross=decoder,
    )
    params = {
        "wte": found["shared.weight"],
        "wpe": np.zeros((N_CTX, config.n_embd)),
        "lm_head": found["lm_head.weight"],
        "final_norm": found[f"{which}.final_layer_norm.weight"],
    }
    for layer in range(config.n_layer):
        there, here = f"{which}.block.{layer}.layer", f"layer{layer}."
        for ours, name in zip(("wq", "wk", "wv", "wo"), "qkvo", strict=True):
            params[here + ours] = found[f"{there}.0.SelfAttention.{name}.weight"]
            if decoder:
                params[f"{here}cross_{ours}"] = found[f"{there}.1.EncDecAttention.{name}.weight"]
        last = 1 + decoder
        params |= {here + "attn_norm": found[f"{there}.0.layer_norm.weight"]}
        params |= {here + "mlp_norm": found[f"{there}.{last}.layer_norm.weight"]}
        params |= {
            here + f"fc{i + 1}": found[f"{there}.{last}.DenseReluDense.{n}.weight"] for i, n in enumerate(("wi", "wo"))
        }
        if decoder:
            params[here + "cross_norm"] = found[f"{there}.1.layer_norm.weight"]
    assert {name: value.shape for name, value in params.items()} == param_shapes(config)
    return config, params


@given(
    t5s(),
    st.integers(0, 2**32),
    st.lists(st.integers(1, VOCABULARY - 1), min_size=1, max_size=N_CTX),
    st.lists(st.integers(1, VOCABULARY - 1), min_size=1, max_size=N_CTX),
)
@settings(max_examples=examples(60))
def test_an_encoder_and_its_decoder_are_theirs(theirs: Any, seed: int, source: list[int], ids: list[int]) -> None:
    """Encoder rows, both caches, and the decoder's logits, in one pass and in steps."""
    with in_float64():
        model = filled(transformers.T5ForConditionalGeneration(theirs).double(), seed)
        for stack in (model.encoder, model.decoder):
            stack.block[0].layer[0].SelfAttention.relative_attention_bias.weight.zero_()
        rows = transformers.EncoderDecoderCache(transformers.DynamicCache(), transformers.DynamicCache())
        out = model(torch.tensor([source]), decoder_input_ids=torch.tensor([ids]), past_key_values=rows, use_cache=True)
    (encoder, left), (decoder, right) = side(model, "encoder"), side(model, "decoder")
    told = encode(left, encoder, source)
    assert_close(told, out.encoder_last_hidden_state[0].numpy())
    memory, cache = remember(right, decoder, told), KVCache(decoder)
    at_once = forward(right, decoder, ids, KVCache(decoder), memory=memory)
    assert_close(at_once, out.logits[0].numpy())
    steps = [forward(right, decoder, [token], cache, memory=memory) for token in ids]
    assert_close(np.concatenate(steps), at_once)
    for layer, (keys, values) in enumerate(memory):
        assert_close(keys, rows.cross_attention_cache.layers[layer].keys[0].numpy())
        assert_close(values, rows.cross_attention_cache.layers[layer].values[0].numpy())
        assert_close(cache[layer].keys, rows.self_attention_cache.layers[layer].keys[0].numpy())
        assert_close(cache[layer].values, rows.self_attention_cache.layers[layer].values[0].numpy())
