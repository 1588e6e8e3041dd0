"""Known models by the numbers that they publish in their config.json, and what two families have in common."""

from __future__ import annotations

from typing import Any

from microgpt.architectures import Architecture, Experts, Latent
from microgpt.config import Config

# the fields of two families: of Llama, rotary positions, RMSNorm, a gated MLP; of GPT-2, LayerNorm and biases
LLAMA: dict[str, Any] = dict(position="rope", norm="rms", embd_norm=False, final_norm=True, mlp="swiglu")
GPT2: dict[str, Any] = dict(norm="layer", embd_norm=False, final_norm=True, mlp="gelu", bias=True, tied=True)
DEEPSEEK_V3: dict[str, Any] = dict(
    latent=Latent(d_c=512, d_rope=64, d_nope=128, d_v=128, d_q=1536),
    experts=Experts(n=256, active=8, n_mlp=2048, shared=1, dense_layers=3, bias=True),
)


def llama(*sizes: int, **more: Any) -> Config:
    """The Llama family's Config; `sizes` are its first fields, from n_layer to vocab_size."""
    fields: dict[str, Any] = dict(zip(Config.__slots__, sizes, strict=False))
    return Config(**fields | LLAMA | more)


PRESETS: dict[str, Architecture] = {
    name: Architecture(name, f"huggingface.co/{where} config.json", config, **more)
    for name, where, config, more in (
        ("GPT-2 124M", "openai-community/gpt2", Config(12, 768, 12, 12, 64, 3072, 1024, 50257, **GPT2), {}),
        ("SmolLM2-135M", "HuggingFaceTB/SmolLM2-135M", llama(30, 576, 9, 3, 64, 1536, 8192, 49152, tied=True), {}),
        ("Gemma-2B", "google/gemma-2b", llama(18, 2048, 8, 1, 256, 16384, 8192, 256000, tied=True), {}),
        ("Llama-2-7B", "meta-llama/Llama-2-7b-hf", llama(32, 4096, 32, 32, 128, 11008, 4096, 32000), {}),
        ("Mistral-7B", "mistralai/Mistral-7B-v0.1", llama(32, 4096, 32, 8, 128, 14336, 32768, 32000, window=4096), {}),
        ("Llama-3-8B", "meta-llama/Meta-Llama-3-8B", llama(32, 4096, 32, 8, 128, 14336, 8192, 128256), {}),
        ("Llama-3-70B", "meta-llama/Meta-Llama-3-70B", llama(80, 8192, 64, 8, 128, 28672, 8192, 128256), {}),
        ("DeepSeek-V3", "deepseek-ai/DeepSeek-V3", llama(61, 7168, 128, 128, 128, 18432, 163840, 129280), DEEPSEEK_V3),
    )
}
