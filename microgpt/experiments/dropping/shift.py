"""How far attention weights move when the keys went through codes, and how far they can.

If no score is off by more than e, the total variation of the weights is at most tanh(e / 2). Knows no page.
"""

from dataclasses import dataclass

import numpy as np

from microgpt.config import Array
from microgpt.model import softmax


@dataclass(frozen=True)
class Shifted:
    """The weights of one query over n rows, before and after."""

    before: Array
    after: Array
    score_off: float  # the largest

    @property
    def distance(self) -> float:
        """The total variation: what share of the weight is on other rows now."""
        return float(np.abs(self.after - self.before).sum() / 2)

    @property
    def limit(self) -> float:
        """What it cannot exceed."""
        return float(np.tanh(self.score_off / 2))


def shift_of(query: Array, before: Array, after: Array) -> Shifted:
    """One query [head_dim] over keys [n, head_dim] as they were and as they came back."""
    was, now = (keys @ query / np.sqrt(len(query)) for keys in (before, after))
    return Shifted(softmax(was), softmax(now), float(np.abs(now - was).max()))
