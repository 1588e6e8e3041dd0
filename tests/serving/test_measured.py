"""What ten thousand simulated requests have shown is what the command gives, and says what is said of it."""

import json

import pytest

from microgpt.recipes import DATA
from microgpt.serving.measured import (
    POLICIES,
    RATES,
    REQUESTS,
    ROUTES,
    fleet,
    load_measures,
    measure,
    results_json,
)


@pytest.mark.timeout(900)
@pytest.mark.thorough("runs all ten thousand requests under each policy and load, some minutes")
def test_the_file_is_what_the_command_gives() -> None:
    assert (DATA / "requests.json").read_text("utf-8") == results_json(measure()) + "\n"


def test_the_file_has_every_way_and_reads_back_as_it_was_written() -> None:
    assert (
        tuple(load_measures().policies) == RATES and len(RATES) >= 3 and load_measures().fleet.keys() == ROUTES.keys()
    )
    assert all(ways.keys() == POLICIES.keys() for ways in load_measures().policies.values())
    assert results_json(load_measures()) == json.dumps(
        json.loads((DATA / "requests.json").read_text("utf-8")), separators=(",", ":")
    )
    assert fleet(*ROUTES["prefix"], 100).tokens > 100


def test_what_is_compared_differs_in_what_is_named_alone() -> None:
    """All policies have the same places, and all write the same tokens; whole prompts have room for the longest."""
    assert len({policy.places for policy in POLICIES.values()}) == 1 and REQUESTS == 10_000
    assert len({seen.tokens for ways in load_measures().policies.values() for seen in ways.values()}) == 1
    one, same = POLICIES["reserved"], POLICIES["large"]
    assert one == same and POLICIES["tight"].budget == same.budget < POLICIES["whole"].budget


def test_what_the_policies_show_at_each_load() -> None:
    """Static batches let everybody wait. Chunks do nothing for the first token while the server keeps up, and a smaller
    budget keeps the gaps short; where it is larger than what passes run, it does nothing."""
    for rate, ways in load_measures().policies.items():
        assert ways["static"].first[0] > 15 * ways["whole"].first[0]
        behind = {kind: seen.seconds - REQUESTS / rate for kind, seen in ways.items()}  # what is left at the end
        assert (behind["static"] > 30) == (behind["reserved"] > 30) == (rate > 20)
        assert all((behind[kind] > 20) == (rate == 100) for kind in ("whole", "large", "chunks", "small"))
        if rate < 100:
            assert ways["chunks"].first[0] == pytest.approx(ways["whole"].first[0], rel=0.03)
            assert ways["small"].first[0] > ways["whole"].first[0]
        assert ways["small"].between[1] < 0.5 * ways["whole"].between[1]
        assert (ways["chunks"].between[1] < 0.9 * ways["whole"].between[1]) == (rate > 40)
        assert ways["large"].between[1] == pytest.approx(ways["whole"].between[1], rel=0.03)
        assert ways["tight"].first[1] > 1.8 * ways["whole"].first[1]  # three prompts of ten thousand
        assert ways["reserved"].empty > 0.9 > 0.02 > ways["whole"].empty
    most = load_measures().policies[100]  # none keeps up: who serves most has the shortest queue
    assert most["chunks"].arithmetic > 1.05 * most["whole"].arithmetic
    assert most["chunks"].first[0] < most["whole"].first[0] < most["small"].first[0]


def test_what_the_routes_show() -> None:
    """Where the rows of a beginning are kept, less is run; where requests go to them, still less."""
    anew, turns, prefix = load_measures().fleet.values()
    assert anew.tokens == turns.tokens == prefix.tokens
    assert anew.first[0] > 3 * turns.first[0] > 9 * prefix.first[0]
    assert anew.arithmetic > turns.arithmetic > prefix.arithmetic
    assert anew.preemptions > turns.preemptions >= prefix.preemptions
