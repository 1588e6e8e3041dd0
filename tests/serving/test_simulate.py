"""Simulated servers: nothing is lost, the clock is the data sheet's, and policies differ as they must."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microgpt.architectures.known import PRESETS
from microgpt.errors import UserError
from microgpt.serving.hardware import PROCESSORS, bound, decoding, prefilling
from microgpt.serving.scheduler import Blocks, Policy, Request, Reserved
from microgpt.serving.simulate import GroupBlocks, Seen, by_prefix, in_turns, requests, simulate
from tests.support.examples import examples

LLAMA, H100 = PRESETS["Llama-3-8B"], PROCESSORS["H100"]
ROWS = (int(0.9 * H100.memory) - LLAMA.weight_bytes()) // LLAMA.bytes_per_token()


def run(n: int, rate: float, policy: Policy, memory: type[Blocks] = Blocks) -> Seen:
    size = 8192 if memory is Reserved else 16
    kept = Reserved(ROWS, size) if memory is Reserved else memory(ROWS // size, size)
    return simulate(requests(n, rate), LLAMA, H100, policy, lambda: kept)


def test_one_request_alone_takes_what_its_passes_take() -> None:
    found = simulate([Request("a", 1000, 3)], LLAMA, H100, Policy(), lambda: Blocks(200))
    passes = [prefilling(1000), decoding(1, 1001), decoding(1, 1002)]
    seconds = [bound(LLAMA, one).seconds(H100) for one in passes]
    assert found.first == pytest.approx((seconds[0],) * 2)
    assert found.between == pytest.approx((seconds[1],) * 2, rel=1e-4)
    assert (found.seconds, found.busy) == pytest.approx((sum(seconds), 1.0)) and found.tokens == 3


def test_the_same_seed_gives_the_same_run_and_another_seed_another() -> None:
    assert run(200, 40, Policy()) == run(200, 40, Policy())
    assert [r.arrival for r in requests(5, 1, seed=0)] != [r.arrival for r in requests(5, 1, seed=1)]


def test_policies_under_load() -> None:
    """A static batch lets requests wait for seconds, and so does memory that is reserved; a smaller budget keeps the
    tokens of others coming while a prompt is read."""
    asked = 600
    answers = sum(request.answer for request in requests(asked, 60))
    static = run(asked, 60, Policy(8192, 256, static=True))
    reserved = run(asked, 60, Policy(8192, 256), Reserved)
    large, small = run(asked, 60, Policy(8192, 256)), run(asked, 60, Policy(512, 256))
    assert {one.tokens for one in (static, reserved, large, small)} == {answers}
    assert static.first[0] > 100 * large.first[0] and reserved.first[0] > 50 * large.first[0]
    assert small.between[1] < large.between[1] / 2 and small.first[0] > large.first[0]
    assert reserved.empty > 0.9 and large.empty < 0.02
    assert large.arithmetic > 1.5 * static.arithmetic


def test_requests_that_begin_alike_run_sooner_where_their_rows_are() -> None:
    drawn = [replace(request) for request in requests(800, 500, groups=32, shared=2000)]
    found = []
    for memory, routing in ((Blocks, in_turns), (GroupBlocks, in_turns), (GroupBlocks, by_prefix)):
        fresh = [replace(request) for request in drawn]
        found.append(simulate(fresh, LLAMA, H100, Policy(2048), lambda m=memory: m(ROWS // 16), 16, routing))  # type: ignore[misc]
    none, turns, prefix = found
    assert none.tokens == turns.tokens == prefix.tokens
    assert prefix.first[0] < turns.first[0] < none.first[0]
    assert prefix.arithmetic < turns.arithmetic < none.arithmetic


@given(
    st.integers(0, 99), st.sampled_from([0, 1, 3]), st.integers(0, 40), st.integers(6, 20), st.sampled_from([1, 4, 16])
)
@settings(max_examples=examples(40), deadline=None)
def test_no_block_is_lost_or_doubled(seed: int, groups: int, shared: int, spare: int, size: int) -> None:
    drawn = requests(12, 1000, seed, groups, shared, n_ctx=100)
    memory = GroupBlocks(-(-100 // size) + spare // size, size)
    simulate(drawn, LLAMA, H100, Policy(32, 6), lambda: memory)
    assert all(request.written == request.answer for request in drawn)
    assert memory.n_free + sum(memory.kept.values()) == memory.n_blocks
    assert not any(memory.users.values())


@pytest.mark.parametrize(("n", "rate"), [(0, 1.0), (5, 0.0), (5, -2.0)])
def test_nothing_to_simulate_is_refused(n: int, rate: float) -> None:
    with pytest.raises(UserError, match=f"{n} requests at {rate} a second are nothing to simulate"):
        requests(n, rate)
