"""Simulated servers: nothing is lost, the clock is the data sheet's, and policies differ as they must."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microgpt.architectures.known import PRESETS
from microgpt.errors import UserError
from microgpt.serving.hardware import PROCESSORS, Processor, decoding, lower_bound, prefilling
from microgpt.serving.scheduler import Blocks, Policy, Request, Reserved
from microgpt.serving.simulate import GroupBlocks, RunSummary, by_prefix, in_turns, percentiles, requests, simulate
from tests.support.examples import examples
from tests.support.sampled import sampled

LLAMA, H100 = PRESETS["Llama-3-8B"], PROCESSORS["H100"]
ROWS = (int(0.9 * H100.memory) - LLAMA.weight_bytes()) // LLAMA.bytes_per_token()


def run(n: int, rate: float, policy: Policy, memory: type[Blocks] = Blocks) -> RunSummary:
    size = 8192 if memory is Reserved else 16
    kept = Reserved(ROWS, size) if memory is Reserved else memory(ROWS // size, size)
    return simulate(requests(n, rate), LLAMA, H100, policy, lambda: kept)


def test_one_request_alone_takes_what_its_passes_take() -> None:
    found = simulate([Request("a", 1000, 3)], LLAMA, H100, Policy(), lambda: Blocks(200))
    passes = [prefilling(1000), decoding(1, 1001), decoding(1, 1002)]
    seconds = [lower_bound(LLAMA, one).seconds(H100) for one in passes]
    assert found.first == pytest.approx((seconds[0],) * 2)
    assert found.between == pytest.approx((seconds[1],) * 2, rel=1e-4)
    assert (found.seconds, found.busy) == pytest.approx((sum(seconds), 1.0)) and found.tokens == 3


def test_the_same_seed_gives_the_same_run_and_another_seed_another() -> None:
    assert run(200, 40, Policy()) == run(200, 40, Policy())
    assert [r.arrival for r in requests(5, 1, seed=0)] != [r.arrival for r in requests(5, 1, seed=1)]


def by_hand(drawn: list[Request], processor: Processor, budget: int = 10**9) -> tuple[list[float], list[float]]:
    """First waits and gaps with room for all, by a loop of its own. Each pass has a token for each that writes and then
    prompts in their order, whole or as far as the budget goes. What a pass takes is worked out from the model's sizes.
    """
    head, row = 128_256 * 4096, 2 * 32 * 8 * 128 * 2  # bytes of a row
    layers = 32 * 4096 * (2 * 4096 + 2 * 1024 + 3 * 14_336) + 66 * 4096  # with norms, and one row of the embedding
    clock, coming, texts = 0.0, list(drawn), list[dict[str, float]]()
    firsts, gaps = list[float](), list[float]()
    while coming or texts:
        clock = max(clock, coming[0].arrival) if not texts else clock
        while coming and coming[0].arrival <= clock:
            one = coming.pop(0)
            texts.append({"came": one.arrival, "rows": 0, "known": one.prompt, "left": one.answer})
        free, work, read = float(budget), 0.0, 2.0 * (head + layers)
        for text in texts:
            n = text["new"] = min(text["known"] - text["rows"], free)
            free -= n
            mean = text["rows"] + (n + 1) / 2  # keys that a query meets
            text["rows"] += n
            read += row * text["rows"] if n else 0
            work += n * (2 * layers + 4 * 32 * 4096 * mean) + 2 * head * (n > 0 and text["rows"] == text["known"])
        clock += max(work / processor.operations, read / processor.bandwidth)
        for text in texts:
            if text["new"] and text["rows"] == text["known"]:
                (gaps if "wrote" in text else firsts).append(clock - text.get("wrote", text["came"]))
                text |= {"wrote": clock, "known": text["known"] + 1, "left": text["left"] - 1}
        texts = [text for text in texts if text["left"]]
    return firsts, gaps


CARDS = [("H100", 80, 0), ("A100", 25, 1)]


@pytest.mark.parametrize(("name", "rate", "seed"), sampled(CARDS, CARDS[1:], "the same on another card"))
def test_what_chunks_buy_is_found_by_other_means_and_on_another_card(name: str, rate: int, seed: int) -> None:
    """A steady gap, and no first token that comes sooner; whole prompts and chunks have the same places and memory."""
    seen = {}
    for budget, chunked in ((512, True), (2048, True), (16_384, False)):
        policy, memory = Policy(budget, 1024, chunked), Blocks(10**6)
        seen[budget] = simulate(requests(400, rate, seed), LLAMA, PROCESSORS[name], policy, lambda kept=memory: kept)  # type: ignore[misc]
        firsts, gaps = by_hand(requests(400, rate, seed), PROCESSORS[name], budget)
        assert seen[budget].first == pytest.approx(percentiles(firsts), rel=1e-9)
        assert seen[budget].between == pytest.approx(percentiles(gaps), rel=1e-9)
    small, middle, whole = seen.values()
    assert small.between[1] < 0.8 * middle.between[1] < 0.8 * whole.between[1]
    assert small.first[0] > 1.02 * whole.first[0] and middle.first[0] == pytest.approx(whole.first[0], rel=0.05)


def test_static_batches_and_reserved_memory_let_requests_wait() -> None:
    """With the same requests, places and budget."""
    static = run(400, 60, Policy(8192, 256, static=True))
    reserved, joined = run(400, 60, Policy(8192, 256), Reserved), run(400, 60, Policy(8192, 256))
    assert static.tokens == reserved.tokens == joined.tokens
    assert static.first[0] > 100 * joined.first[0] and reserved.first[0] > 10 * joined.first[0]
    assert reserved.empty > 0.9 and joined.empty < 0.02 and joined.arithmetic > 1.2 * static.arithmetic


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
