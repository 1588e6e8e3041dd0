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
        ("tests/workbench/test_recording.py::test_a_variable_of_another_name_is_known_by_its_value",),
    ),
    Fault(
        "clock-ten-times-too-late", "workbench", "microgpt/workbench/watch.py",
        "self.until = process_time() + seconds", "self.until = process_time() + 10 * seconds",
        ("tests/workbench/test_yours.py::test_what_does_not_end_is_ended_with_its_line",),
    ),
    Fault(
        "last-finding-told", "workbench", "microgpt/workbench/trial.py",
        "self.first = self.first or Finding(UserError(sentence", "self.first = Finding(UserError(sentence",
        ("tests/workbench/test_examine.py::test_what_was_found_first_is_told_with_its_place",),
    ),
    Fault(
        "weights-lent-as-they-are", "workbench", "microgpt/workbench/watch.py",
        "array.copy() for name, array in model.params.items()", "array[...] for name, array in model.params.items()",
        ("tests/workbench/test_yours.py::test_whatever_a_program_does_ours_is_as_it_was",),
    ),
    Fault(
        "line-of-a-hook-one-too-early", "workbench", "microgpt/workbench/hooks.py",
        "first.start() if first else 0) + 1)", "first.start() if first else 0))",
        ("tests/workbench/test_hooks.py::test_a_hook_that_is_wrong_is_one_sentence_at_its_line_and_changes_nothing",),
    ),
    Fault(
        "exercise-solved-by-its-first-test", "workbench", "microgpt/workbench/exercises/grading.py",
        "(one for one in self.found.values() if one)", "(one for one in self.found.values())",
        ("tests/workbench/exercises/test_exercises.py::test_what_students_write_is_told_apart",),
    ),
]  # fmt: skip
