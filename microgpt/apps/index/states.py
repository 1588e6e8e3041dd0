"""What states.css is written with: runs that follow one another."""

from typing import Any

from microgpt.viz.drawing.phases import RUN


def states(big: bool) -> dict[str, Any]:
    """The numbers that states.css is written with."""
    return {"runs": RUN}
