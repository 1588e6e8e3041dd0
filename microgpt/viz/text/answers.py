"""Answers to choose from: each number by the way that leads to it, the right one or a mistake."""

from __future__ import annotations

from typing import Any, TypeVar

RIGHT = "right"
T = TypeVar("T")


def answers(right: T, **mistakes: T) -> dict[str, T]:
    """way -> what comes out, the smallest first. A mistake that comes to what another way has come to is left out."""
    ways: dict[Any, str] = {right: RIGHT}
    for way, found in mistakes.items():
        ways.setdefault(found, way)
    return {ways[found]: found for found in sorted(ways)}
