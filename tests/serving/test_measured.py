"""What ten thousand simulated requests have shown is what the command gives, and says what is said of it."""

import json

import pytest

from microgpt.recipes import DATA
from microgpt.serving.measured import REQUESTS, ROUTES, WAYS, as_json, fields, fleet, kept, measure


@pytest.mark.timeout(600)
@pytest.mark.thorough("runs all ten thousand requests under each policy, half a minute")
def test_the_file_is_what_the_command_gives() -> None:
    assert (DATA / "requests.json").read_text("utf-8") == as_json(measure()) + "\n"


def test_the_file_has_every_way_and_reads_back_as_it_was_written() -> None:
    assert kept().keys() == {"policies", "fleet"}
    assert kept()["policies"].keys() == WAYS.keys() and kept()["fleet"].keys() == ROUTES.keys()
    assert as_json(kept()) == json.dumps(json.loads((DATA / "requests.json").read_text("utf-8")), separators=(",", ":"))
    few = fleet(*ROUTES["prefix"], 100)
    assert fields(few).keys() == fields(kept()["fleet"]["prefix"]).keys()


def test_what_the_policies_show() -> None:
    """All write the same tokens. Static batches and reserved memory do not keep up with so many requests a second;
    a whole prompt stalls others, and the smaller budget keeps their tokens coming."""
    ways = kept()["policies"]
    assert len({seen.tokens for seen in ways.values()}) == 1 and REQUESTS == 10_000
    static, reserved, whole, chunks, small = ways.values()
    assert static.seconds > reserved.seconds > 1.5 * chunks.seconds
    assert static.first[0] > reserved.first[0] > 50 * whole.first[0] > 1000 * chunks.first[0]
    assert reserved.empty > 0.9 and max(seen.empty for seen in (static, whole, chunks, small)) < 0.02
    assert whole.between[1] > chunks.between[1] > 3 * small.between[1]
    assert small.first[0] > chunks.first[0] and small.first[1] > chunks.first[1]
    assert chunks.arithmetic > 2.5 * static.arithmetic


def test_what_the_routes_show() -> None:
    """Where the rows of a beginning are kept, less is run; where requests go to them, still less."""
    anew, turns, prefix = kept()["fleet"].values()
    assert anew.tokens == turns.tokens == prefix.tokens
    assert anew.first[0] > 3 * turns.first[0] > 9 * prefix.first[0]
    assert anew.arithmetic > turns.arithmetic > prefix.arithmetic
    assert anew.preemptions > 0 == turns.preemptions == prefix.preemptions
