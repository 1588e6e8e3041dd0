"""Long rows: what is drawn at once is what each number says by itself."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from microgpt.viz.drawing.strips import ABOVE, BELOW, CELLS, fold, thin_scale

NUMBERS = st.lists(st.integers(-40, 40), min_size=1, max_size=300).map(lambda row: np.array(row, np.float32) / 8)


@given(NUMBERS)
def test_a_strip_has_the_level_of_each_number(values: np.ndarray) -> None:
    scale = thin_scale([values])
    strip = scale.strip(values)
    levels, far = np.zeros(len(values), int), np.zeros(len(values), bool)
    for level, runs in strip.paths:
        for x, y, n in runs:
            assert y == (ABOVE if level > 0 else BELOW) and not levels[x : x + n].any()
            levels[x : x + n] = level
    for x, _, n in strip.beyond:
        far[x : x + n] = True
    assert levels.tolist() == [scale.cell(value).level for value in values.tolist()]
    assert far.tolist() == [abs(value) > scale.limit for value in values.tolist()]


@given(NUMBERS)
def test_a_long_row_keeps_the_largest_of_each_run(values: np.ndarray) -> None:
    expected = values.tolist()
    if len(values) > CELLS:
        expected = [max(run.tolist(), key=abs) for run in np.array_split(values, CELLS)]
    assert fold(values).tolist() == expected
