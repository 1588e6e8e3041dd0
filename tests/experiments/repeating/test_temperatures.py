"""Texts at several temperatures: what counts as repeated, and that each text can be written again."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microgpt.config import Config
from microgpt.decode import recompute
from microgpt.errors import UserError
from microgpt.experiments.repeating.results import RUN_SEEDS, TEMPERATURES, measure
from microgpt.experiments.repeating.rounds import chances, circle
from microgpt.experiments.repeating.temperatures import mark_repeats, texts
from microgpt.model import softmax
from microgpt.weights import shipped
from tests.support.examples import examples
from tests.support.strategies import Case, cases, model_of


@given(st.lists(st.integers(0, 2), max_size=30), st.integers(1, 4))
def test_a_token_repeats_when_the_same_run_has_ended_earlier(ids: list[int], run: int) -> None:
    ends = ["".join(map(str, ids[: i + 1])) for i in range(len(ids))]
    for i, said in enumerate(mark_repeats(ids, run)):
        last = ends[i][-run:]
        assert said == (i + 1 >= run and any(end.endswith(last) for end in ends[:i] if len(end) >= run))


@given(cases(n_ctx=8), st.sampled_from((0.3, 1.0, 1.5)), st.integers(0, 9))
@settings(max_examples=examples(40))
def test_a_text_can_be_written_again_and_its_chances_found(case: Case, heat: float, seed: int) -> None:
    model = model_of(case)
    prompt = case.token_ids[: case.config.n_ctx - 1]
    one, two, three = (list(texts(model, prompt, [0, heat], [seed, seed + 1], 4)) for _ in range(3))
    assert one == two == three and [text.temperature for text in one] == [0, heat, heat], "without chance, once"
    for text in one:
        n = len(prompt)
        assert text.ids[:n] == prompt and len(text.chances) == len(text.ids) - n <= 4
        for i, chance in enumerate(text.chances, n):
            row = softmax(recompute(case.params, case.config, text.ids[:i]))
            assert abs(row[text.ids[i]] - chance) < 1e-9
            if not text.temperature:
                assert text.ids[i] == row.argmax()


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 6, 7])
def test_what_is_measured_is_of_whole_rounds(seed: int) -> None:
    """Most models with random weights come back to their words soon; these do."""
    config = Config(2, 8, 2, 1, 4, 8, 64, 6, position="rope", norm="rms", mlp="gelu")
    model = model_of(Case(config, seed, []))
    found = measure(model, "02", long=40, short=5)
    ids = found["ids"]
    turn = circle(ids)
    assert turn and turn.start + turn.period * len(found["looks"]) == len(ids) == len(found["chances"]) + 1
    assert np.shape(found["looks"]) == (len(turn.rounds(len(ids))), config.n_layer, config.n_head)
    assert len(found["without"]) == turn.period and found["n_prompt"] == len(model.tokenizer.encode("02"))
    assert np.abs(np.array(found["chances"]) - chances(model, ids)).max() <= 0.5001e-4
    assert [text["temperature"] for text in found["texts"]] == [heat for heat in TEMPERATURES for _ in RUN_SEEDS]
    assert set(found["vocabulary"]) >= {str(token) for token in ids}
    assert json.loads(json.dumps(found)) == found


def test_a_text_that_never_repeats_is_refused() -> None:
    with pytest.raises(UserError, match="does not repeat itself"):
        measure(shipped("stories"), "The next day is bright", long=4)
