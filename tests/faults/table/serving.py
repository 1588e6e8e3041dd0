"""Faults of many texts at once, and of guesses that are checked."""

from tests.faults.fault import Fault

SCHEDULER = "microgpt/serving/scheduler.py"

SERVING = [
    Fault(
        "who-comes-last-is-served-first", "serving", SCHEDULER,
        "self.waiting.append(request)", "self.waiting.appendleft(request)",
        ("tests/serving/test_scheduler.py",),
    ),
    Fault(
        "preemption-loses-a-token", "serving", SCHEDULER,
        "last.computed, last.preempted = 0, last.preempted + 1",
        "last.computed, last.written, last.preempted = 0, max(0, last.written - 1), last.preempted + 1",
        ("tests/serving/test_engine.py", "tests/serving/test_scheduler.py"),
    ),
    Fault(
        "budget-one-too-many-a-request", "serving", SCHEDULER,
        "budget -= n\n                turn += 1", "budget -= max(1, n - 1)\n                turn += 1",
        ("tests/serving/test_scheduler.py",),
    ),
    Fault(
        "acceptance-turned-round", "serving", "microgpt/serving/speculate.py",
        "min(1, a / b) if b else 1", "min(1, b / a) if a else 1",
        ("tests/serving/test_speculate.py",),
    ),
    Fault(
        "batch-runs-rows-of-the-first-text", "serving", "microgpt/model.py",
        "one.next_position, slice(end, end + count), end + count", "one.next_position, slice(0, count), end + count",
        ("tests/attention/test_batch.py",),
    ),
    Fault(
        "longest-prompt-fills-the-budget", "serving", "microgpt/serving/measured.py",
        "Policy(BUDGET + MOST_TEXTS, MOST_TEXTS, chunked=False)", "Policy(BUDGET, MOST_TEXTS, chunked=False)",
        ("tests/serving/test_measured.py",),
    ),
    Fault(
        "guesses-counted-that-nobody-judged", "serving", "microgpt/course/guess_and_check/lesson.py",
        "range(min(one.accepted + 1, len(one.drafted)))", "range(len(one.drafted))",
        ("tests/course/guess_and_check/test_lesson.py",),
    ),
]  # fmt: skip
