"""Ten thousand requests through the scheduler and a counted memory, in one thread: how long that takes here."""

from __future__ import annotations

import time

from bench.measure import Result, at_most
from microgpt.architectures.known import PRESETS
from microgpt.serving.hardware import PROCESSORS
from microgpt.serving.scheduler import Blocks, Policy
from microgpt.serving.simulate import requests, simulate

REQUESTS, RATE, BLOCK = 10_000, 60.0, 16
LIMIT = 20.0  # seconds


def measure() -> list[Result]:
    """A simulated H100 with Llama-3-8B, chunked prefill, blocks of 16."""
    architecture, processor = PRESETS["Llama-3-8B"], PROCESSORS["H100"]
    rows = (int(0.9 * processor.memory) - architecture.weight_bytes()) // architecture.bytes_per_token()
    start = time.process_time()
    seen = simulate(requests(REQUESTS, RATE), architecture, processor, Policy(), lambda: Blocks(rows // BLOCK, BLOCK))
    took = time.process_time() - start
    scale = f"{seen.seconds:.0f} s on the simulated clock, {seen.tokens:,} tokens written"
    return [at_most(f"{REQUESTS:,} requests simulated, s", [took], LIMIT, "", scale, ".1f")]
