"""Each batch of cases in a process of its own, under a watchdog and a bound on memory: a case that hangs or kills its
process is a failure of that case, and the rest goes on."""

import os
import resource
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from importlib import import_module
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection
from threading import Thread
from traceback import format_exc

from tests.attack.part import Order, Part, Seen

PROCESSES = 2
START = 120  # seconds for a process to begin, on a machine that does much else


def part_of(name: str) -> Part:
    found: Part = import_module(f"tests.attack.parts.{name}").PART
    return found


def seen_of(name: str, cases: Sequence[str], order: Order, processes: int = PROCESSES) -> list[Seen]:
    """What came of all these cases of a part."""
    part = part_of(name)
    size = max(1, min(part.at_once, -(-len(cases) // processes)))
    batches = [cases[at : at + size] for at in range(0, len(cases), size)]
    pool = ThreadPoolExecutor(processes)  # a thread waits for a process
    going = [pool.submit(lambda batch: list(tried(name, batch, order)), batch) for batch in batches]
    return [seen for done in as_completed(going) for seen in done.result()]


def tried(name: str, cases: Sequence[str], order: Order) -> Iterator[Seen]:
    """These cases, in as many processes as they kill."""
    left = list(cases)
    while left:
        why = ""
        for seen in until_silent(name, left, order):
            if isinstance(seen, str):
                why = seen
                break
            left.remove(seen.name)
            yield seen
        if why:
            yield Seen(left.pop(0), why, "killed")
        assert why or not left, f"{name} says nothing of {left[:3]}"


def until_silent(name: str, cases: Sequence[str], order: Order) -> Iterator[Seen | str]:
    """What one process says, and at last why it said no more, if it was not done."""
    part, context = part_of(name), get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=child, args=(theirs, name, list(cases), order))
    process.start()
    theirs.close()
    try:
        if ours.poll(START):
            ours.recv()
        while ours.poll(part.patience):
            said: Seen | str | None = ours.recv()
            if said is None:
                return
            yield said
        yield f"nothing for {part.patience:.0f} s"
    except EOFError:
        process.join()
        yield f"the process died ({process.exitcode})"
    finally:
        with suppress(ProcessLookupError):  # it, and the browsers and builds that it has started
            os.killpg(process.pid or 0, signal.SIGKILL)
        process.join()


def child(pipe: Connection, name: str, cases: list[str], order: Order) -> None:
    os.setsid()
    Thread(target=end_with_parent, daemon=True).start()
    part = part_of(name)
    if part.memory:
        resource.setrlimit(resource.RLIMIT_AS, (part.memory, part.memory))
    pipe.send("here")
    try:
        for seen in part.attack(cases, order):
            pipe.send(seen)
        pipe.send(None)
    except BaseException:
        pipe.send(f"the attack itself broke: {format_exc(limit=-3)}")
    pipe.close()
    os._exit(0)  # no goodbyes: what was started is ended by whoever waits


def end_with_parent() -> None:
    """Nothing goes on when the attack is stopped: a session of its own hears no Ctrl-C."""
    if parent := parent_process():
        parent.join()
        os.killpg(0, signal.SIGKILL)
