"""Faults of what runs the reader's program and judges it."""

from tests.faults.fault import Fault

WORKBENCH = [
    Fault(
        "tolerance-too-large", "workbench", "microgpt/workbench/trial.py",
        "TOLERANCE = 1e-9", "TOLERANCE = 1e-1",
        ("tests/workbench/test_examine.py::test_the_first_number_that_is_off_is_named",),
    ),
    Fault(
        "check-that-compares-nothing", "workbench", "microgpt/workbench/checks.py",
        "trial.expect(same, N_", "trial.expect(grown, N_",
        ("tests/workbench/test_examine.py::test_each_check_finds_what_it_is_for",),
    ),
    Fault(
        "report-not-restored", "workbench", "microgpt/workbench/reports.py",
        '"mlp_norm": ("m", "\'mlp_norm\'"), ', "",
        ("tests/workbench/test_recording.py::test_without_any_of_the_hooks_the_trace_is_the_same",),
    ),
    Fault(
        "clock-never-asked", "workbench", "microgpt/workbench/watch.py",
        "if process_time() > self.until:", "if process_time() < 0:",
        ("tests/workbench/test_yours.py::test_what_does_not_end_is_ended_with_its_line",),
    ),
    Fault(
        "last-finding-told", "workbench", "microgpt/workbench/trial.py",
        "self.first = self.first or Finding(UserError(sentence", "self.first = Finding(UserError(sentence",
        ("tests/workbench/test_examine.py",),
    ),
    Fault(
        "weights-lent-as-they-are", "workbench", "microgpt/workbench/watch.py",
        "array.copy() for name, array in model.params.items()", "array[...] for name, array in model.params.items()",
        ("tests/workbench/test_yours.py::test_whatever_a_program_does_ours_is_as_it_was",),
    ),
]  # fmt: skip
