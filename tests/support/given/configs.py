"""Files config.json as published, without the fields that say nothing about shapes."""

from typing import Any

LLAMA3: dict[str, Any] = {
    "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
    "intermediate_size": 14336, "vocab_size": 128256, "max_position_embeddings": 8192, "tie_word_embeddings": False,
}  # fmt: skip
GPT2: dict[str, Any] = {"n_embd": 768, "n_layer": 12, "n_head": 12, "n_positions": 1024, "vocab_size": 50257}
LATENT = {"kv_lora_rank": 512, "qk_rope_head_dim": 64, "qk_nope_head_dim": 128, "v_head_dim": 128}
EXPERTS = {
    "moe_intermediate_size": 1408, "n_routed_experts": 64, "n_shared_experts": 2, "num_experts_per_tok": 6,
    "first_k_dense_replace": 1,
}  # fmt: skip
FILES: dict[str, dict[str, Any]] = {
    "Llama-3-8B": {**LLAMA3, "model_type": "llama"},
    "GPT-2": {**GPT2, "model_type": "gpt2"},
    "DeepSeek-V2-Lite": {
        "model_type": "deepseek_v2", **LATENT, **EXPERTS, "num_hidden_layers": 27, "hidden_size": 2048,
        "num_attention_heads": 16, "num_key_value_heads": 16, "q_lora_rank": None, "intermediate_size": 10944,
        "vocab_size": 102400, "max_position_embeddings": 163840,
    },
    "DeepSeek-V3": {
        "model_type": "deepseek_v3", **LATENT, "moe_intermediate_size": 2048, "n_routed_experts": 256,
        "n_shared_experts": 1, "num_experts_per_tok": 8, "first_k_dense_replace": 3, "num_hidden_layers": 61,
        "hidden_size": 7168, "num_attention_heads": 128, "num_key_value_heads": 128, "q_lora_rank": 1536,
        "intermediate_size": 18432, "vocab_size": 129280, "max_position_embeddings": 163840,
    },
    "Mixtral-8x7B": {
        **LLAMA3, "model_type": "mixtral", "num_local_experts": 8, "num_experts_per_tok": 2, "vocab_size": 32000,
        "sliding_window": None,
    },
    "Mistral-7B": {
        **LLAMA3, "model_type": "mistral", "vocab_size": 32000, "sliding_window": 4096,
        "max_position_embeddings": 32768,
    },
    "Qwen2.5-7B": {
        "model_type": "qwen2", "hidden_size": 3584, "intermediate_size": 18944, "max_position_embeddings": 131072,
        "num_attention_heads": 28, "num_hidden_layers": 28, "num_key_value_heads": 4, "sliding_window": 131072,
        "use_sliding_window": False, "tie_word_embeddings": False, "vocab_size": 152064,
    },
    "Qwen3-0.6B": {
        "model_type": "qwen3", "hidden_size": 1024, "intermediate_size": 3072, "max_position_embeddings": 40960,
        "num_attention_heads": 16, "num_hidden_layers": 28, "num_key_value_heads": 8, "head_dim": 128,
        "sliding_window": None, "use_sliding_window": False, "tie_word_embeddings": True, "vocab_size": 151936,
        "attention_bias": False, "max_window_layers": 28,
    },
    "Gemma-2B": {
        "model_type": "gemma", "hidden_size": 2048, "intermediate_size": 16384, "max_position_embeddings": 8192,
        "num_attention_heads": 8, "num_hidden_layers": 18, "num_key_value_heads": 1, "head_dim": 256,
        "vocab_size": 256000,
    },
}  # fmt: skip
