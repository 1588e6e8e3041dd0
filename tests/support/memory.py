"""How much memory something may take: a bound on what it may ask for, where the system holds one; else it is traced."""

import platform
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


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
