"""Ten thousand requests under several policies, and on a fleet: what a simulated H100 with Llama-3-8B has shown.

Each run takes seconds, so what came out lies in data/requests.json, which is made anew by

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
REQUESTS, RATE, SEED, PLACES, SIZE = 10_000, 60, 0, 256, 16  # RATE a second; SIZE rows in a block
SERVERS, FLEET_RATE, GROUPS, SHARED = 16, 1000, 32, 2000  # SHARED tokens with which every request of a group begins


class Way(NamedTuple):
    """A policy, on memory that is taken in blocks or reserved for the longest text."""

    policy: Policy
    reserved: bool = False


WAYS = {
    "static": Way(Policy(8192, PLACES, static=True)),
    "reserved": Way(Policy(8192, PLACES), reserved=True),
    "whole": Way(Policy(8192, PLACES, chunked=False)),
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


def one_server(way: Way, n: int = REQUESTS) -> Seen:
    memory = Reserved(n_rows(), N_CTX) if way.reserved else Blocks(n_rows() // SIZE, SIZE)
    drawn = requests(n, RATE, SEED)
    return simulate(drawn, PRESETS[MODEL], PROCESSORS[PROCESSOR], way.policy, lambda: memory)


def fleet(kind: type[Blocks], routing: Routing, n: int = REQUESTS) -> Seen:
    """The requests of groups, on all servers."""
    memory: Callable[[], Blocks] = functools.partial(kind, n_rows() // SIZE, SIZE)
    drawn = requests(n, FLEET_RATE, SEED, GROUPS, SHARED)
    return simulate(
        drawn, PRESETS[MODEL], PROCESSORS[PROCESSOR], WAYS["chunks"].policy, memory, SERVERS, routing
    )  # fmt: skip


def measure(n: int = REQUESTS) -> dict[str, dict[str, Seen]]:
    """Both parts by their names, each policy or routing by its own."""
    return {
        "policies": {name: one_server(way, n) for name, way in WAYS.items()},
        "fleet": {name: fleet(*route, n) for name, route in ROUTES.items()},
    }


def as_json(found: Mapping[str, Mapping[str, Seen]]) -> str:
    """To six figures: what is beyond them may differ from processor to processor."""
    rounded = {part: {name: fields(seen) for name, seen in ways.items()} for part, ways in found.items()}
    return json.dumps(rounded, separators=(",", ":"))


def fields(seen: Seen) -> dict[str, object]:
    return {
        name: [figure(x) for x in value] if isinstance(value, tuple) else figure(value)
        for name, value in seen._asdict().items()
    }


def figure(value: float) -> float:
    return float(f"{value:.6g}") if isinstance(value, float) else value


@functools.cache
def kept() -> dict[str, dict[str, Seen]]:
    """What lies in data/requests.json."""
    found = json.loads((DATA / "requests.json").read_text("utf-8"))
    return {part: {name: read(one) for name, one in ways.items()} for part, ways in found.items()}


def read(one: Mapping[str, object]) -> Seen:
    return Seen(**{name: tuple(x) if isinstance(x, list) else x for name, x in one.items()})  # type: ignore[arg-type]


if __name__ == "__main__":
    print(as_json(measure()))
