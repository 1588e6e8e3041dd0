"""One text under every policy: the figures, and that `first` is where the policy alone writes another text."""

import pytest

from microgpt.caches.sinks import SinkCache
from microgpt.course.full_cache.policies import Outcome, compare, text_of
from microgpt.decode import decode_step
from microgpt.errors import UserError
from microgpt.weights import shipped

MODELS = [("stories", "The next day is bright", 8), ("names-deep", "emm", 6), ("names", "emm", 6)]


def outcomes(name: str, prompt: str, room: int) -> dict[str, Outcome]:
    model = shipped(name)
    return {one.policy: one for one in compare(model, *text_of(model, prompt), room)}


def test_the_text_of_stories_in_eight_rows() -> None:
    """Sinks do not always help a model that has none: it depends on the text."""
    found = outcomes(*MODELS[0])
    assert {name: one.first for name, one in found.items()} == {
        "all": None,
        "window": 13,
        "ring": 13,
        "sinks": 13,
        "shift": 8,
        "h2o": 10,
        "snapkv": found["snapkv"].first,
    }
    for name, mean in (("window", 0.198), ("sinks", 0.156), ("shift", 0.227), ("h2o", 0.224)):
        assert found[name].mean == pytest.approx(mean, abs=1e-3)


@pytest.mark.parametrize(("name", "prompt", "room"), MODELS)
def test_what_holds_for_each(name: str, prompt: str, room: int) -> None:
    found = outcomes(name, prompt, room)
    assert found["ring"].off == pytest.approx(found["window"].off, abs=1e-12)
    assert ("shift" in found) == (shipped(name).config.position == "rope")
    n_prompt = len(shipped(name).tokenizer.encode(prompt))
    for policy, one in found.items():
        if policy == "all":
            assert max(one.off) <= 1e-12 and one.held[-1] == shipped(name).config.n_ctx
            continue
        full = n_prompt if policy == "snapkv" else room  # as long as nothing has left, nothing is off
        assert max(one.off[:full]) <= 1e-12 < max(one.off[full:])
        assert policy == "snapkv" or max(one.held) == room
        assert all(0 <= variation <= 1 for variation in one.variation)
    assert max(found["snapkv"].held) < shipped(name).config.n_ctx


@pytest.mark.parametrize(("name", "prompt", "room"), MODELS)
def test_first_is_where_the_policy_alone_writes_another_token(name: str, prompt: str, room: int) -> None:
    model = shipped(name)
    ids, n_prompt = text_of(model, prompt)
    cache, own = SinkCache(model.config, 1, room - 1), ids[:n_prompt]
    for at in range(len(ids) - 1):
        cache.make_room()
        logits = decode_step(model.params, model.config, own[at], cache)
        own += [int(logits.argmax())] if at >= n_prompt - 1 else []
    first = next((at for at, (a, b) in enumerate(zip(own, ids, strict=True)) if a != b), None)
    told = outcomes(name, prompt, room)["sinks"].first
    assert first == (None if told is None else told + 1)


def test_too_little_room() -> None:
    model = shipped("names")
    with pytest.raises(UserError, match="Room for 2 rows: choose 3 to 16."):
        compare(model, [1, 2, 3], 2, 2)


@pytest.mark.parametrize(("name", "prompt", "room"), MODELS)
def test_which_rows_a_step_reads(name: str, prompt: str, room: int) -> None:
    """A step reads its own row and none that comes later; the shares of all heads come to the rows that are held."""
    for policy, one in outcomes(name, prompt, room).items():
        for at, row in enumerate(one.reads):
            assert row[at] == 1 and not row[at + 1 :].any() and row.min() >= 0
            assert row.sum() == pytest.approx(one.held[at])
            if policy in ("window", "ring"):
                assert row.nonzero()[0].tolist() == list(range(max(0, at + 1 - room), at + 1))
