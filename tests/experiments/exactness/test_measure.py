"""The kept figures are those of the models that ship; adding in one order gives one answer, to the last bit."""

import numpy as np
import pytest

from microgpt.cache import KVCache
from microgpt.config import Report
from microgpt.decode import generate, recompute
from microgpt.experiments.exactness import measure
from microgpt.experiments.exactness.rounding import FORMATS, kind_of
from microgpt.model import forward
from microgpt.weights import SHIPPED, shipped
from tests.support.examples import examples
from tests.support.sampled import sampled

EVERY = [(one, order, digits) for one in SHIPPED for order in (measure.AT_ONCE, measure.BY_STEP) for digits in FORMATS]


@pytest.mark.parametrize(("name", "order", "format"), sampled(EVERY, EVERY[::5], "other models in other formats"))
def test_in_one_order_cached_and_recomputed_agree_to_the_last_bit(name: str, order: str, format: str) -> None:
    model = shipped(name)
    for prompt in measure.prompts(model)[: examples(3)]:
        run = measure.both(model, prompt, format, (order, order))
        assert np.array_equal(run.cached, run.again) and run.parting is None


@pytest.mark.parametrize("format", ["float32", measure.SHORTEST])
def test_one_pass_over_the_text_gives_the_rerun_of_every_step(format: str) -> None:
    model = shipped("stories")
    params = measure.weights(model, format, measure.AT_ONCE)
    run = measure.both(model, measure.prompts(model)[0], format)
    for step, logits in enumerate(run.again):
        rerun = recompute(params, model.config, run.ids[: run.n_prompt + step])
        assert np.array_equal(np.asarray(rerun), logits)


@pytest.mark.parametrize("name", SHIPPED)
def test_in_float64_it_is_the_models_own_greedy_text(name: str) -> None:
    model = shipped(name)
    for prompt in measure.prompts(model)[: examples(20)]:
        run = measure.both(model, prompt, "float64")
        ids = model.tokenizer.encode(prompt)
        room = model.config.n_ctx - len(ids)
        written = list(generate(model.params, model.config, ids, room, stop=model.tokenizer.stops))
        assert run.ids == [*ids, *(t for t in written if t not in model.tokenizer.stops)]
        plain = forward(model.params, model.config, run.ids, KVCache(model.config))[len(ids) - 1 :]
        np.testing.assert_allclose(run.again, plain, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", sampled(SHIPPED, ["names"], "the same of larger models"))
def test_beginnings_that_are_kept_as_flipped_flip_and_the_example_is_one_of_them(name: str) -> None:
    model, kept = shipped(name), measure.load_exactness(name)
    assert kept.formats.keys() == FORMATS.keys() and kept.prompts == len(measure.prompts(model))
    for format, one in kept.formats.items():
        assert set(one.flipped) <= set(measure.prompts(model))
        some = one.flipped[:3]
        assert not some or measure.compare_runs(model, format, some).flipped == some
    example = kept.example
    starts = [
        prompt for prompt in kept.formats[measure.SHORTEST].flipped if measure.flip(model, prompt).text == example.text
    ]
    again = measure.flip(model, starts[0])
    assert again._replace(exact=[]) == example._replace(exact=[])
    assert again.exact == pytest.approx(example.exact, abs=1e-9)
    assert example.cached[0] > example.cached[1] and example.again[0] < example.again[1]


@pytest.mark.thorough("hundreds of texts, rounded after every operation")
@pytest.mark.parametrize("name", SHIPPED)
def test_kept_figures_come_out_again(name: str) -> None:
    """Those of the format of the examples; of the smallest model, of all."""
    model, kept = shipped(name), measure.load_exactness(name)
    some = measure.prompts(model)
    for format in FORMATS if name == "names" else [measure.SHORTEST]:
        made = measure.compare_runs(model, format, some)
        assert made.flipped == kept.formats[format].flipped
        if format == "float64":
            assert 0 < made.difference < 1e-12
        else:
            assert made.difference == kept.formats[format].difference
    choices = sum(len(measure.both(model, prompt, "float64").cached) for prompt in some)
    assert (kept.prompts, kept.choices) == (len(some), choices)


def test_where_sums_are_kept_in_float32_nothing_flips() -> None:
    """What the page says."""
    for name in SHIPPED:
        formats = measure.load_exactness(name).formats
        assert not any(one.flipped for format, one in formats.items() if "sums" not in format)
        assert formats[measure.SHORTEST].flipped
    assert measure.load_exactness("names").formats["bfloat16"].difference == 0


@pytest.mark.parametrize("name", SHIPPED)
def test_nothing_that_the_model_reports_has_escaped_the_rounding(name: str) -> None:
    model, cache = shipped(name), KVCache(shipped(name).config, np.float32)
    reports: list[Report] = []
    for ids in ([1, 2, 3], [4]):
        forward(measure.weights(model, measure.SHORTEST, measure.BY_STEP), model.config, ids, cache, reports.append)
    arrays = [value for _, value, _, _ in reports if not isinstance(value, int)]
    assert len(arrays) > 20 and all(type(value) is kind_of(measure.SHORTEST, measure.BY_STEP) for value in arrays)
