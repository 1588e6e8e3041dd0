"""What has got worse is said, by the direction of the goal; what lies within the noise is not."""

import pytest

from bench.measure import Result
from bench.table import page, section, values_in, worse


@pytest.mark.parametrize(
    ("goal", "then", "now", "said"),
    [
        ("at most 1.30", "1.22 (1.21 to 1.23)", "1.25 (1.24 to 1.26)", True),
        ("at most 1.30", "1.22 (1.21 to 1.23)", "1.24 (1.22 to 1.26)", False),
        ("at most 1.30", "1.22 (1.21 to 1.23)", "1.02 (1.01 to 1.03)", False),
        ("at least 200", "108 (106 to 110)", "100 (99 to 101)", True),
        ("at least 200", "108 (106 to 110)", "120 (119 to 121)", False),
        ("at least 1,200", "1,108 (1,106 to 1,110)", "1,000 (999 to 1,001)", True),
        ("at most 4.0", "3.81", "4.10", True),
        ("at most 4.0", "3.81", "3.90", False),
        ("under 100", "gzip 19.7", "gzip 99", False),
        ("", "3.81", "9", False),
        ("at most 4.0", "not measured: no file", "4.10", False),
        ("at most 4.0", "3.81", "not measured", False),
    ],
)
def test_what_is_worse_by_more_than_its_noise_is_said(goal: str, then: str, now: str, said: bool) -> None:
    before = section("Speed", [Result("a step", then, "a frame", goal), Result("a step", "0.1", "another", goal)])
    found = worse(values_in(before), [Result("a step", now, "a frame", goal)])
    assert bool(found) == said
    assert not found or (then in found[0] and now in found[0])


def test_a_line_that_was_not_there_is_not_worse() -> None:
    assert worse(values_in(section("Speed", [])), [Result("a step", "9", "", "at most 1")]) == []


def test_what_is_not_measured_again_stays_as_it_stood() -> None:
    titles = ["Speed", "Size", "Memory"]
    first = page("", {title: [Result(f"a {title}", "1", "", "at most 2")] for title in titles[:2]}, titles)
    then = page(first, {"Size": [Result("a Size", "3", "", "at most 2")], "Memory": []}, titles)
    assert values_in(then) == {"what" + "against": "result", "a Speed": "1", "a Size": "3"}
    assert [line for line in then.splitlines() if line.startswith("## ")] == [f"## {title}" for title in titles]
    assert page(then, {}, titles) == then
    assert page(f"{then}\n## By hand\n\nOnce.\n", {}, titles) == f"{then}\n## By hand\n\nOnce.\n"
