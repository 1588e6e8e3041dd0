"""A cache of any kind that has room for the whole text gives what a plain one gives, to the last digit."""

from collections.abc import Callable

import pytest

from microgpt.cache import Cache, KVCache
from microgpt.caches.evict import H2OCache, SnapKVCache
from microgpt.caches.quantised import QuantisedCache, kivi
from microgpt.caches.sinks import SinkCache
from microgpt.config import Config
from microgpt.model import forward
from microgpt.weights import SHIPPED, shipped

KINDS: dict[str, Callable[[Config], Cache]] = {
    "h2o": lambda config: H2OCache(config, 6, 6),
    "snapkv": lambda config: SnapKVCache(config, 12, 2),
    "sinks": lambda config: SinkCache(config, 2, 10),
    "kivi": lambda config: QuantisedCache(config, *kivi(4, 2, recent=12)),
}


@pytest.mark.parametrize("name", SHIPPED)
@pytest.mark.parametrize("kind", KINDS)
def test_a_cache_larger_than_the_text_changes_nothing(kind: str, name: str) -> None:
    model = shipped(name)
    cache, plain = KINDS[kind](model.config), KVCache(model.config)
    for token in range(1, 13):
        hook = None
        if isinstance(cache, H2OCache | SnapKVCache | SinkCache):
            cache.make_room()
        if isinstance(cache, H2OCache | SnapKVCache):
            hook = cache.watch()
        found = forward(model.params, model.config, [token], cache, hook)
        assert (found == forward(model.params, model.config, [token], plain)).all()
