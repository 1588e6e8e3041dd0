"""One large channel widens the grid of its whole group, and a scale per channel keeps that to itself."""

import pytest

from microgpt.course.fewer_bits.outlier import plant, rows_with


@pytest.mark.parametrize("bits, least", [(8, 4), (4, 4), (2, 2.5)])
def test_a_scale_per_channel_spares_the_others(bits: int, least: float) -> None:
    found = plant(rows_with(), bits)
    assert found.per_token > least * found.per_channel


@pytest.mark.parametrize("bits", [8, 4, 2])
def test_the_large_channel_is_what_costs(bits: int) -> None:
    with_it, without = plant(rows_with(), bits), plant(rows_with(times=1), bits)
    assert with_it.per_token > 2 * without.per_token
    assert with_it.per_channel == without.per_channel
