"""A weight that a reader computes from the picture is the one that the model has reported, in every head."""

import pytest

from microgpt.viz.drawing.by_hand import by_hand
from microgpt.viz.drawing.picture import Picture
from microgpt.viz.settings import Settings


@pytest.mark.parametrize(("model", "prompt"), [("names", "emm"), ("names-deep", "a"), ("stories", "The next day")])
def test_what_is_computed_by_hand_is_what_was_reported(model: str, prompt: str) -> None:
    picture = Picture(Settings(model, prompt).trace())
    c = picture.config
    for i in range(picture.n):
        for layer in range(c.n_layer):
            for head in range(c.n_head):
                one = by_hand(picture.trace, c, i, layer, head)
                scores, weights = (picture.trace[name, i, layer][head, 0] for name in ("attn_scores", "attn_weights"))
                assert one.score == pytest.approx(scores[one.row], abs=1e-12)
                assert one.weight == pytest.approx(max(weights), abs=1e-12) and weights[one.row] == max(weights)
                assert one.dot == pytest.approx(sum(a * b for a, b in one.pairs)) and len(one.pairs) == c.head_dim


def test_it_is_a_weight_of_what_is_shown_first() -> None:
    picture = Picture(Settings("stories", "The next day").trace(), 2, 1, 3)
    assert (picture.by_hand.i, picture.by_hand.layer, picture.by_hand.head) == (2, 1, 3)


@pytest.mark.parametrize(("model", "prompt"), [("names", "emm"), ("stories", "The next day")])
def test_a_step_reads_every_key_that_it_would_have_to_rotate_again(model: str, prompt: str) -> None:
    picture = Picture(Settings(model, prompt).trace())
    assert picture.k_reads == picture.n * (picture.n + 1) // 2
    held = picture.step(picture.n - 1).bytes
    assert picture.if_mha == picture.n * 2 * picture.config.n_layer * picture.config.n_head * picture.config.head_dim
    assert held.numbers * picture.config.n_head == picture.if_mha * picture.config.n_kv_head
