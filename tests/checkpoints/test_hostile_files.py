"""Whatever is in a file that someone made: one sentence, soon, and in little memory. The table is in hostile.py."""

from __future__ import annotations

import time
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache
from multiprocessing import get_context
from pathlib import Path

import pytest

from microgpt.errors import UserError
from tests.support.hostile import CASES, READERS, WHOLE, laid, many
from tests.support.memory import at_most

MEMORY = 150_000_000  # bytes
SECONDS = 5.0  # of work: one on a quiet machine is enough for the slowest
EACH = [(at, reader) for at, case in enumerate(CASES) for reader in case.readers]


@lru_cache(1)
def files_of(at: int) -> dict[str, bytes]:
    """The files of a case, for one reader after the other."""
    return laid(CASES[at])


@pytest.mark.parametrize(("at", "reader"), EACH, ids=[f"{CASES[at].name}-{reader}" for at, reader in EACH])
def test_a_hostile_file_is_one_sentence_soon_and_in_little_memory(at: int, reader: str, tmp_path: Path) -> None:
    case, files = CASES[at], files_of(at)
    begin = time.process_time()
    with at_most(MEMORY), pytest.raises(UserError) as caught:
        READERS[reader](files, tmp_path)
    seconds = time.process_time() - begin
    said = str(caught.value)
    assert case.says in said and said.endswith((".", "lesson.")) and said.isprintable() and len(said) < 700, said
    assert "has no room" not in said, said  # which is what the page says of a MemoryError
    assert seconds < SECONDS, seconds


def test_more_memory_than_that_would_be_noticed() -> None:
    """In a process of its own: here what earlier tests have freed may be taken besides."""
    with ProcessPoolExecutor(1, get_context("spawn")) as fresh:
        assert fresh.submit(take, MEMORY // 2).result()
        with pytest.raises((MemoryError, AssertionError)):
            fresh.submit(take, 2 * MEMORY).result()


def take(size: int) -> bool:
    with at_most(MEMORY):
        return bool(bytes(size))


@pytest.mark.parametrize("name", ["%06d", "h.%d.ln_1.weight", "model.layers.0.mlp.experts.%d.up_proj.weight"])
def test_the_most_tensors_that_are_read_are_shown_soon(name: str, tmp_path: Path) -> None:
    files = {WHOLE: many(20_000, 1, name)()}
    begin = time.process_time()
    assert READERS["look-inside"](files, tmp_path)
    assert len(READERS["weights"](files, tmp_path)) == 20_000  # type: ignore[arg-type]
    assert time.process_time() - begin < SECONDS
