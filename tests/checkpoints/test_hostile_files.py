"""Whatever is in a file that someone made: one sentence, soon, and in little memory. The table is in hostile.py."""

import os
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.support.hostile import READERS, TABLES, WHOLE, laid, many
from tests.support.memory import amiss, at_most

NAMES = ["%06d", "h.%d.ln_1.weight", "model.layers.0.mlp.experts.%d.up_proj.weight"]
MEMORY = 150_000_000  # bytes
BY_NIGHT = ("header: 140,000 empty tensors", "header: empty tensors without their fields")  # 80,000 tensors are by day
SECONDS = 5.0  # of work: one on a quiet machine is enough for the slowest


@pytest.mark.slow("each file by each reader")
@pytest.mark.timeout(300)  # a hundred readings and more
@pytest.mark.parametrize("table", TABLES)
def test_a_hostile_file_is_one_sentence_soon_and_in_little_memory(table: str, tmp_path: Path) -> None:
    found, each = [], 1 if os.environ.get("EVERYTHING") else 5  # by day one of the readers, in turn
    for at, case in enumerate(one for one in TABLES[table] if each == 1 or one.name not in BY_NIGHT):
        files = laid(case)
        for reader in case.readers[at % each :: each] or case.readers[:1]:
            with TemporaryDirectory(dir=tmp_path) as folder:
                read = partial(READERS[reader], files, Path(folder))
                found.append((case.name, reader, amiss(read, case.says, SECONDS, MEMORY, (".", "lesson."))))
    assert [one for one in found if one[-1]] == [] and len(found) > 10


def test_more_memory_than_that_would_be_noticed() -> None:
    """In a process of its own: here what earlier tests have freed may be taken besides."""
    with ProcessPoolExecutor(1, get_context("spawn")) as fresh:
        assert fresh.submit(take, MEMORY // 2).result()
        with pytest.raises((MemoryError, AssertionError)):
            fresh.submit(take, 2 * MEMORY).result()


def take(size: int) -> bool:
    with at_most(MEMORY):
        return bool(bytes(size))


@pytest.mark.thorough("by day the same headers are refused or read in the table above")
@pytest.mark.parametrize("name", NAMES)
def test_the_most_tensors_that_are_read_are_shown_soon(name: str, tmp_path: Path) -> None:
    files = {WHOLE: many(20_000, 1, name)()}
    begin = time.process_time()
    assert READERS["look-inside"](files, tmp_path)
    assert len(READERS["weights"](files, tmp_path)) == 20_000  # type: ignore[arg-type]
    assert time.process_time() - begin < SECONDS
