"""Whatever is in a file that someone made: one sentence, soon, and in little memory. The table is in hostile.py."""

from __future__ import annotations

import time
import tracemalloc
from pathlib import Path

import pytest

from microgpt.errors import UserError
from tests.support.hostile import CASES, READERS, WHOLE, Case, laid, many

MEMORY = 150_000_000  # bytes
SECONDS = 5.0  # of work: one on a quiet machine is enough for the slowest
EACH = [(case, reader) for case in CASES for reader in case.readers]


@pytest.mark.parametrize(("case", "reader"), EACH, ids=[f"{case.name}-{reader}" for case, reader in EACH])
def test_a_hostile_file_is_one_sentence_soon_and_in_little_memory(case: Case, reader: str, tmp_path: Path) -> None:
    files = laid(case)
    tracemalloc.start()
    begin = time.process_time()
    try:
        with pytest.raises(UserError) as caught:
            READERS[reader](files, tmp_path)
        seconds, peak = time.process_time() - begin, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    said = str(caught.value)
    assert case.says in said and said.endswith((".", "lesson.")) and said.isprintable() and len(said) < 700, said
    assert peak < MEMORY, peak
    assert seconds < SECONDS, seconds


@pytest.mark.parametrize("name", ["%06d", "h.%d.ln_1.weight", "model.layers.0.mlp.experts.%d.up_proj.weight"])
def test_the_most_tensors_that_are_read_are_shown_soon(name: str, tmp_path: Path) -> None:
    files = {WHOLE: many(20_000, 1, name)()}
    begin = time.process_time()
    assert READERS["look-inside"](files, tmp_path)
    assert len(READERS["weights"](files, tmp_path)) == 20_000  # type: ignore[arg-type]
    assert time.process_time() - begin < SECONDS
