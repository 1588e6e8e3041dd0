"""What pages say of time in words, on this machine: that it holds here, and by how far.

*In your code* says that reserving a cache is quicker than concatenating, and that most of what reserving takes is
calls, not writing. *With and without* says that a pass over many rows takes less time per row than a pass over one.
It runs in one thread, as in a browser.
"""

from __future__ import annotations

import json
from functools import partial

from bench.measure import Result, at_least, at_most, in_one_thread, interleave, ratios, seconds_of
from microgpt.course.in_your_code.growth import N_LONG, TIMED_LOOPS, seconds
from microgpt.course.with_and_without.race import LENGTHS, course_of
from microgpt.decode import recompute

REPEATS = 15
PROMPTS = {"names": "emm", "stories": "the"}  # how the longest text begins
Took = dict[str, list[float]]


def passes(model: str) -> Took:
    """Number of rows of a pass -> its seconds, round by round."""
    course = course_of({"page": "with-and-without", "model": model, "prompt": PROMPTS[model]}, LENGTHS[-1])
    runs = {n: partial(recompute, course.params, course.config, course.ids[:n]) for n in (1, *LENGTHS)}
    return interleave(REPEATS, {str(n): partial(seconds_of, run) for n, run in runs.items()})


def measure() -> list[Result]:
    """The ways of *In your code*, then a pass over as many rows as each race of each model has."""
    took: dict[str, Took] = in_one_thread("bench.said")
    copied, kept, calls = (took["grown"][way.name] for way in TIMED_LOOPS)
    rows = f"a cache of {N_LONG:,} rows"
    return [
        at_least(f"{rows}, concatenated", ratios(copied, kept), 10, "reserved"),
        at_most(f"{rows} of one number, reserved", ratios(calls, kept), 1.2, "reserved, with whole rows"),
        *(
            at_most(
                f"a row of a pass of `{model}` over {n} rows",
                ratios([seconds / n for seconds in took[model][str(n)]], took[model]["1"]), 0.8, "a pass over one row",
            )
            for model in PROMPTS
            for n in LENGTHS
        ),
    ]  # fmt: skip


if __name__ == "__main__":
    grown = interleave(REPEATS, {way.name: partial(seconds, way) for way in TIMED_LOOPS})
    print(json.dumps({"grown": grown} | {model: passes(model) for model in PROMPTS}))
