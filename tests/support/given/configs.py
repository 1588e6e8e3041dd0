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
LLAMA4 = {
    "hidden_size": 5120, "intermediate_size": 8192, "intermediate_size_mlp": 16384, "num_hidden_layers": 48,
    "num_attention_heads": 40, "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 202048,
    "attention_chunk_size": 8192, "num_local_experts": 16, "num_experts_per_tok": 1, "interleave_moe_layer_step": 1,
    "no_rope_layers": [],
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
    "Gemma-2-2B": {
        "model_type": "gemma2", "hidden_size": 2304, "intermediate_size": 9216, "num_hidden_layers": 26,
        "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256, "vocab_size": 256000,
        "max_position_embeddings": 8192, "sliding_window": 4096,
    },
    "Gemma-3-1B": {
        "model_type": "gemma3_text", "hidden_size": 1152, "intermediate_size": 6912, "num_hidden_layers": 26,
        "num_attention_heads": 4, "num_key_value_heads": 1, "head_dim": 256, "vocab_size": 262144,
        "max_position_embeddings": 32768, "sliding_window": 512, "sliding_window_pattern": 6,
    },
    "Gemma-3-4B": {
        "model_type": "gemma3", "vision_config": {"hidden_size": 1152}, "text_config": {
            "hidden_size": 2560, "intermediate_size": 10240, "num_hidden_layers": 34, "sliding_window": 1024,
        },
    },
    "gpt-oss-20b": {
        "model_type": "gpt_oss", "hidden_size": 2880, "intermediate_size": 2880, "num_hidden_layers": 24,
        "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 64, "vocab_size": 201088,
        "max_position_embeddings": 131072, "sliding_window": 128, "num_local_experts": 32, "num_experts_per_tok": 4,
        "attention_bias": True, "tie_word_embeddings": False,
        "layer_types": ["sliding_attention", "full_attention"] * 12,
    },
    "Llama-4-Scout": {"model_type": "llama4", "text_config": {**LLAMA4, "max_position_embeddings": 10_485_760}},
    "Llama-4-Maverick": {
        **LLAMA4, "model_type": "llama4_text", "num_local_experts": 128, "interleave_moe_layer_step": 2,
        "max_position_embeddings": 1_048_576,
    },
    "Qwen3-30B-A3B": {
        "model_type": "qwen3_moe", "hidden_size": 2048, "intermediate_size": 6144, "num_hidden_layers": 48,
        "num_attention_heads": 32, "num_key_value_heads": 4, "head_dim": 128, "vocab_size": 151936,
        "max_position_embeddings": 40960, "num_experts": 128, "num_experts_per_tok": 8, "moe_intermediate_size": 768,
        "decoder_sparse_step": 1, "mlp_only_layers": [], "sliding_window": None, "use_sliding_window": False,
        "tie_word_embeddings": False,
    },
    "a Qwen with a window in half of its layers": {
        "model_type": "qwen2", "hidden_size": 896, "intermediate_size": 4864, "num_hidden_layers": 24,
        "num_attention_heads": 14, "num_key_value_heads": 2, "vocab_size": 151936, "max_position_embeddings": 32768,
        "tie_word_embeddings": True, "use_sliding_window": True, "sliding_window": 4096, "max_window_layers": 12,
    },
    "a Qwen with a window in all layers but the last": {
        "model_type": "qwen3", "hidden_size": 2560, "intermediate_size": 9216, "num_hidden_layers": 6,
        "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 248320,
        "max_position_embeddings": 262144, "tie_word_embeddings": True, "use_sliding_window": True,
        "sliding_window": 4096, "max_window_layers": 6,
        "layer_types": ["sliding_attention"] * 5 + ["full_attention"],
    },
    "Gemma-2B": {
        "model_type": "gemma", "hidden_size": 2048, "intermediate_size": 16384, "max_position_embeddings": 8192,
        "num_attention_heads": 8, "num_hidden_layers": 18, "num_key_value_heads": 1, "head_dim": 256,
        "vocab_size": 256000,
    },
}  # fmt: skip
