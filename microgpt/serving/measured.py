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
from typing import Any, NamedTuple

from microgpt.architectures.known import PRESETS
from microgpt.recipes import DATA
from microgpt.serving.hardware import PROCESSORS
from microgpt.serving.scheduler import Blocks, Policy, Reserved
from microgpt.serving.simulate import N_CTX, GroupBlocks, Routing, RunSummary, by_prefix, in_turns, requests, simulate

MODEL, PROCESSOR, MEMORY_SHARE = "Llama-3-8B", "H100", 0.9  # of the memory that weights and rows may have
REQUESTS, RATES, SEED, SIZE = 10_000, (20, 40, 80, 100), 0, 16  # RATES a second; SIZE rows in a block
BUDGET, MOST_TEXTS = 8192, 1024  # what vLLM has on this card: tokens and texts of a pass
SERVERS, FLEET_RATE, GROUPS, SHARED = 16, 1000, 32, 2000  # SHARED tokens with which every request of a group begins


POLICIES = {  # memory is taken in blocks, but of `reserved`, which has it reserved for the longest text
    "static": Policy(BUDGET, MOST_TEXTS, static=True),
    "reserved": Policy(BUDGET, MOST_TEXTS),
    "tight": Policy(BUDGET, MOST_TEXTS, chunked=False),
    # the longest prompt, and a token of all others
    "whole": Policy(BUDGET + MOST_TEXTS, MOST_TEXTS, chunked=False),
    "wide": Policy(2 * BUDGET, MOST_TEXTS, chunked=False),
    "large": Policy(BUDGET, MOST_TEXTS),
    "chunks": Policy(2048, MOST_TEXTS),
    "small": Policy(512, MOST_TEXTS),
}
ROUTES: Mapping[str, tuple[type[Blocks], Routing]] = {
    "anew": (Blocks, in_turns),  # no beginning is kept
    "turns": (GroupBlocks, in_turns),
    "prefix": (GroupBlocks, by_prefix),
}


def n_rows() -> int:
    """Rows that one processor has room for, beside the weights."""
    model = PRESETS[MODEL]
    return (int(MEMORY_SHARE * PROCESSORS[PROCESSOR].memory) - model.weight_bytes()) // model.bytes_per_token()


class Measured(NamedTuple):
    """What was seen: requests a second -> policy -> all of a run; and the same of each routing on a fleet."""

    policies: dict[int, dict[str, RunSummary]]
    fleet: dict[str, RunSummary]


def one_server(name: str, rate: float, n: int = REQUESTS) -> RunSummary:
    memory = Reserved(n_rows(), N_CTX) if name == "reserved" else Blocks(n_rows() // SIZE, SIZE)
    drawn = requests(n, rate, SEED)
    return simulate(drawn, PRESETS[MODEL], PROCESSORS[PROCESSOR], POLICIES[name], lambda: memory)


def fleet(kind: type[Blocks], routing: Routing, n: int = REQUESTS) -> RunSummary:
    """The requests of groups, on all servers."""
    memory: Callable[[], Blocks] = functools.partial(kind, n_rows() // SIZE, SIZE)
    drawn = requests(n, FLEET_RATE, SEED, GROUPS, SHARED)
    return simulate(drawn, PRESETS[MODEL], PROCESSORS[PROCESSOR], POLICIES["chunks"], memory, SERVERS, routing)


def measure(n: int = REQUESTS) -> Measured:
    """All runs anew."""
    return Measured(
        {rate: {name: one_server(name, rate, n) for name in POLICIES} for rate in RATES},
        {name: fleet(*route, n) for name, route in ROUTES.items()},
    )


def results_json(found: Measured) -> str:
    """To six figures: what is beyond them may differ from processor to processor."""
    policies = {rate: as_fields(ways) for rate, ways in found.policies.items()}
    return json.dumps({"policies": policies, "fleet": as_fields(found.fleet)}, separators=(",", ":"))


def as_fields(ways: Mapping[str, RunSummary]) -> dict[str, dict[str, object]]:
    return {name: {field: figure(x) for field, x in seen._asdict().items()} for name, seen in ways.items()}


def figure(value: Any) -> Any:
    if isinstance(value, tuple):
        return [*map(figure, value)]
    return float(f"{value:.6g}") if isinstance(value, float) else value


@functools.cache
def load_measures() -> Measured:
    """What lies in data/requests.json."""
    found = json.loads((DATA / "requests.json").read_text("utf-8"))
    return Measured(
        {int(rate): read_policies(ways) for rate, ways in found["policies"].items()}, read_policies(found["fleet"])
    )


def read_policies(ways: Mapping[str, Mapping[str, object]]) -> dict[str, RunSummary]:
    return {
        name: RunSummary(**{field: tuple(x) if isinstance(x, list) else x for field, x in one.items()})  # type: ignore[arg-type]
        for name, one in ways.items()
    }


if __name__ == "__main__":
    print(results_json(measure()))
