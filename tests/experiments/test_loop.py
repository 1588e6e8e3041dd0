"""The loop without a cache: each pass runs everything, says what the cached run says, and repeats what was there."""

import numpy as np
import pytest

from microgpt.cost import Counter
from microgpt.errors import UserError
from microgpt.experiments import loop
from microgpt.record import Recording
from microgpt.rope import rope
from microgpt.weights import SHIPPED, Model, shipped

PROMPTS = {"names": "emm", "names-deep": "emma", "stories": "The next day"}


@pytest.fixture(params=SHIPPED)
def model(request: pytest.FixtureRequest) -> Model:
    return shipped(request.param)


def test_it_writes_what_the_cached_run_writes(model: Model) -> None:
    passes = loop.run_loop(model, PROMPTS[model.name])
    cached = Recording(model, PROMPTS[model.name])
    trace = cached.run()
    assert [*passes[-1].token_ids, passes[-1].choice] == cached.ids
    for one in passes:
        assert np.abs(one.logits - trace["logits", len(one.token_ids) - 1][0]).max() < 1e-12


def test_every_pass_runs_all_tokens_and_repeats_all_but_the_newest(model: Model) -> None:
    passes = loop.run_loop(model, PROMPTS[model.name])
    first = len(passes[0].token_ids)
    assert [len(one.trace["embed", 0]) for one in passes] == list(range(first, first + len(passes)))
    assert [one.again for one in passes] == [0, *range(first, first + len(passes) - 1)]
    n, k = first, len(passes)
    assert loop.token_passes(passes) == (k * n + k * (k - 1) // 2, k * n + k * (k - 1) // 2 - (n + k - 1))
    assert all(one.difference < 1e-12 for one in passes)


def test_a_changed_row_is_not_counted_as_a_repeat(model: Model) -> None:
    one, other = (loop.run_loop(model, prompt)[0].trace for prompt in PAIR[model.name])
    n = len(one["embed", 0])
    assert loop.count_repeats(one, other) == n - 1
    assert loop.furthest(model.config, one, other) > 1e-3


PAIR = {"names": ("emm", "amm"), "names-deep": ("emm", "amm"), "stories": ("the next day", "the first day")}


def test_the_hook_hears_every_pass(model: Model) -> None:
    counter, heard = Counter(model.config), []
    loop.run_loop(model, PROMPTS[model.name], hook=lambda report: heard.append(report[0]))
    passes = loop.run_loop(model, PROMPTS[model.name], hook=counter)
    assert heard.count("sample") == heard.count("logits") == len(passes)
    assert counter.macs[-1] == len(passes) * model.config.n_embd * model.config.vocab_size  # the last row's logits only


def test_a_full_context_ends_the_loop(model: Model) -> None:
    word = "the " if model.name == "stories" else "z"
    passes = loop.run_loop(model, word * (model.config.n_ctx - 1))
    assert len(passes) == 1 and len(passes[0].token_ids) == model.config.n_ctx
    assert loop.complete(model, passes[0].token_ids) == passes[0].token_ids


def test_a_seed_repeats_a_drawn_text_and_temperature_zero_never_draws(model: Model) -> None:
    def written(**settings: float) -> list[int]:
        return [one.choice for one in loop.run_loop(model, PROMPTS[model.name], **settings)]  # type: ignore[arg-type]

    assert written(temperature=1.0, seed=3) == written(temperature=1.0, seed=3)
    assert written(seed=1) == written(seed=2)
    drawn = loop.run_loop(model, PROMPTS[model.name], temperature=1.0, seed=3)
    assert [one.choice for one in drawn] == [one.draw for one in drawn]


def test_turns_are_those_of_rope() -> None:
    config, pos = shipped("stories").config, 3
    half = config.head_dim // 2
    turned = rope(config, range(pos, pos + 1), np.dtype(np.float64))(np.eye(config.head_dim)[None, :half])
    for i, angle in enumerate(loop.rotary_angles(config, pos)):
        assert np.allclose(turned[0, i, [i, i + half]], [np.cos(angle), np.sin(angle)])


@pytest.mark.parametrize(("prompt", "settings"), [("", {}), ("?", {}), ("a" * 40, {}), ("a", {"temperature": -1.0})])
def test_what_cannot_run_is_a_sentence(prompt: str, settings: dict[str, float]) -> None:
    with pytest.raises(UserError):
        loop.run_loop(shipped("names"), prompt, **settings)  # type: ignore[arg-type]
