"""SOURCES: papers, code and data that the lessons rest on, each once; a lesson names its own by their keys.

Pages link to them and load nothing from there. An address is one that stays: arXiv's number, a repository, a model's
card. Knows no HTML.
"""

from __future__ import annotations

from typing import NamedTuple

from microgpt.errors import N_


class Source(NamedTuple):
    """A title as it is published, its authors, its year, what kind of thing it is, and its address."""

    title: str
    authors: str
    year: str
    kind: str
    address: str


WORK = {  # this one, as CITATION.cff has it
    "title": "microgpt-kv: the KV cache of a GPT, made visible",
    "authors": "The microgpt-kv authors",
    "version": "0.1.0",
    "licence": "MIT",
}
PAPER, CODE, MODEL_CARD, SHEET = N_("paper"), N_("code"), N_("model card"), N_("data sheet")
ARXIV, GITHUB, MODELS = "https://arxiv.org/abs/", "https://github.com/", "https://huggingface.co/"

SOURCES = {
    "attention": Source("Attention Is All You Need", "Vaswani et al.", "2017", PAPER, f"{ARXIV}1706.03762"),
    "bpe": Source("Neural Machine Translation of Rare Words with Subword Units", "Sennrich, Haddow, Birch", "2015", PAPER, f"{ARXIV}1508.07909"),
    "rmsnorm": Source("Root Mean Square Layer Normalization", "Zhang, Sennrich", "2019", PAPER, f"{ARXIV}1910.07467"),
    "memories": Source("Transformer Feed-Forward Layers Are Key-Value Memories", "Geva et al.", "2020", PAPER, f"{ARXIV}2012.14913"),
    "lora": Source("LoRA: Low-Rank Adaptation of Large Language Models", "Hu et al.", "2021", PAPER, f"{ARXIV}2106.09685"),
    "rope": Source("RoFormer: Enhanced Transformer with Rotary Position Embedding", "Su et al.", "2021", PAPER, f"{ARXIV}2104.09864"),
    "adam": Source("Adam: A Method for Stochastic Optimization", "Kingma, Ba", "2014", PAPER, f"{ARXIV}1412.6980"),
    "mqa": Source("Fast Transformer Decoding: One Write-Head is All You Need", "Shazeer", "2019", PAPER, f"{ARXIV}1911.02150"),
    "gqa": Source("GQA: Training Generalized Multi-Query Transformer Models from Multi-Head Checkpoints", "Ainslie et al.", "2023", PAPER, f"{ARXIV}2305.13245"),
    "deepseek-v2": Source("DeepSeek-V2: A Strong, Economical, and Efficient Mixture-of-Experts Language Model", "DeepSeek-AI", "2024", PAPER, f"{ARXIV}2405.04434"),
    "deepseek-v3": Source("DeepSeek-V3 Technical Report", "DeepSeek-AI", "2024", PAPER, f"{ARXIV}2412.19437"),
    "scaling": Source("Efficiently Scaling Transformer Inference", "Pope et al.", "2022", PAPER, f"{ARXIV}2211.05102"),
    "flash": Source("FlashAttention: Fast and Memory-Efficient Exact Attention with IO-Awareness", "Dao et al.", "2022", PAPER, f"{ARXIV}2205.14135"),
    "online-softmax": Source("Online normalizer calculation for softmax", "Milakov, Gimelshein", "2018", PAPER, f"{ARXIV}1805.02867"),
    "flash-2": Source("FlashAttention-2: Faster Attention with Better Parallelism and Work Partitioning", "Dao", "2023", PAPER, f"{ARXIV}2307.08691"),
    "paged": Source("Efficient Memory Management for Large Language Model Serving with PagedAttention", "Kwon et al.", "2023", PAPER, f"{ARXIV}2309.06180"),
    "radix": Source("SGLang: Efficient Execution of Structured Language Model Programs", "Zheng et al.", "2023", PAPER, f"{ARXIV}2312.07104"),
    "speculative": Source("Fast Inference from Transformers via Speculative Decoding", "Leviathan, Kalman, Matias", "2022", PAPER, f"{ARXIV}2211.17192"),
    "chunked": Source("SARATHI: Efficient LLM Inference by Piggybacking Decodes with Chunked Prefills", "Agrawal et al.", "2023", PAPER, f"{ARXIV}2308.16369"),
    "orca": Source("Orca: A Distributed Serving System for Transformer-Based Generative Models", "Yu et al.", "2022", PAPER, "https://www.usenix.org/conference/osdi22/presentation/yu"),
    "sarathi-serve": Source("Taming Throughput-Latency Tradeoff in LLM Inference with Sarathi-Serve", "Agrawal et al.", "2024", PAPER, f"{ARXIV}2403.02310"),
    "sinks": Source("Efficient Streaming Language Models with Attention Sinks", "Xiao et al.", "2023", PAPER, f"{ARXIV}2309.17453"),
    "degeneration": Source("The Curious Case of Neural Text Degeneration", "Holtzman et al.", "2019", PAPER, f"{ARXIV}1904.09751"),
    "bert-heads": Source("What Does BERT Look At? An Analysis of BERT’s Attention", "Clark et al.", "2019", PAPER, f"{ARXIV}1906.04341"),
    "h2o": Source("H2O: Heavy-Hitter Oracle for Efficient Generative Inference of Large Language Models", "Zhang et al.", "2023", PAPER, f"{ARXIV}2306.14048"),
    "kivi": Source("KIVI: A Tuning-Free Asymmetric 2bit Quantization for KV Cache", "Liu et al.", "2024", PAPER, f"{ARXIV}2402.02750"),
    "snapkv": Source("SnapKV: LLM Knows What You are Looking for Before Generation", "Li et al.", "2024", PAPER, f"{ARXIV}2404.14469"),
    "linear-attention": Source("Transformers are RNNs: Fast Autoregressive Transformers with Linear Attention", "Katharopoulos et al.", "2020", PAPER, f"{ARXIV}2006.16236"),
    "gated-delta": Source("Gated Delta Networks: Improving Mamba2 with Delta Rule", "Yang, Kautz, Hatamizadeh", "2024", PAPER, f"{ARXIV}2412.06464"),
    "distserve": Source("DistServe: Disaggregating Prefill and Decoding for Goodput-optimized Large Language Model Serving", "Zhong et al.", "2024", PAPER, f"{ARXIV}2401.09670"),
    "t5": Source("Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer", "Raffel et al.", "2019", PAPER, f"{ARXIV}1910.10683"),
    "whisper": Source("Robust Speech Recognition via Large-Scale Weak Supervision", "Radford et al.", "2022", PAPER, f"{ARXIV}2212.04356"),
    "fast-dllm": Source("Fast-dLLM: Training-free Acceleration of Diffusion LLM by Enabling KV Cache and Parallel Decoding", "Wu et al.", "2025", PAPER, f"{ARXIV}2505.22618"),
    "gemma3": Source("Gemma 3 Technical Report", "Gemma Team", "2025", PAPER, f"{ARXIV}2503.19786"),
    "gpt-oss": Source("gpt-oss-120b & gpt-oss-20b Model Card", "OpenAI", "2025", PAPER, f"{ARXIV}2508.10925"),
    "qwen3": Source("Qwen3 Technical Report", "Qwen Team", "2025", PAPER, f"{ARXIV}2505.09388"),
    "deepseek-v3.2": Source("DeepSeek-V3.2-Exp", "DeepSeek-AI", "2025", MODEL_CARD, f"{MODELS}deepseek-ai/DeepSeek-V3.2-Exp"),
    "cla": Source("Reducing Transformer Key-Value Cache Size with Cross-Layer Attention", "Brandon et al.", "2024", PAPER, f"{ARXIV}2405.12981"),
    "yoco": Source("You Only Cache Once: Decoder-Decoder Architectures for Language Models", "Sun et al.", "2024", PAPER, f"{ARXIV}2405.05254"),
    "microgpt": Source("microgpt", "Andrej Karpathy", "2026", CODE, "https://gist.github.com/karpathy/8627fe009c40f57531cb18360106ce95"),
    "makemore": Source("makemore", "Andrej Karpathy", "2022", CODE, f"{GITHUB}karpathy/makemore"),
    "nanogpt": Source("nanoGPT", "Andrej Karpathy", "2022", CODE, f"{GITHUB}karpathy/nanoGPT"),
    "picogpt": Source("picoGPT", "Jay Mody", "2023", CODE, f"{GITHUB}jaymody/picoGPT"),
    "transformers": Source("Transformers", "Hugging Face", "2018", CODE, f"{GITHUB}huggingface/transformers"),
    "vllm": Source("vLLM", "vLLM", "2023", CODE, f"{GITHUB}vllm-project/vllm"),
    "vllm-log": Source("vLLM at 22df3a3, September 2026: what it logs of its KV cache", "vLLM", "2026", CODE, f"{GITHUB}vllm-project/vllm/blob/22df3a3/vllm/v1/core/kv_cache_utils.py"),
    "vllm-tuning": Source("vLLM 0.17.1: Optimization and Tuning", "vLLM", "2026", CODE, f"{GITHUB}vllm-project/vllm/blob/v0.17.1/docs/configuration/optimization.md"),
    "llama.cpp": Source("llama.cpp", "ggml", "2023", CODE, f"{GITHUB}ggml-org/llama.cpp"),
    "nano-vllm": Source("nano-vllm", "GeeeekExplorer", "2025", CODE, f"{GITHUB}GeeeekExplorer/nano-vllm"),
    "sglang": Source("SGLang", "SGLang", "2024", CODE, f"{GITHUB}sgl-project/sglang"),
    "gpt2": Source("GPT-2", "OpenAI", "2019", MODEL_CARD, f"{MODELS}openai-community/gpt2"),
    "smollm2": Source("SmolLM2-135M", "Hugging Face", "2024", MODEL_CARD, f"{MODELS}HuggingFaceTB/SmolLM2-135M"),
    "llama2": Source("Llama-2-7B", "Meta", "2023", MODEL_CARD, f"{MODELS}meta-llama/Llama-2-7b-hf"),
    "llama3": Source("Llama-3-8B", "Meta", "2024", MODEL_CARD, f"{MODELS}meta-llama/Meta-Llama-3-8B"),
    "llama4": Source("Llama-4-Scout-17B-16E", "Meta", "2025", MODEL_CARD, f"{MODELS}meta-llama/Llama-4-Scout-17B-16E"),
    "gemma3n": Source("Gemma-3n-E4B", "Google", "2025", MODEL_CARD, f"{MODELS}google/gemma-3n-E4B"),
    "llama3.1": Source("Llama-3.1-8B", "Meta", "2024", MODEL_CARD, f"{MODELS}meta-llama/Llama-3.1-8B"),
    "h100": Source("H100 Tensor Core GPU", "NVIDIA", "2022", SHEET, "https://www.nvidia.com/en-us/data-center/h100/"),
    "a100": Source("A100 Tensor Core GPU", "NVIDIA", "2021", SHEET, "https://www.nvidia.com/content/dam/en-zz/Solutions/Data-Center/a100/pdf/nvidia-a100-datasheet-us-nvidia-1758950-r4-web.pdf"),
    "a10": Source("A10 Tensor Core GPU", "NVIDIA", "2021", SHEET, "https://www.nvidia.com/en-us/data-center/products/a10-gpu/"),
}  # fmt: skip
