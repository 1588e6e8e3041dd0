"""Known models by the numbers that they publish in their config.json, and the Configs of two families."""

from __future__ import annotations

from typing import Any

from microgpt.architectures import Architecture, Experts, Latent
from microgpt.config import Config


def llama(
    n_layer: int, n_embd: int, n_head: int, n_kv_head: int, head_dim: int, n_mlp: int, vocab_size: int, n_ctx: int,
    tied: bool = False, window: int = 0,
) -> Config:  # fmt: skip
    """The Llama family's Config: rotary positions, RMSNorm, a gated MLP, no biases."""
    return Config(
        n_layer, n_embd, n_head, n_kv_head, head_dim, n_mlp, n_ctx, vocab_size,
        position="rope", norm="rms", embd_norm=False, final_norm=True, mlp="swiglu", tied=tied, window=window,
    )  # fmt: skip


def gpt2(n_layer: int, n_embd: int, n_head: int, n_mlp: int, vocab_size: int, n_ctx: int) -> Config:
    """GPT-2's Config: learned positions, LayerNorm, GELU, biases, a tied head."""
    return Config(
        n_layer, n_embd, n_head, n_head, n_embd // n_head, n_mlp, n_ctx, vocab_size,
        norm="layer", embd_norm=False, final_norm=True, mlp="gelu", bias=True, tied=True,
    )  # fmt: skip


PRESETS: dict[str, Architecture] = {
    name: Architecture(name, f"huggingface.co/{where} config.json", config, **more)
    for name, where, config, more in (
        ("GPT-2 124M", "openai-community/gpt2", gpt2(12, 768, 12, 3072, 50257, 1024), {}),
        (
            "SmolLM2-135M",
            "HuggingFaceTB/SmolLM2-135M",
            llama(30, 576, 9, 3, 64, 1536, 49152, 8192, tied=True),
            {},
        ),
        ("Gemma-2B", "google/gemma-2b", llama(18, 2048, 8, 1, 256, 16384, 256000, 8192, tied=True), {}),
        ("Llama-2-7B", "meta-llama/Llama-2-7b-hf", llama(32, 4096, 32, 32, 128, 11008, 32000, 4096), {}),
        (
            "Mistral-7B",
            "mistralai/Mistral-7B-v0.1",
            llama(32, 4096, 32, 8, 128, 14336, 32000, 32768, window=4096),
            {},
        ),
        ("Llama-3-8B", "meta-llama/Meta-Llama-3-8B", llama(32, 4096, 32, 8, 128, 14336, 128256, 8192), {}),
        ("Llama-3-70B", "meta-llama/Meta-Llama-3-70B", llama(80, 8192, 64, 8, 128, 28672, 128256, 8192), {}),
        (
            "DeepSeek-V3",
            "deepseek-ai/DeepSeek-V3",
            llama(61, 7168, 128, 128, 128, 18432, 129280, 163840),
            dict[str, Any](
                latent=Latent(d_c=512, d_rope=64, d_nope=128, d_v=128, d_q=1536),
                experts=Experts(n=256, active=8, n_mlp=2048, shared=1, dense_layers=3, bias=True),
            ),
        ),
    )
}
