"""Beams on shared rows are beams that are recomputed from nothing, and need as many rows as there are beginnings."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microgpt.caches.blocks import BlockPool
from microgpt.decode import recompute
from microgpt.errors import UserError
from microgpt.model import softmax
from microgpt.serving.beams import BeamSearch, distinct, rows_of_samples
from microgpt.weights import Model, shipped
from tests.support.examples import examples

DEEP, STORIES = shipped("names-deep"), shipped("stories")


def recomputed(model: Model, ids: list[int], width: int, steps: int) -> list[tuple[list[int], float]]:
    """Beam search without any cache."""
    beams = [(ids, 0.0)]
    for _ in range(steps):
        found = list[tuple[float, list[int]]]()
        for text, score in beams:
            if len(text) > len(ids) and text[-1] in model.tokenizer.stops:
                found.append((score, text))
                continue
            logs = np.log(softmax(recompute(model.params, model.config, text)))
            found += [(score + float(logs[token]), [*text, token]) for token in range(len(logs))]
        beams = [(text, score) for score, text in sorted(found, key=lambda one: -one[0])[:width]]
    return beams


@given(st.sampled_from(["ma", "el", "k"]), st.integers(1, 5), st.integers(1, 7), st.sampled_from([1, 2, 4]))
@settings(max_examples=examples(25), deadline=None)
def test_beams_on_shared_rows_are_beams_without_a_cache(prompt: str, width: int, steps: int, size: int) -> None:
    ids, pool = DEEP.tokenizer.encode(prompt), BlockPool(DEEP.config, 100, size)
    search = BeamSearch(DEEP, pool, ids, width)
    for _ in range(steps):
        old = [beam.ids for beam in search.beams]
        came = search.step()
        assert all(beam.ids[: len(old[i])] == old[i] for i, beam in zip(came, search.beams, strict=True))
        rows, (apart, shared) = search.rows, search.blocks
        assert rows[1] <= rows[0] == sum(len(beam.cache) for beam in search.beams)
        assert shared <= apart and shared == sum(count > 0 for count in pool.ref_count)
    expected = recomputed(DEEP, ids, width, steps)
    assert [beam.ids for beam in search.beams] == [text for text, _ in expected]
    assert [beam.score for beam in search.beams] == pytest.approx([score for _, score in expected], abs=1e-12)
    for beam in search.beams:
        beam.cache.free()
    assert pool.n_free == 100


def test_samples_of_one_prompt_share_its_rows() -> None:
    assert rows_of_samples(1_000, 200, 4) == (4_800, 1_800)
    texts = [[1, 2, 3, 10 + i] for i in range(3)]
    assert (sum(map(len, texts)), distinct(texts)) == rows_of_samples(3, 1, 3)


@pytest.mark.parametrize("width", [0, -1, 28])
def test_a_width_that_means_nothing_is_refused(width: int) -> None:
    with pytest.raises(UserError, match=f"{width} beams cannot be told apart by one token; choose 1 to 27"):
        BeamSearch(DEEP, BlockPool(DEEP.config, 9, 4), DEEP.tokenizer.encode("ma"), width)


def test_a_text_at_the_end_of_the_context_is_refused() -> None:
    ids = STORIES.tokenizer.encode("The next day is bright")
    search = BeamSearch(STORIES, BlockPool(STORIES.config, 60, 4), ids, 2)
    with pytest.raises(UserError, match="this model sees at most 24"):
        for _ in range(40):
            search.step()
            for beam in search.beams:
                beam.ended = False
