"""What no cache can be, or hold, is refused in one sentence."""

from collections.abc import Callable

import numpy as np
import pytest

from microgpt.caches.blocks import BlockPool
from microgpt.caches.codes import Float8, Grid
from microgpt.caches.evict import H2OCache, SnapKVCache
from microgpt.caches.paged import PagedCache
from microgpt.caches.quantised import QuantisedCache, Rows
from microgpt.caches.radix import RadixTree
from microgpt.caches.ring import RingCache, RingLayer
from microgpt.caches.shift import ShiftCache
from microgpt.caches.sinks import SinkCache
from microgpt.config import Config
from microgpt.errors import UserError

ROPE = Config(position="rope")


def of_rows(rows: Rows) -> QuantisedCache:
    return QuantisedCache(Config(), rows, rows)


LEARNED = H2OCache(Config(), 1, 20), SinkCache(Config(), 1, 20), RingCache(Config(window=4))
REFUSED: list[tuple[Callable[[], object], str]] = [
    (lambda: BlockPool(Config(), 4, 0), "A block of 0 rows: choose a power of two"),
    (lambda: BlockPool(Config(), 4, -1), "A block of -1 rows: choose a power of two"),
    (lambda: BlockPool(Config(), 4, 3), "A block of 3 rows: choose a power of two"),
    (lambda: BlockPool(Config(), 4, 12), "A block of 12 rows: choose a power of two"),
    (lambda: BlockPool(Config(), 0), "A pool of 0 blocks holds nothing"),
    (lambda: PagedCache(BlockPool(Config(), 2, 2)).crop(1), "A cache of 0 rows cannot be cropped to 1"),
    (lambda: Grid(3), "Codes of 3 bits: choose 2, 4 or 8."),
    (lambda: Grid(4).encode(np.zeros(3)), "Groups of 3 codes of 4 bits fill no whole bytes; choose a multiple of 2"),
    (lambda: Grid(8, scales=np.float16).encode(np.array([1e6])), "A number of 1e+06 has no code"),
    (lambda: Grid().encode(np.array([np.nan])), "A number of nan has no code"),
    (lambda: Float8("e3m4"), "There is no float of eight bits e3m4; choose e4m3 or e5m2."),  # type: ignore[arg-type]
    (lambda: Float8(scale=0), "A scale of 0: choose a positive number."),
    (lambda: of_rows(Rows(Grid(), recent=-1)), "-1 newest rows in full: choose 0 or more."),
    (lambda: of_rows(Rows(Grid(), per_channel=True)), "A group of 0 rows: choose 1 or more."),
    (lambda: of_rows(Rows(Grid(), group=-2)), "A group of -2 rows: choose 1 or more."),
    (lambda: of_rows(Rows(Grid(), group=3)), "A group of 3 numbers does not divide a row of 4; choose a divisor of it"),
    (lambda: of_rows(Rows(Grid(2), per_channel=True, group=6)), "Groups of 6 codes of 2 bits fill no whole bytes"),
    (lambda: of_rows(Rows(Grid())).check_room(17), "The cache holds 0 of 16 rows; 17 more do not fit"),
    (lambda: H2OCache(Config(), -1, 2), "-1 heavy rows and 2 recent ones: choose 0 or more heavy"),
    (lambda: H2OCache(Config(), 2, 0), "2 heavy rows and 0 recent ones"),
    (lambda: H2OCache(Config(window=3), 2, 2), "This model sees a window"),
    *(
        (lambda cache=cache: cache.check_room(17), "has learned 16 positions, and 0 are taken; 17 more")
        for cache in LEARNED
    ),
    (lambda: SnapKVCache(Config(), 4, 5), "5 voters and 4 rows: choose 1 or more voters"),
    (lambda: SnapKVCache(Config(), 4, 0), "0 voters and 4 rows"),
    (lambda: SnapKVCache(Config(), 4, 2, 2), "2 neighbours share their votes: choose an odd number."),
    (lambda: RadixTree().insert([1, 2, 3], [1, 2]), "3 tokens come with 2 slots; give one for each token"),
    (lambda: RingCache(Config()), "a ring would lose rows"),
    (lambda: RingLayer(1, 0, 4), "A window of 0 rows: a token sees at least its own; choose 1 or more."),
    (lambda: RingLayer(1, -3, 4), "A window of -3 rows: a token sees at least its own; choose 1 or more."),
    (lambda: ShiftCache(Config(), 0, 0), "positions are learned, and its keys cannot be turned"),
    (lambda: ShiftCache(ROPE, 0, 17), "A cache of 17 rows: choose 1 to 16."),
    (lambda: ShiftCache(ROPE, -1, 0), "-1 rows to keep of 16: choose 0 to 14, so that some can leave."),
    (lambda: ShiftCache(ROPE, 15, 0), "15 rows to keep of 16"),
    (lambda: SinkCache(Config(), -1, 4), "-1 sinks and 4 recent rows: choose 0 or more sinks, and 1 or more recent"),
    (lambda: SinkCache(Config(), 4, -1), "4 sinks and -1 recent rows"),
    (lambda: SinkCache(Config(window=4), 1, 4), "This model sees a window. A ring keeps what it sees"),
]


@pytest.mark.parametrize(("make", "sentence"), REFUSED, ids=[sentence for _, sentence in REFUSED])
def test_what_cannot_be_is_said(make: Callable[[], object], sentence: str) -> None:
    with pytest.raises(UserError) as caught:
        make()
    assert sentence in str(caught.value)
