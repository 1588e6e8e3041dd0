"""One large channel widens the grid of its whole group, and a scale per channel keeps that to itself."""

import pytest

from microgpt.course.fewer_bits.outlier import plant, rows_with


@pytest.mark.parametrize("bits, least", [(8, 4), (4, 4), (2, 2.5)])
def test_the_large_channel_is_what_costs_and_a_scale_per_channel_spares_the_others(bits: int, least: float) -> None:
    (per_token, per_channel), without = plant(rows_with(), bits), plant(rows_with(times=1), bits)
    assert per_token > least * per_channel
    assert per_token > 2 * without[0] and per_channel == without[1]
