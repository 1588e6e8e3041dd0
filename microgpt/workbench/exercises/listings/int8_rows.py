"""Rows in one byte per number

A row in whole numbers from -127 to 127, with one scale for the row, takes a quarter of float32. Write
`quantise`: of rows [t, d] it returns the codes, int8 of the same shape, and the scales, [t]. The number of a
row that is largest without its sign gets the code 127 or -127; every other number gets the nearest code.

Write `restore`, which makes rows of codes and scales again. A row of zeros must come back as zeros.
"""

import numpy as np

HINT = "The scale of a row is its largest number without sign, divided by 127. A scale of 0 would divide zeros by zero."


def quantise(rows):
    """The codes of the rows, int8 [t, d], and the scale of each row, [t]."""
    ### BEGIN SOLUTION
    scales = np.abs(rows).max(axis=1) / 127
    scales[scales == 0] = 1
    return np.rint(rows / scales[:, None]).astype(np.int8), scales
    ### END SOLUTION


def restore(codes, scales):
    """The rows, as far as the codes tell them."""
    ### BEGIN SOLUTION
    return codes * scales[:, None]
    ### END SOLUTION


# ---- the tests ------------------------------------------------------------------------------------


def some_rows():
    rows = np.sin(np.arange(40) ** 2).reshape(5, 8)
    return rows * np.array([1, 50, 0.01, 3, 1])[:, None]


def test_one_byte():
    """A code takes one byte."""
    kind = np.asarray(quantise(some_rows())[0]).dtype
    assert kind == np.int8, f"The codes are of the type {kind}; it should be int8."


def test_the_whole_range():
    """In every row the largest number has the largest code."""
    codes = np.abs(quantise(some_rows())[0].astype(int)).max(axis=1)
    for i, code in enumerate(codes):
        assert code == 127, f"The largest number of row {i} has the code {code}, without its sign; it should be 127."


def test_signs():
    """No number changes its sign."""
    codes, rows = quantise(some_rows())[0], some_rows()
    wrong = int((np.sign(codes) * np.sign(rows) < 0).sum())
    assert wrong == 0, f"{wrong} numbers have a code of the other sign: int8 ends at 127, and goes on at -128."


def test_the_nearest_code():
    """No number moves by more than half a step."""
    rows = some_rows()
    steps = np.abs(restore(*quantise(rows)) - rows) / (np.abs(rows).max(axis=1, keepdims=True) / 127)
    far = steps.max()
    assert far < 0.5001, f"A number has moved by {far:.2f} of a step; to the nearest code it is half a step at most."


def test_zeros():
    """A row of zeros comes back as zeros."""
    is_divided, found = False, [0]
    try:
        with np.errstate(all="raise"):
            found = np.asarray(restore(*quantise(np.zeros((1, 4)))))[0].tolist()
    except FloatingPointError:
        is_divided = True
    assert not is_divided, "A row of zeros was divided by its largest number, which is 0."
    assert found == [0, 0, 0, 0], f"A row of zeros comes back as {found}."
