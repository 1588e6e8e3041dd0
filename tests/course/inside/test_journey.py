"""Which stops see other tokens, and which numbers a model is made of."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microgpt.architectures import inventory
from microgpt.cache import KVCache
from microgpt.config import Config, n_params
from microgpt.course.inside import path
from microgpt.experiments.validity import another
from microgpt.model import forward
from microgpt.record import Recording
from microgpt.trace import Trace
from microgpt.weights import SHIPPED, Model, shipped
from tests.support.strategies import configs

TEXTS = {"names": "emma", "names-deep": "emma", "stories": "the next day is bright"}
FIRST = ("attn_norm", "q", "k", "v")  # in layer 0 these come from the token and its place alone


@pytest.fixture(scope="module", params=SHIPPED)
def model(request: pytest.FixtureRequest) -> Model:
    return shipped(request.param)


def ids_of(model: Model) -> list[int]:
    return model.tokenizer.encode(TEXTS[model.name])


def test_the_stops_are_all_that_the_model_reports_in_its_order(model: Model) -> None:
    trace = Recording(model, TEXTS[model.name]).run()
    for pos in range(len(trace.about["tokens"])):
        reported = [(e.name, e.layer) for e in trace if e.pos == pos and not isinstance(e.value, int)]
        ours = [(s.name, s.layer) for s in path.stops(trace, model.config, pos)]
        left_out = {("recompute_logits", -1), ("recompute_macs", -1)}
        if not model.config.embd_norm:
            left_out.add(("resid_pre", 0))  # it is the embedding
        assert ours == [one for one in reported if one not in left_out]


def token_effect(model: Model, ids: list[int], at: int, new: int) -> dict[str, list[float]]:
    """Of each stop of the last token, layer by layer, how far it is off at most if another token stands at `at`."""
    one, other = (path.step_by_step(model.params, model.config, text) for text in (ids, path.swap_token(ids, at, new)))
    last, found = len(ids) - 1, dict[str, list[float]]()
    off = path.compare_stops(one, other, model.config, last)
    for stop, x in zip(path.stops(one, model.config, last), off, strict=True):
        found.setdefault(stop.name, []).append(x)
    return found


def test_what_another_token_reaches(model: Model) -> None:
    """In layer 0 nothing before the scores changes and all from there does; in later layers everything does."""
    ids = ids_of(model)
    for at in range(len(ids) - 1):
        new = another(model.config, ids[at], model.tokenizer.start)
        found = token_effect(model, ids, at, new)
        assert found["embed"] == [0]
        for name in (*path.ATTENTION, *path.MLP, "resid_mid"):
            assert len(found[name]) == model.config.n_layer
            assert (found[name][0] == 0) == (name in FIRST), name
            assert all(x > 0 for x in found[name][1:])
        assert found["logits"][0] > 0 and found["resid_final"][0] > 0


@given(name=st.sampled_from(SHIPPED), data=st.data())
def test_the_mlp_mixes_nothing(name: str, data: st.DataObject) -> None:
    model = shipped(name)
    ids = data.draw(st.lists(st.integers(0, model.config.vocab_size - 1), min_size=2, max_size=8))
    layer = data.draw(st.integers(0, model.config.n_layer - 1))
    alone = path.mlp_alone(model.params, model.config, ids, layer)
    assert alone.moved < 1e-12 and alone.replaced < 1e-12
    assert alone.others > 1e-3


def test_the_mlp_by_itself_is_the_models(model: Model) -> None:
    trace = Trace()
    forward(model.params, model.config, ids_of(model), KVCache(model.config), trace)
    for layer in range(model.config.n_layer):
        ours = path.mlp(model.params, model.config, trace["mlp_norm", 0, layer], layer)
        assert (ours == trace["mlp_out", 0, layer]).all()


def test_neighbours_point_the_same_way() -> None:
    model = shipped("stories")
    ids = {token: i for i, token in enumerate(model.tokenizer.vocabulary)}
    table = model.params["wte"]
    near = path.neighbours(model.params, ids["sun"], 3)

    def cosine(i: int) -> float:
        return float(table[i] @ table[ids["sun"]] / np.linalg.norm(table[i]) / np.linalg.norm(table[ids["sun"]]))

    assert ids["sun"] not in near
    assert min(map(cosine, near)) >= max(cosine(i) for i in range(len(table)) if i not in [*near, ids["sun"]])


@given(configs())
def test_the_inventory_leaves_nothing_out(config: Config) -> None:
    config = replace(config, qkv_bias=config.bias, wo_bias=config.bias, mlp_bias=config.bias)
    assert sum(t.size * t.times for t in inventory.tensors(config)) == n_params(config)
    assert sum(inventory.totals(config).values()) == n_params(config)
    assert all(t.size == sum(math.prod(s) for s in t.shapes) for t in inventory.tensors(config))
