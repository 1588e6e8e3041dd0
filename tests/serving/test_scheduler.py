"""What a step runs: worked examples, and laws over random requests, budgets and memories."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from microgpt.config import Report
from microgpt.errors import UserError
from microgpt.serving.scheduler import Blocks, Chunk, Policy, Request, Reserved, Scheduler

SIX = tuple(zip("ABCDEF", (7, 3, 6, 3, 7, 7), (6, 9, 9, 12, 5, 7), (0, 0, 0, 0, 4, 4), strict=True))
TOKENS = 75  # of all six: each token but the last of an answer is run once


def plans_of(scheduler: Scheduler, requests: Sequence[Request]) -> Iterator[list[Chunk]]:
    """What each step runs, before it is done, until all have ended; each request comes at the step of its arrival."""
    coming = sorted(requests, key=lambda request: request.arrival)
    while coming or scheduler.waiting or scheduler.running:
        while coming and coming[0].arrival <= scheduler.steps:
            scheduler.add(coming.pop(0))
        plan = scheduler.schedule()
        yield plan
        scheduler.finish_step(plan)


def steps_of(policy: Policy) -> list[list[Chunk]]:
    return list(plans_of(Scheduler(policy, Blocks(100)), [Request(*one) for one in SIX]))


def test_the_first_steps_of_six_requests() -> None:
    plans = steps_of(Policy(8, 4))
    said = [" ".join(f"{request.name}{n}" for request, n in plan) for plan in plans]
    assert said[:3] == ["A7 B1", "A1 B2 C5", "A1 B1 C1 D3"]
    assert all(sum(n for _, n in plan) <= 8 for plan in plans)


@pytest.mark.parametrize(
    ("policy", "steps"),
    [(Policy(8, 4), 18), (Policy(3, 4), 29), (Policy(16, 4, chunked=False), 16), (Policy(16, 4, static=True), 19)],
)
def test_how_many_steps_a_policy_takes(policy: Policy, steps: int) -> None:
    plans = steps_of(policy)
    assert len(plans) == steps
    assert sum(n for plan in plans for _, n in plan) == TOKENS


@pytest.mark.parametrize(("budget", "first", "worst"), [(4, 56, 4), (8, 32, 8), (12, 29, 12), (24, 23, 23)])
def test_a_long_prompt_stalls_others_unless_it_is_cut(budget: int, first: int, worst: int) -> None:
    """Three texts decode when a prompt of 20 comes, and a pass of m tokens takes max(4, m): large budgets bring its
    own first token sooner, small ones keep the others' tokens coming."""
    scheduler, times, clock = Scheduler(Policy(budget, 8), Blocks(100)), dict[str, list[int]](), 0
    for name in "abc":
        scheduler.add(Request(name, 1, 13))
    clock += len(scheduler.schedule()) and 4
    scheduler.finish_step([Chunk(request, 1) for request in scheduler.running])
    scheduler.add(Request("long", 20, 1))
    start = clock
    while scheduler.running or scheduler.waiting:
        plan = scheduler.schedule()
        clock += max(4, sum(n for _, n in plan))
        for request in scheduler.finish_step(plan):
            times.setdefault(request.name, [start]).append(clock)
    assert times["long"][1] - start == first
    assert max(b - a for name in "abc" for a, b in pairwise(times[name])) == worst


REQUESTS = st.lists(st.tuples(st.integers(1, 12), st.integers(1, 12), st.integers(0, 9)), min_size=1, max_size=8)


@given(REQUESTS, st.integers(1, 16), st.integers(1, 5), st.integers(12, 40), st.sampled_from([1, 2, 4]), st.booleans())
def test_laws_of_every_step(
    drawn: list[tuple[int, int, int]], budget: int, places: int, rows: int, size: int, static: bool
) -> None:
    """Everything ends; budget, places and memory are kept to; what is not preempted runs each token once, in order."""
    requests = [Request(str(i), *one) for i, one in enumerate(drawn)]
    memory, ran, told = Blocks(rows * 2 // size, size), Counter[Request](), list[Report]()
    scheduler = Scheduler(Policy(budget, places, static=static), memory, lambda number: told.append)
    for plan in plans_of(scheduler, requests):
        assert plan or not (scheduler.running or scheduler.waiting), "with work at hand, each step runs some"
        assert static or sum(n for _, n in plan) <= budget
        assert len(plan) <= len(scheduler.running) <= places
        assert len({id(request) for request, _ in plan}) == len(plan)
        held = sum(-(-(r.computed + dict(plan).get(r, 0)) // size) for r in scheduler.running)
        assert memory.n_blocks - memory.n_free == held
        for request, n in plan:
            assert 1 <= n <= request.n_waiting
            ran[request] += n
    assert all(request.written == request.answer for request in requests)
    assert memory.n_free == memory.n_blocks
    again = Counter(name for name, *_ in told)["preempt"]
    assert again == scheduler.preemptions == sum(request.preempted for request in requests)
    for request in requests:
        alone = request.prompt + request.answer - 1
        assert ran[request] == alone if not request.preempted else ran[request] > alone - 1
    assert sum(value for name, value, *_ in told if name == "schedule") == sum(ran.values())


def test_the_one_that_came_last_is_preempted_and_comes_back_first() -> None:
    memory = Blocks(4, 2)
    scheduler = Scheduler(Policy(8, 4), memory)
    first, last, later = Request("first", 4, 4), Request("last", 4, 4), Request("later", 1, 1)
    for request in (first, last):
        scheduler.add(request)
    scheduler.finish_step(scheduler.schedule())
    scheduler.add(later)
    scheduler.policy = Policy(2, 4)  # there would be budget and memory to take it in again at once, for one token
    plan = scheduler.schedule()
    assert [(request.name, n) for request, n in plan] == [("first", 1)]
    assert [request.name for request in scheduler.waiting] == ["last", "later"]
    assert (last.computed, last.n_waiting, last.preempted) == (0, 5, 1)  # its written token stays written


def test_who_reserves_runs_fewer_at_a_time() -> None:
    """64 rows: reserving 16 for each text runs 4 at a time, blocks of 4 run all 8 texts of 8 rows."""
    most = {}
    for memory in (Reserved(64, 16), Blocks(16, 4)):
        scheduler = Scheduler(Policy(64, 8), memory)
        for name in "abcdefgh":
            scheduler.add(Request(name, 5, 4))
        most[type(memory)] = len(scheduler.schedule())
    assert most == {Reserved: 4, Blocks: 8}


def test_what_could_never_run_is_refused() -> None:
    for value in (0, -3):
        with pytest.raises(UserError, match=f"A scheduler with budget {value} never runs anything; choose 1 or more"):
            Policy(budget=value)
        with pytest.raises(UserError, match=f"A scheduler with places {value} never runs anything; choose 1 or more"):
            Policy(places=value)
    scheduler = Scheduler(Policy(8, 4, chunked=False), Blocks(2, 4))
    with pytest.raises(UserError, match="Request a needs 9 rows and the whole memory holds 8"):
        scheduler.add(Request("a", 5, 5))
    with pytest.raises(UserError, match="Request b has 0 tokens and asks for 5"):
        scheduler.add(Request("b", 0, 5))
    scheduler.add(Request("c", 4, 5))
    with pytest.raises(UserError, match="Request d may need a pass of 8 tokens and the budget is 7"):
        Scheduler(Policy(7, 4, chunked=False), Blocks(2, 4)).add(Request("d", 4, 5))
    assert [request.name for request in scheduler.waiting] == ["c"]
