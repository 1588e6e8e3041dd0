"""What states.css is written with: policies, units of time, and the length of a pass."""

from typing import Any

from microgpt.course.many_at_once.timeline import MOST_LENGTH, MOST_UNITS

POLICIES = 4


def states(big: bool) -> dict[str, Any]:
    """The numbers that states.css is written with."""
    return {"policies": POLICIES, "units": MOST_UNITS, "length": MOST_LENGTH}
