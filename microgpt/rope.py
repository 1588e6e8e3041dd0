"""Positions inside attention: rotary ones, as the Llama family has them, and how they are stretched to longer contexts.

Knows the rotation of q and k; knows nothing of attention. Learned positions are added in model.py's `embed`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from microgpt.config import Array, Config


def no_rotation(config: Config, positions: Sequence[int], dtype: np.dtype[Any]) -> Callable[[Array], Array]:
    """Learned positions are already in the embedding; q and k stay as they are."""
    return lambda x: x


def rope(config: Config, positions: Sequence[int], dtype: np.dtype[Any]) -> Callable[[Array], Array]:
    """Rotary positions: turn each pair (x[i], x[i + head_dim/2]) of q and k by position x frequency.

    The rotate-half layout of the Llama family. It has no weights. Keys are cached after it. With `rope_dim` only so
    many numbers turn, the last of each head.
    """
    half = (config.rope_dim or config.head_dim) // 2
    angles = np.asarray(positions)[:, None, None] * frequencies(config)  # [n, 1, half]
    cos, sin = np.cos(angles).astype(dtype), np.sin(angles).astype(dtype)
    cos, sin = np.concatenate([cos, cos], axis=-1), np.concatenate([-sin, sin], axis=-1)  # [n, 1, 2 * half]
    partners = partner_indices(half)

    def rotate(x: Array) -> Array:  # [n, heads, head_dim] -> the same shape
        still = x.shape[-1] - 2 * half  # numbers before, which do not turn
        turning = x[..., still:] if still else x
        turned: Array = turning * cos + turning.take(partners, axis=-1) * sin
        return np.concatenate([x[..., :still], turned], axis=-1) if still else turned

    return rotate


@functools.cache
def partner_indices(half: int) -> Array:
    """Where the other number of each pair stands, [2 * half]."""
    return np.roll(np.arange(2 * half), half)


@functools.cache
def frequencies(config: Config) -> Array:
    """By how much each pair turns from one position to the next, [half]."""
    half = (config.rope_dim or config.head_dim) // 2
    return SCALINGS[config.rope_scaling](config.rope_theta ** (-np.arange(half) / half), config)


def no_scaling(plain: Array, config: Config) -> Array:
    return plain


def linear_scaling(plain: Array, config: Config) -> Array:
    """Every pair turns slower, so that the longer context makes no angle that training has not seen."""
    return plain / config.rope_factor


def llama3_scaling(plain: Array, config: Config) -> Array:
    """Pairs that turn up to rope_low_freq times in the old context turn slower; from rope_high_freq on, as ever."""
    turns = config.rope_old_ctx * plain / (2 * np.pi)
    kept = np.clip((turns - config.rope_low_freq) / (config.rope_high_freq - config.rope_low_freq), 0, 1)
    return kept * plain + (1 - kept) * plain / config.rope_factor


SCALINGS: dict[str, Callable[[Array, Config], Array]] = {
    "none": no_scaling,
    "linear": linear_scaling,
    "llama3": llama3_scaling,
}
ROTATIONS: dict[str, Callable[[Config, Sequence[int], np.dtype[Any]], Callable[[Array], Array]]] = {
    "learned": no_rotation,
    "rope": rope,
}
