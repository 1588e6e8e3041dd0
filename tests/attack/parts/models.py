"""Random models: with the cache, without it, in chunks and after a crop, the same logits."""

from collections.abc import Iterator, Sequence

import numpy as np
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded

from microgpt.cache import KVCache
from microgpt.config import Array
from microgpt.decode import decode_step, recompute
from microgpt.model import forward
from tests.attack.part import Order, Part, Seen
from tests.support.strategies import Case, cases, parallel

WITHIN = 2e-13  # of the largest logit, or of 1
DRAWN = 100  # models of one batch: the strategy draws them together


def named(scale: float, order: Order) -> list[str]:
    return [str(i) for i in range(max(1, round(10_000 / DRAWN * scale)) * DRAWN)]


def attack(names: Sequence[str], order: Order) -> Iterator[Seen]:
    batches = sorted({int(name) // DRAWN for name in names})
    wanted = set(names)
    for batch in batches:
        for i, case in enumerate(drawn(DRAWN, order.of(str(batch)))):
            if (name := str(batch * DRAWN + i)) in wanted:
                found = difference(case)
                yield Seen(name, f"more than {WITHIN} apart" if not found <= WITHIN else "", "", found, str(case))


def drawn(n: int, seed: str) -> list[Case]:
    """Models as Hypothesis draws them for the tests, from a seed of our own."""
    found: list[Case] = []

    @seeded(seed)
    @settings(
        max_examples=n, phases=[Phase.generate], database=None, deadline=None, suppress_health_check=list(HealthCheck)
    )
    @given(cases())
    def keep(case: Case) -> None:
        found.append(case)

    keep()
    assert len(found) == n, f"{len(found)} models drawn of {n}"
    return found


def difference(case: Case) -> float:
    """The largest difference of any logit on any of four ways, relative to the largest logit (or to 1)."""
    params, config, ids = case.params, case.config, case.token_ids
    whole = parallel(params, config, ids)
    ways = [one_by_one(case), in_chunks(case), after_a_crop(case)]
    apart = [float(np.abs(way - whole).max()) for way in ways]
    apart += [float(np.abs(recompute(params, config, ids[: i + 1]) - whole[i]).max()) for i in range(len(ids))]
    return max(apart) / max(1.0, float(np.abs(whole).max()))


def one_by_one(case: Case) -> Array:
    cache = KVCache(case.config)
    return np.stack([decode_step(case.params, case.config, token, cache) for token in case.token_ids])


def in_chunks(case: Case) -> Array:
    cache, ids, rng, parts = KVCache(case.config), list(case.token_ids), case.rng, []
    while ids:
        n = int(rng.integers(1, len(ids) + 1))
        parts.append(forward(case.params, case.config, ids[:n], cache))
        ids = ids[n:]
    return np.concatenate(parts)


def after_a_crop(case: Case) -> Array:
    """Other tokens came, and were given back, before the last half is run."""
    cache, ids, at = KVCache(case.config), case.token_ids, len(case.token_ids) // 2
    first = forward(case.params, case.config, ids[:at], cache) if at else np.empty((0, case.config.vocab_size))
    forward(case.params, case.config, ids[at:][::-1], cache)
    cache.crop(at)
    return np.concatenate([first, forward(case.params, case.config, ids[at:], cache)])


def summary(seen: Sequence[Seen]) -> str:
    return f"largest difference {max(one.figure for one in seen):.1e}; allowed {WITHIN:.0e}"


PART = Part(
    tried="random models and texts: token by token, in chunks and after a crop of the cache, against no cache at all",
    cases=named,
    attack=attack,
    at_once=1000,
    summary=summary,
)
