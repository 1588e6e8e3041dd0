"""Turns of a chat, against a pool that really finds rows, and against published examples."""

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microgpt.cache import KVCache
from microgpt.caches.blocks import BlockPool
from microgpt.caches.prefix import begin, publish
from microgpt.config import Config, split
from microgpt.errors import UserError
from microgpt.model import forward
from microgpt.serving.chat import chat_turns, edit, pays_from, price
from microgpt.weights import init

LENGTHS = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=1, max_size=4)


@given(st.integers(0, 7), LENGTHS, st.sampled_from([1, 2, 4]))
def test_turns_are_what_a_pool_finds(system: int, lengths: list[tuple[int, int]], size: int) -> None:
    """Each turn runs only what its prefix cache lacks, and its logits are those of a fresh run."""
    config = Config(n_layer=2, n_ctx=48)
    params, rng = split(init(config, Random(0)), config), np.random.default_rng(0)
    pool, ids = BlockPool(config, 100, size), rng.integers(0, 27, system).tolist()
    chat = chat_turns(system, [asked for asked, _ in lengths], [answered for _, answered in lengths], size)
    for turn, (asked, answered) in zip(chat, lengths, strict=True):
        ids += rng.integers(0, 27, asked).tolist()
        cache = begin(pool, ids)
        assert (len(ids), len(cache)) == (turn.sent, turn.found)
        logits = forward(params, config, ids[len(cache) :], cache)[-1]
        fresh = forward(params, config, ids, KVCache(config))[-1]
        assert len(logits) == config.vocab_size and np.abs(logits - fresh).max() <= 1e-12
        answer = rng.integers(0, 27, answered).tolist()
        for token in answer[:-1]:  # the last one is only sent with the next question
            forward(params, config, [token], cache)
        ids += answer
        publish(cache, ids)
        cache.free()


def test_six_turns_send_ten_thousand_tokens_and_run_thirteen_hundred() -> None:
    chat = chat_turns(1000, [50] * 6, [200] * 6)
    assert sum(turn.sent for turn in chat) == 10_050
    assert sum(turn.run for turn in chat) == 1_305
    assert round(100 * sum(turn.found for turn in chat) / 10_050, 1) == 87.0
    assert round(price(chat, 1.25, 0.1)) == 2_506
    assert price(chat, 1, 1) == 10_050
    assert price(chat, 1.25, 0.1, 1050) == price(chat, 1.25, 0.1) and price(chat, 1.25, 0.1, 10**6) == 10_050
    few = [edit(1800, 500), edit(900, 600)]  # of the first too little is found, and the second is too short
    assert price(few, 1.25, 0.1, 1024) == 1800 * 1.25 + 900 and price(few, 1.25, 0.1, 500) == 1600 * 1.25 + 1100 * 0.1


def test_when_a_cached_prompt_pays() -> None:
    assert [pays_from(write, 0.1) for write in (1.25, 2.0)] == [2, 3]


def test_an_edit_leaves_the_rows_before_it() -> None:
    assert [edit(15, at).found for at in (0, 7, 14)] == [0, 7, 14]
    assert edit(15, 7, 4).found == 4


def test_what_makes_no_chat_is_refused() -> None:
    with pytest.raises(UserError, match="A chat needs a question and an answer"):
        chat_turns(10, [1, 0], [1, 1])
    with pytest.raises(UserError, match="Token 15 cannot be changed in a prompt of 15 tokens; choose 0 to 14"):
        edit(15, 15)
    with pytest.raises(UserError, match="At 1.5 times the price a found token is no cheaper"):
        pays_from(1, 1.5)
