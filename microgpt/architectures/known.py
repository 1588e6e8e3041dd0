"""Known models by the numbers that they publish in their config.json, and what families have in common."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from microgpt.architectures import Architecture, Experts, Latent
from microgpt.config import Config

# the fields of two families: of Llama, rotary positions, RMSNorm, a gated MLP; of GPT-2, LayerNorm and biases
LLAMA: dict[str, Any] = dict(position="rope", norm="rms", embd_norm=False, final_norm=True, mlp="swiglu")
GPT2: dict[str, Any] = dict(norm="layer", embd_norm=False, final_norm=True, mlp="gelu", bias=True, tied=True)
LATENT = Latent(d_c=512, d_rope=64, d_nope=128, d_v=128)  # of DeepSeek's models; the large one has d_q too
DEEPSEEK_V3: dict[str, Any] = dict(
    latent=replace(LATENT, d_q=1536),
    experts=Experts(n=256, active=8, n_mlp=2048, shared=1, dense_layers=3, bias=True),
)


QWEN3: dict[str, Any] = dict(qk_norm=True)
GEMMA3: dict[str, Any] = dict(qk_norm=True, tied=True)
OSS: dict[str, Any] = dict(qkv_bias=True, wo_bias=True)


def alternate(n_layer: int, every: int, window: int) -> tuple[int, ...]:
    """Windows of layers of which each `every`th sees all."""
    return tuple(window if (layer + 1) % every else 0 for layer in range(n_layer))


def gemma(n_layer: int, every: int, window: int) -> dict[str, Any]:
    """What Gemma 2 and 3 have beside a Config."""
    return dict(layer_windows=alternate(n_layer, every, window), norms_behind=True)


def oss(n_layer: int, n: int) -> dict[str, Any]:
    experts = Experts(n, 4, 2880, bias=True, own_bias=True)
    return dict(layer_windows=alternate(n_layer, 2, 128), sinks=True, experts=experts)


def llama4(n: int, plain: tuple[int, ...] = ()) -> dict[str, Any]:
    """A layer of it reads its own chunk alone, which is at most as long as a window."""
    return dict(layer_windows=alternate(48, 4, 8192), experts=Experts(n, 1, 8192, shared=1, plain=plain))


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
        ("Llama-2-13B", "meta-llama/Llama-2-13b-hf", llama(40, 5120, 40, 40, 128, 13824, 4096, 32000), {}),
        ("Llama-3.1-8B", "meta-llama/Llama-3.1-8B", llama(32, 4096, 32, 8, 128, 14336, 131072, 128256), {}),
        ("Llama-3.1-70B", "meta-llama/Llama-3.1-70B", llama(80, 8192, 64, 8, 128, 28672, 131072, 128256), {}),
        ("Llama-3.1-405B", "meta-llama/Llama-3.1-405B", llama(126, 16384, 128, 8, 128, 53248, 131072, 128256), {}),
        ("Llama-3.2-1B", "meta-llama/Llama-3.2-1B", llama(16, 2048, 32, 8, 64, 8192, 131072, 128256, tied=True), {}),
        ("Llama-3.2-3B", "meta-llama/Llama-3.2-3B", llama(28, 3072, 24, 8, 128, 8192, 131072, 128256, tied=True), {}),
        (
            "Llama-4-Scout",
            "meta-llama/Llama-4-Scout-17B-16E",
            llama(48, 5120, 40, 8, 128, 16384, 10485760, 202048),
            llama4(16),
        ),
        (
            "Llama-4-Maverick",
            "meta-llama/Llama-4-Maverick-17B-128E",
            llama(48, 5120, 40, 8, 128, 16384, 1048576, 202048),
            llama4(128, (*range(0, 48, 2),)),
        ),
        (
            "Mixtral-8x7B",
            "mistralai/Mixtral-8x7B-v0.1",
            llama(32, 4096, 32, 8, 128, 14336, 32768, 32000),
            dict(experts=Experts(8, 2, 14336)),
        ),
        ("Qwen2.5-7B", "Qwen/Qwen2.5-7B", llama(28, 3584, 28, 4, 128, 18944, 131072, 152064, qkv_bias=True), {}),
        ("Qwen2.5-72B", "Qwen/Qwen2.5-72B", llama(80, 8192, 64, 8, 128, 29568, 131072, 152064, qkv_bias=True), {}),
        ("Qwen3-0.6B", "Qwen/Qwen3-0.6B", llama(28, 1024, 16, 8, 128, 3072, 40960, 151936, tied=True, **QWEN3), {}),
        ("Qwen3-8B", "Qwen/Qwen3-8B", llama(36, 4096, 32, 8, 128, 12288, 40960, 151936, **QWEN3), {}),
        ("Qwen3-32B", "Qwen/Qwen3-32B", llama(64, 5120, 64, 8, 128, 25600, 40960, 151936, **QWEN3), {}),
        (
            "Qwen3-30B-A3B",
            "Qwen/Qwen3-30B-A3B",
            llama(48, 2048, 32, 4, 128, 6144, 40960, 151936, **QWEN3),
            dict(experts=Experts(128, 8, 768)),
        ),
        (
            "Qwen3-235B-A22B",
            "Qwen/Qwen3-235B-A22B",
            llama(94, 4096, 64, 4, 128, 12288, 40960, 151936, **QWEN3),
            dict(experts=Experts(128, 8, 1536)),
        ),
        (
            "Gemma-2-2B",
            "google/gemma-2-2b",
            llama(26, 2304, 8, 4, 256, 9216, 8192, 256000, tied=True),
            gemma(26, 2, 4096),
        ),
        (
            "Gemma-2-9B",
            "google/gemma-2-9b",
            llama(42, 3584, 16, 8, 256, 14336, 8192, 256000, tied=True),
            gemma(42, 2, 4096),
        ),
        (
            "Gemma-3-1B",
            "google/gemma-3-1b-pt",
            llama(26, 1152, 4, 1, 256, 6912, 32768, 262144, **GEMMA3),
            gemma(26, 6, 512),
        ),
        (
            "Gemma-3-4B",
            "google/gemma-3-4b-pt",
            llama(34, 2560, 8, 4, 256, 10240, 131072, 262208, **GEMMA3),
            gemma(34, 6, 1024),
        ),
        (
            "Gemma-3-12B",
            "google/gemma-3-12b-pt",
            llama(48, 3840, 16, 8, 256, 15360, 131072, 262208, **GEMMA3),
            gemma(48, 6, 1024),
        ),
        (
            "Gemma-3-27B",
            "google/gemma-3-27b-pt",
            llama(62, 5376, 32, 16, 128, 21504, 131072, 262208, **GEMMA3),
            gemma(62, 6, 1024),
        ),
        ("gpt-oss-20b", "openai/gpt-oss-20b", llama(24, 2880, 64, 8, 64, 2880, 131072, 201088, **OSS), oss(24, 32)),
        ("gpt-oss-120b", "openai/gpt-oss-120b", llama(36, 2880, 64, 8, 64, 2880, 131072, 201088, **OSS), oss(36, 128)),
        (
            "DeepSeek-V2-Lite",
            "deepseek-ai/DeepSeek-V2-Lite",
            llama(27, 2048, 16, 16, 128, 10944, 163840, 102400),
            dict(latent=LATENT, experts=Experts(64, 6, 1408, shared=2, dense_layers=1)),
        ),
    )
}
# those that the first lessons show; the form of the lesson on memory, and the one on long texts, have all
FIRST_PRESETS = tuple(PRESETS)[:8]
