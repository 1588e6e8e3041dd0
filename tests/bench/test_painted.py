"""What the trace of a click is read as, on a trace that is written by hand."""

from typing import Any

from bench.browser.painted import Painted, paintings


def event(name: str, ms: float, ph: str = "X", cat: str = "cc", **more: Any) -> dict[str, Any]:
    return {"name": name, "ts": 1000 * ms, "ph": ph, "cat": cat, "pid": 1, "args": {}, **more}


def click(ms: float) -> dict[str, Any]:
    return event("EventDispatch", ms, args={"data": {"type": "click"}})


def frame(key: str, committed: float, rastered: float, drawn: float) -> list[dict[str, Any]]:
    """As cc tells of it: under a key that an earlier frame has had too."""
    presented = "SubmitCompositorFrameToPresentationCompositorFrame"
    stages = [
        ("PipelineReporter", committed - 4, "b"),
        ("Commit", committed, "e"),
        ("EndCommitToActivation", rastered, "e"),
        (presented, drawn, "e"),
        ("PipelineReporter", drawn, "e"),
    ]
    return [event(name, ms, ph, "cc,benchmark", id2={"local": key}) for name, ms, ph in stages]


FIRST = [click(100), click(100.1), event("ProxyMain::BeginMainFrame", 101), *frame("a", 110, 113, 117)]


def test_without_python_the_first_frame_after_the_click_counts() -> None:
    events = [*frame("a", 90, 95, 99), *FIRST, *frame("b", 120, 121, 122)]
    assert paintings(events, answered=False) == [Painted(0, 10, 3, 4)]
    assert paintings(events, answered=False)[0].total == 17


def test_with_python_it_is_the_first_frame_that_begins_when_the_answer_stands() -> None:
    """Not one that shows only that something is being computed; what comes after the answer is another one's."""
    marks = [event("boot-working", 100.5, cat="blink.user_timing"), event("boot-working", 130, cat="blink.user_timing"),
             event("boot-ready", 150, cat="blink.user_timing")]  # fmt: skip
    answer = [event("ProxyMain::BeginMainFrame", 131), *frame("a", 140, 145, 147)]
    after = [event("ProxyMain::BeginMainFrame", 151), *frame("a", 155, 156, 157)]
    assert paintings([*FIRST, *marks, *answer, *after], answered=True) == [Painted(30, 10, 5, 2)]


def test_a_click_that_nothing_comes_of_is_left_out() -> None:
    assert paintings([click(100)], answered=False) == []
    assert paintings(FIRST, answered=True) == []
