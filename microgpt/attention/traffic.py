"""The numbers that one head of attention moves between memory and processor: n queries of width d over t keys.

Written out step by step, attention stores its scores, reads them for softmax, stores the weights and reads those for
the weighted sum: four times n * t numbers, which for a long prompt is nearly all that is moved. In tiles they are never
stored. For a single query, as in decoding, they were little beside K and V from the beginning, so nothing is won there.
"""

from __future__ import annotations


def separate_traffic(n: int, t: int, d: int) -> int:
    """One after the other: Q, K and V are read, scores and weights are stored and read, O is stored."""
    return 2 * n * d + 2 * t * d + 4 * n * t


def once(n: int, t: int, d: int) -> int:
    """The least there is: each of Q, K and V read once, O stored once."""
    return 2 * n * d + 2 * t * d
