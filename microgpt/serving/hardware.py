"""The least time that a step can take on a processor, which has a peak of operations and a bandwidth of memory.

This is the roofline (Williams, Waterman and Patterson, 2009). A step runs some tokens of some texts: it reads all
weights once for the whole batch, and for each text the rows that it holds. So a larger batch shares the weights, and
shares no row. What a step takes beyond this, such as the start of a kernel, is left out: these are lower bounds.

Sixteen bits a number. Knows shapes; runs nothing.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

from microgpt.architectures import Architecture


class Processor(NamedTuple):
    """What its data sheet says: operations a second in 16 bits without sparsity, bytes a second, bytes of memory."""

    name: str
    operations: float
    bandwidth: float
    memory: int
    source: str

    @property
    def ridge(self) -> float:
        """Operations a byte from which on it is the arithmetic that takes the time."""
        return self.operations / self.bandwidth


PROCESSORS = {
    processor.name: processor
    for processor in (
        Processor("A100", 312e12, 2.039e12, 80 * 10**9, "NVIDIA A100 80GB SXM data sheet"),
        Processor("H100", 989e12, 3.35e12, 80 * 10**9, "NVIDIA H100 SXM data sheet"),
        Processor("H200", 989e12, 4.8e12, 141 * 10**9, "NVIDIA H200 data sheet"),
    )
}
LINKS = {"nvlink": 450e9, "network": 50e9, "pcie": 63e9, "disk": 7e9}  # bytes per second, one way
HALF_SPEED = 0.5  # of the peak, at which a prompt is computed again
SIZE = 2  # bytes a number
PER_MAC = 2  # operations: a multiplication and an addition


class Load(NamedTuple):
    """What a step runs over all texts: tokens, pairs of a query and a key in each head, rows that are read, and tokens
    whose logits somebody wants."""

    tokens: int
    pairs: int
    rows: int
    logits: int


class Bound(NamedTuple):
    """What it costs at least."""

    operations: float
    read: float  # bytes

    @property
    def intensity(self) -> float:
        """Operations a byte."""
        return self.operations / self.read

    def seconds(self, processor: Processor) -> float:
        return max(self.operations / processor.operations, self.read / processor.bandwidth)


def decoding(batch: int, rows: int) -> Load:
    """A token each for `batch` texts, which read `rows` rows each, the new one included."""
    return Load(batch, batch * rows, batch * rows, batch)


def prefilling(tokens: int, before: int = 0) -> Load:
    """`tokens` of one prompt, after `before` that have rows."""
    return Load(tokens, tokens * before + tokens * (tokens + 1) // 2, before + tokens, 1)


def lower_bound(architecture: Architecture, load: Load) -> Bound:
    """Two operations a weight and token, and those of each pair; weights once, each row once. Latents are read as they
    are, or old ones are made keys and values first, whichever is less work."""
    layers, head, pair, row = shape(architecture)
    pairs: int = pair * load.pairs
    if architecture.latent:
        old = (load.rows - load.tokens) * expansion(architecture)
        pairs = min(pairs, per_pair(architecture, absorbed=False) * load.pairs + old)
    operations = PER_MAC * (layers * load.tokens + head * load.logits) + pairs
    return Bound(operations, SIZE * (layers + head) + row * load.rows)


@functools.cache
def shape(architecture: Architecture) -> tuple[int, int, int, int]:
    """Weights that each token passes, and those of the output head; operations a pair; bytes a row, all layers."""
    head = architecture.config.vocab_size * architecture.config.n_embd
    layers = architecture.weight_bytes_read(SIZE) // SIZE - head
    return layers, head, per_pair(architecture), architecture.bytes_per_token(SIZE)


def per_pair(architecture: Architecture, absorbed: bool = True) -> int:
    """Operations for a query and a key, in all heads and layers: their product, and its share of the value. Of latents
    they are those of attention that reads them as they are, absorbed, or of keys and values that are made of them."""
    config, latent = architecture.config, architecture.latent
    widths = 2 * config.head_dim
    if latent:
        asked, mixed = (latent.d_c, latent.d_c) if absorbed else (latent.d_nope, latent.d_v)
        widths = asked + latent.d_rope + mixed
    return PER_MAC * config.n_layer * config.n_head * widths


def expansion(architecture: Architecture) -> int:
    """Operations that make the keys and values of all heads and layers of one latent; 0 where there is none."""
    config, latent = architecture.config, architecture.latent
    return PER_MAC * config.n_layer * config.n_head * latent.d_c * (latent.d_nope + latent.d_v) if latent else 0


def intensity_limit(architecture: Architecture, rows: int) -> float:
    """What the operations a byte of a decode step approach as the batch grows: the weights are shared by ever more
    texts, the rows never."""
    weights, row = architecture.weight_bytes_read(SIZE), architecture.bytes_per_token(SIZE)
    return weights / (rows * row) + per_pair(architecture) / row


def most_rows(architecture: Architecture, processor: Processor) -> float:
    """Up to how many rows a text a batch can be made so large that it is the arithmetic that takes the time."""
    weights, row = architecture.weight_bytes_read(SIZE), architecture.bytes_per_token(SIZE)
    return weights / (row * processor.ridge - per_pair(architecture))
