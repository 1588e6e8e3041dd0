"""The table of faults fits the tree: each text stands once in its file, and the tests that are named are there."""

import re
from collections import Counter
from pathlib import Path

import pytest

from tests.faults.__main__ import README, ROOT, ROW, table
from tests.faults.fault import KINDS, Fault, Misfit
from tests.faults.table import FAULTS


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_fits_its_file_and_names_tests_that_are_there(fault: Fault) -> None:
    assert fault.misfit((ROOT / fault.path).read_text("utf-8")) == ""
    assert fault.new != fault.old and fault.kind in KINDS and fault.caught_by
    for named in fault.caught_by:
        path, _, test = named.partition("::")
        assert (ROOT / path).exists(), named
        name = re.match(r"\w*", test)
        assert not test or f"def {name[0] if name else ''}(" in (ROOT / path).read_text("utf-8"), named


def test_there_are_sixty_of_all_kinds() -> None:
    assert len(FAULTS) >= 60 and len({fault.name for fault in FAULTS}) == len(FAULTS)
    counts = Counter(fault.kind for fault in FAULTS)
    assert counts.keys() == {*KINDS} and min(counts.values()) >= 3


def test_a_fault_is_planted_and_taken_out_again(tmp_path: Path) -> None:
    fault = Fault("off-by-one", "maths", "a.py", "n - 1", "n", ("a_test.py",))
    place = tmp_path / "a.py"
    with pytest.raises(Misfit, match="0 times"), fault.planted(tmp_path):
        pass
    place.write_text("last = n - 1\n")
    before = place.stat().st_mtime_ns
    with fault.planted(tmp_path):
        assert place.read_text() == "last = n\n"
    assert place.read_text() == "last = n - 1\n" and place.stat().st_mtime_ns == before
    place.write_text("n - 1, n - 1")
    with pytest.raises(Misfit, match="2 times"), fault.planted(tmp_path):
        pass


def test_the_record_has_each_fault_once_in_the_order_of_the_table() -> None:
    text = README.read_text("utf-8")
    assert ROW.findall(text) == [fault.name for fault in FAULTS]
    assert table([], text) == text
