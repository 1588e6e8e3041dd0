"""Which stops see other tokens, and which numbers a model is made of."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microgpt.architectures import inventory
from microgpt.architectures.known import PRESETS
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


def test_only_k_and_v_outlive_the_step(model: Model) -> None:
    trace = Recording(model, TEXTS[model.name]).run()
    kept = {s.name for s in path.stops(trace, model.config, 1) if s.life == "sequence"}
    assert kept == {"k", "v"}
    held = sum(s.value.size for s in path.stops(trace, model.config, 1) if s.life == "sequence")
    cache = KVCache(model.config)
    forward(model.params, model.config, [0], cache)
    assert held * 8 == cache.nbytes


def test_the_stream_is_the_sum_of_what_was_added(model: Model) -> None:
    trace = Recording(model, TEXTS[model.name]).run()
    assert all(path.adds_up(trace, model.config, pos) < 1e-12 for pos in range(4))


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


def test_a_later_token_reaches_nothing_and_no_change_is_no_difference(model: Model) -> None:
    ids = ids_of(model)
    found = token_effect(model, ids, 1, ids[1])
    assert not any(x for row in found.values() for x in row)


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


def test_every_parameter_is_made_use_of_at_some_stop(model: Model) -> None:
    used = {name for names in path.MADE_WITH.values() for name in names}
    assert {name.split(".")[-1] for name in model.params} <= used


def test_neighbours_point_the_same_way() -> None:
    model = shipped("stories")
    ids = {token: i for i, token in enumerate(model.tokenizer.vocabulary)}
    assert path.neighbours(model.params, ids["bright"], 1) == [ids["clear"]]
    assert path.neighbours(model.params, ids["she"], 1) == [ids["he"]]
    table = model.params["wte"]
    near = path.neighbours(model.params, ids["sun"], 3)

    def cosine(i: int) -> float:
        return float(table[i] @ table[ids["sun"]] / np.linalg.norm(table[i]) / np.linalg.norm(table[ids["sun"]]))

    assert ids["sun"] not in near
    assert min(map(cosine, near)) >= max(cosine(i) for i in range(len(table)) if i not in [*near, ids["sun"]])


def test_parts_of_the_published_models() -> None:
    llama = inventory.totals(PRESETS["Llama-3-8B"].config)
    assert llama["embedding"] == llama["head"] == 128_256 * 4_096  # untied: 0.53B each
    assert llama["attention"] == 32 * (2 * 4_096**2 + 2 * 1_024 * 4_096)
    assert llama["mlp"] == 32 * 3 * 14_336 * 4_096
    assert llama["norms"] == 65 * 4_096
    smol = {t.name: t.shapes for t in inventory.tensors(PRESETS["SmolLM2-135M"].config)}
    assert smol["wk"] == smol["wv"] == ((192, 576),)
    assert smol["wq"] == ((576, 576),)
    assert "lm_head" not in smol
    assert inventory.totals(PRESETS["GPT-2 124M"].config)["embedding"] == (50_257 + 1_024) * 768


def test_microgpt_has_nine_matrices() -> None:
    assert len(inventory.tensors(Config())) == 9
    assert {t.shapes[0] for t in inventory.tensors(Config())} == {(27, 16), (16, 16), (64, 16), (16, 64)}


@given(configs())
def test_the_inventory_leaves_nothing_out(config: Config) -> None:
    config = replace(config, qkv_bias=config.bias, wo_bias=config.bias, mlp_bias=config.bias)
    assert sum(t.size * t.times for t in inventory.tensors(config)) == n_params(config)
    assert sum(inventory.totals(config).values()) == n_params(config)
    assert all(t.size == sum(math.prod(s) for s in t.shapes) for t in inventory.tensors(config))
