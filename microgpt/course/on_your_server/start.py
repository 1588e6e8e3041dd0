"""What a server says of its cache as it starts: the memory that is left for rows, and what fits into it. Knows no HTML.

The lines are ours, in the form in which vLLM writes them; each number in them is computed from the shape of the model,
from what the data sheet says of the GPU, and from the settings.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple, TypeAlias

from microgpt.architectures.known import PRESETS
from microgpt.serving.hardware import SIZE, Processor

GIB = 2**30
BLOCK_TOKENS = 16  # tokens, as vLLM has them unless told otherwise
BUDGET, BATCH_TEXTS = 2048, 256  # tokens and texts of a pass, as vLLM has them on such a GPU
GATED = 3  # numbers that a gated MLP makes for each of its n_mlp: gate, up, and their product
# the shape is that of Llama-3-8B; what is longer is the context that it was trained for
SERVED_MODEL = replace(
    PRESETS["Llama-3-8B"],
    name="Llama-3.1-8B",
    source="huggingface.co/meta-llama/Llama-3.1-8B config.json",
    config=replace(PRESETS["Llama-3-8B"].config, n_ctx=131072),
)
SMALL_GPU = Processor("A10", 125e12, 600e9, 24 * 10**9, "NVIDIA A10 data sheet")
DTYPES = {"auto": SIZE, "fp8": 1}  # --kv-cache-dtype -> bytes per number
ADVICE = "Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when initializing the engine."
LineParts: TypeAlias = list[tuple[str, str]]  # of a line: words, and the figure after them


class ServerSettings(NamedTuple):
    """What the operator sets; the names are those of vLLM's options."""

    gpu_memory_utilization: float = 0.8
    max_model_len: int = 16384
    kv_cache_dtype: str = "auto"
    tensor_parallel_size: int = 1

    def options(self, but: ServerSettings | None = None) -> str:
        """As they are written at the command line; `but` for those that are the same there."""
        found = [(name, value) for name, value in self._asdict().items() if not but or value != getattr(but, name)]
        return " ".join(f"--{name.replace('_', '-')} {value}" for name, value in found)


class Start:
    """The start of a server with these settings: bytes are those of each GPU."""

    def __init__(self, settings: ServerSettings) -> None:
        gpus, longest = settings.tensor_parallel_size, settings.max_model_len
        self.settings = settings
        self.budget = round(settings.gpu_memory_utilization * SMALL_GPU.memory)  # that the server may have
        self.weights = SERVED_MODEL.weight_bytes() // gpus
        self.activations = SIZE * GATED * SERVED_MODEL.config.n_mlp * BUDGET // gpus  # of the largest pass, in one MLP
        self.left = self.budget - self.weights - self.activations  # for K and V
        self.per_token = SERVED_MODEL.bytes_per_token(DTYPES[settings.kv_cache_dtype]) // gpus
        self.blocks = self.left // (BLOCK_TOKENS * self.per_token)
        self.tokens = BLOCK_TOKENS * self.blocks
        self.texts = self.blocks / -(-longest // BLOCK_TOKENS)  # as long as allowed, that fit
        self.needed = -(-longest // BLOCK_TOKENS) * BLOCK_TOKENS * self.per_token  # bytes of one of them

    @property
    def shares(self) -> tuple[float, float, float]:
        """Of the memory of a GPU: weights, activations and what is left for rows."""
        return self.weights / SMALL_GPU.memory, self.activations / SMALL_GPU.memory, self.left / SMALL_GPU.memory

    @property
    def starts(self) -> bool:
        """It must have room for one text that is as long as allowed."""
        return self.texts >= 1

    @property
    def lines(self) -> list[LineParts]:
        """What the log says: the weights, the memory for rows, and how much fits; or why the server does not start."""
        longest = self.settings.max_model_len
        found: list[LineParts] = [
            [("Model loading took ", f"{gib(self.weights)} GiB"), (" memory", "")],
            [("Available KV cache memory: ", f"{gib(self.left)} GiB")],
        ]
        if self.starts:
            texts = (f", Maximum concurrency for {longest:,} tokens per request: ", f"{self.texts:.2f}x")
            return [*found, [("GPU KV cache size: ", f"{self.tokens:,} tokens"), texts]]
        error: LineParts = [
            ("ValueError: To serve at least one request with the model's max seq len (", f"{longest}"),
            ("), (", f"{gib(self.needed)} GiB"),
            (" KV cache is needed, which is larger than the available KV cache memory (", f"{gib(self.left)} GiB"),
            ("). Based on the available memory, the estimated maximum model length is ", f"{self.tokens}"),
            (
                ". Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when initializing the engine.",
                "",
            ),
        ]
        return [*found, error]


def gib(n_bytes: float) -> str:
    """As the log writes bytes, in every language."""
    return f"{n_bytes / GIB:.2f}"
