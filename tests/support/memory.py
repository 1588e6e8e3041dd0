"""How much memory something may take: a bound on what it may ask for, where the system holds one; else it is traced.
And what is wrong with how a hostile file is refused."""

import platform
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from microgpt.errors import UserError


@contextmanager
def at_most(more: int) -> Iterator[None]:
    """A MemoryError, or an AssertionError, for whoever takes `more` bytes besides what the process has.

    Linux refuses the memory itself, which costs nothing; what the process has freed and not given back may be used
    besides. Tracing makes what allocates much three times as slow.
    """
    if platform.system() == "Linux":
        import resource

        has = int(Path("/proc/self/statm").read_text().split()[5]) * resource.getpagesize()
        before = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (has + more, before[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_DATA, before)
        return
    tracemalloc.start()
    try:
        yield
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < more, peak


def amiss(read: Callable[[], object], says: str, seconds: float, memory: int, ends: tuple[str, ...] = (".",)) -> str:
    """What is wrong with how it is refused, or nothing: by one printable sentence that says this, soon, and in little
    memory."""
    begin = time.process_time()
    try:
        with at_most(memory):
            read()
    except UserError as error:
        said, took = str(error), time.process_time() - begin
    except Exception as error:
        return repr(error)[:200]
    else:
        return "it is taken"
    if "has no room" in said:  # which is what the page says of a MemoryError
        return said
    right = says in said and said.endswith(ends) and said.isprintable() and len(said) < 700
    return f"{took} seconds" if took >= seconds else "" if right else said[:700]
