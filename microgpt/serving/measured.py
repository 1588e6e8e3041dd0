"""Ten thousand requests under several policies and loads, and on a fleet: what a simulated H100 with Llama-3-8B shows.

Requests, card, memory and places are the same for all policies of a load; only what is named differs. With whole
prompts the budget must be larger than the longest request: one that fills the budget alone waits until nobody else
runs, and all that came later wait with it. `tight` has such a budget, to show it.

Each run takes seconds, so what came out lies in data/requests.json, which is made anew in some minutes by

    python -m microgpt.serving.measured > requests.json && mv requests.json microgpt/data/requests.json

All is drawn from one seed, and nothing depends on the machine that runs it.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping
from typing import NamedTuple

from microgpt.architectures.known import PRESETS
from microgpt.recipes import DATA
from microgpt.serving.hardware import PROCESSORS
from microgpt.serving.scheduler import Blocks, Policy, Reserved
from microgpt.serving.simulate import N_CTX, GroupBlocks, Routing, Seen, by_prefix, in_turns, requests, simulate

MODEL, PROCESSOR, SHARE = "Llama-3-8B", "H100", 0.9  # of the memory that weights and rows may have
REQUESTS, RATES, SEED, SIZE = 10_000, (20, 40, 80, 100), 0, 16  # RATES a second; SIZE rows in a block
BUDGET, PLACES = 8192, 1024  # what vLLM has on this card: tokens and texts of a pass
SERVERS, FLEET_RATE, GROUPS, SHARED = 16, 1000, 32, 2000  # SHARED tokens with which every request of a group begins


class Way(NamedTuple):
    """A policy, on memory that is taken in blocks or reserved for the longest text."""

    policy: Policy
    reserved: bool = False


WAYS = {
    "static": Way(Policy(BUDGET, PLACES, static=True)),
    "reserved": Way(Policy(BUDGET, PLACES), reserved=True),
    "tight": Way(Policy(BUDGET, PLACES, chunked=False)),
    "whole": Way(Policy(BUDGET + PLACES, PLACES, chunked=False)),  # the longest prompt, and a token of all others
    "wide": Way(Policy(2 * BUDGET, PLACES, chunked=False)),
    "large": Way(Policy(BUDGET, PLACES)),
    "chunks": Way(Policy(2048, PLACES)),
    "small": Way(Policy(512, PLACES)),
}
ROUTES: Mapping[str, tuple[type[Blocks], Routing]] = {
    "anew": (Blocks, in_turns),  # no beginning is kept
    "turns": (GroupBlocks, in_turns),
    "prefix": (GroupBlocks, by_prefix),
}


def n_rows() -> int:
    """Rows that one processor has room for, beside the weights."""
    model = PRESETS[MODEL]
    return (int(SHARE * PROCESSORS[PROCESSOR].memory) - model.weight_bytes()) // model.bytes_per_token()


class Measured(NamedTuple):
    """What was seen: requests a second -> policy -> all of a run; and the same of each routing on a fleet."""

    policies: dict[int, dict[str, Seen]]
    fleet: dict[str, Seen]


def one_server(way: Way, rate: float, n: int = REQUESTS) -> Seen:
    memory = Reserved(n_rows(), N_CTX) if way.reserved else Blocks(n_rows() // SIZE, SIZE)
    drawn = requests(n, rate, SEED)
    return simulate(drawn, PRESETS[MODEL], PROCESSORS[PROCESSOR], way.policy, lambda: memory)


def fleet(kind: type[Blocks], routing: Routing, n: int = REQUESTS) -> Seen:
    """The requests of groups, on all servers."""
    memory: Callable[[], Blocks] = functools.partial(kind, n_rows() // SIZE, SIZE)
    drawn = requests(n, FLEET_RATE, SEED, GROUPS, SHARED)
    return simulate(drawn, PRESETS[MODEL], PROCESSORS[PROCESSOR], WAYS["chunks"].policy, memory, SERVERS, routing)


def measure(n: int = REQUESTS) -> Measured:
    """All runs anew."""
    return Measured(
        {rate: {name: one_server(way, rate, n) for name, way in WAYS.items()} for rate in RATES},
        {name: fleet(*route, n) for name, route in ROUTES.items()},
    )


def as_json(found: Measured) -> str:
    """To six figures: what is beyond them may differ from processor to processor."""
    policies = {rate: written(ways) for rate, ways in found.policies.items()}
    return json.dumps({"policies": policies, "fleet": written(found.fleet)}, separators=(",", ":"))


def written(ways: Mapping[str, Seen]) -> dict[str, dict[str, object]]:
    return {name: fields(seen) for name, seen in ways.items()}


def fields(seen: Seen) -> dict[str, object]:
    return {
        name: [figure(x) for x in value] if isinstance(value, tuple) else figure(value)
        for name, value in seen._asdict().items()
    }


def figure(value: float) -> float:
    return float(f"{value:.6g}") if isinstance(value, float) else value


@functools.cache
def kept() -> Measured:
    """What lies in data/requests.json."""
    found = json.loads((DATA / "requests.json").read_text("utf-8"))
    return Measured({int(rate): read(ways) for rate, ways in found["policies"].items()}, read(found["fleet"]))


def read(ways: Mapping[str, Mapping[str, object]]) -> dict[str, Seen]:
    return {
        name: Seen(**{field: tuple(x) if isinstance(x, list) else x for field, x in one.items()})  # type: ignore[arg-type]
        for name, one in ways.items()
    }


if __name__ == "__main__":
    print(as_json(measure()))
