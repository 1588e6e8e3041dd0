"""A little of the attack in each engine, as it runs by itself: `make attack` does all of it."""

from pathlib import Path

import pytest

from tests.attack.guard import part_of, seen_of
from tests.attack.part import Order


def test_a_file_that_is_cut_short_is_said_and_a_slow_one_is_waited_for(engine: str, site: Path, tmp_path: Path) -> None:
    (tmp_path / "site").symlink_to(site)
    cases = [f"{engine}: pyodide.asm.wasm: truncated", f"{engine}: first.wasm: slow"]
    seen = seen_of("loader", cases, Order(0, tmp_path), processes=1)
    assert {one.name: one.wrong for one in seen} == dict.fromkeys(cases, "")


@pytest.mark.thorough("test_faults.py lets Python end in the same ways")
@pytest.mark.parametrize("engine", ["chromium"], indirect=True)
def test_python_that_ends_is_replaced_and_goes_on_from_the_same_state(engine: str, tmp_path: Path) -> None:
    order, cases = Order(0, tmp_path), [f"{engine}: aborts"]
    part_of("running").prepare(order)
    seen = seen_of("running", cases, order, processes=1)
    assert {one.name: one.wrong for one in seen} == dict.fromkeys(cases, "")
