"""Of many cases that say the same, those that run each time."""

from collections.abc import Container, Iterable
from typing import Any

import pytest


def sampled(cases: Iterable[Any], now: Container[Any], why: str) -> list[Any]:
    """The cases as parameters: those that are in `now` run in `make test`, the others in `make everything` alone. A
    tuple is a value for each name."""
    later = pytest.mark.thorough(why)
    return [
        case if case in now else pytest.param(*(case if type(case) is tuple else [case]), marks=later) for case in cases
    ]
