"""PyTorch and transformers, for what is compared with them; who imports this is left out where they are not installed.

Tiny models with random weights, which transformers builds.
"""

import importlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from tests.support.checkpoints import byte_level, counts

os.environ.setdefault("HF_HUB_OFFLINE", "1")
torch: Any = pytest.importorskip("torch", reason="needs PyTorch, which nothing else here does: make references")
transformers: Any = pytest.importorskip("transformers", reason="needs transformers: make references")
importlib.import_module("safetensors.torch")  # which must meet float32 under its own name
transformers.logging.set_verbosity_error()
transformers.logging.disable_progress_bar()
VOCABULARY = 13
N_CTX = 16


@contextmanager
def in_float64() -> Iterator[None]:
    """Wherever transformers asks for float32 it gets float64."""
    with (
        mock.patch.object(torch, "float32", torch.float64),
        mock.patch.object(torch, "float", torch.float64),
        mock.patch.object(torch.Tensor, "float", torch.Tensor.double),
        torch.no_grad(),
    ):
        yield


def filled(model: Any, seed: int, scale: float = 0.4) -> Any:
    """The model with weights large enough for attention to be neither flat nor one-hot."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.eval().parameters():
            parameter.normal_(0, scale, generator=generator)
    return model


SMALL = counts(
    "num_hidden_layers=2 vocab_size=17 max_position_embeddings=32 hidden_size=16 intermediate_size=24 "
    "num_attention_heads=4 num_key_value_heads=2"
)
LATENT = counts(
    "q_lora_rank=8 kv_lora_rank=12 qk_nope_head_dim=4 qk_rope_head_dim=4 v_head_dim=6 n_routed_experts=4 n_group=2 "
    "topk_group=1 num_key_value_heads=4"
)
EXPERTS = {"num_experts": 4, "num_local_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 12}
FAMILIES: dict[str, dict[str, Any]] = {  # that are recorded; of the first five our own code has the formulas
    "Llama": {},
    "Mistral": {"sliding_window": None, "head_dim": 4},
    "Qwen2": {},
    "Qwen3": {"head_dim": 8},
    "GPT2": {"n_layer": 2, "n_embd": 16, "n_head": 4, "n_positions": 32, "vocab_size": 17},
    "Mixtral": EXPERTS | {"head_dim": 4},
    "Qwen3Moe": EXPERTS | {"head_dim": 8},
    "Gemma": {"head_dim": 8},
    "Gemma2": {"head_dim": 8, "sliding_window": 8},
    "Olmo2": {},
    "Granite": {},
    "Phi3": {"pad_token_id": 0},
}


def made(family: str, seed: int = 0, double: bool = False, fields: dict[str, Any] | None = None, **more: Any) -> Any:
    """A model of a family, with its usual fields or those that are given, and more."""
    fields = FAMILIES[family] if fields is None else fields
    config = getattr(transformers, f"{family}TextConfig" if family == "Gemma3" else f"{family}Config")
    head = getattr(transformers, "GPT2LMHeadModel" if family == "GPT2" else f"{family}ForCausalLM")
    model = head(config(**fields | more if family == "GPT2" else SMALL | fields | more))
    return filled(model.double() if double else model, seed, 0.3)


def words() -> Any:
    """A tokenizer that both can read."""
    return transformers.PreTrainedTokenizerFast(tokenizer_object=byte_level(), eos_token="<end>")


def folder_of(family: str, folder: Path, double: bool = False) -> Path:
    """A checkpoint with a tokenizer."""
    end = len(words()) - 1
    model = made(family, 7, double, vocab_size=end + 1, eos_token_id=end, bos_token_id=end)
    model.generation_config.eos_token_id = end
    model.save_pretrained(folder)
    words().save_pretrained(folder)
    return folder
