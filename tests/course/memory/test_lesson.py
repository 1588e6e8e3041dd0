"""The page on memory says what the formulas give, and answers the reader's numbers."""

import json
import math

import pytest

from microgpt.architectures.known import PRESETS
from microgpt.course.memory.lesson import ASKED, ModelShape, view
from microgpt.course.prefill_and_decode.passes import large_pass
from microgpt.viz.session import dispatch
from microgpt.viz.settings import Settings
from microgpt.viz.text.formats import size_text
from tests.support.pages import classes, drawn, find, numbers

FIELDS = dict(
    field.split("=")
    for field in "page=memory preset=Llama-3-8B size=bfloat16 batch=8 tokens=4096 memory=24 config=".split()
)


def answer(**fields: str) -> list[dict[str, str]]:
    return dispatch(None, "calculate", {**FIELDS, **fields})[1]


def test_the_factors_multiply_to_the_bytes() -> None:
    for preset in PRESETS.values():
        known = ModelShape(preset)
        assert math.prod(factor.n for factor in known.factors) == preset.bytes_per_token() == known.per_token


def test_the_box_of_a_token_is_as_large_as_its_bytes() -> None:
    shown = view(Settings("names", "emm"))
    areas = [wide * tall for wide, tall in zip(shown.wide, shown.tall, strict=True)]
    assert areas == pytest.approx([areas[0] * one.per_token / shown.known[0].per_token for one in shown.known])
    assert areas == sorted(areas)
    assert max(shown.wide) == max(shown.tall) == 1
    assert [one.model.name for one in shown.known if one.model.latent] == ["DeepSeek-V3"]


@pytest.mark.parametrize(("model", "prompt"), [("names", "emm"), ("stories", "the next day")])
def test_what_is_held_is_counted_and_is_the_formula(model: str, prompt: str) -> None:
    shown = view(Settings(model, prompt))
    assert shown.bytes == shown.formula
    assert sum(k + v for _, _, k, v in shown.held) == shown.numbers


def test_the_calculator_gives_the_presets_figures() -> None:
    patches = answer()
    assert [p["target"] for p in patches] == ["#calculated", "#prompt-error"]
    assert "131,072" in patches[0]["html"]
    assert "65,536" in answer(size="float8")[0]["html"]
    pasted = {"n_embd": 768, "n_layer": 12, "n_head": 12, "n_positions": 1024, "vocab_size": 50257}
    assert "36,864" in answer(config=json.dumps(pasted))[0]["html"]


WRONG: list[tuple[dict[str, str], str]] = [
    ({"batch": "0"}, "batch"),
    ({"tokens": "many"}, "many"),
    ({"memory": "-3"}, "memory"),
    ({"config": "{"}, "JSON"),
    ({"config": "{}"}, "num_hidden_layers"),
    ({"preset": "x"}, "“x”"),
    ({"size": "x"}, "“x”"),
    ({"tokens": "10000000000"}, "tokens from 1 to 1,000,000,000."),
    ({"batch": "٣"}, "sequences from 1 to 1,000,000,000."),
    ({"memory": "1_0"}, "GB from 1 to 1,000,000,000."),
]


def test_what_is_wrong_gets_a_sentence_and_the_last_result_stays() -> None:
    for fields, says in WRONG:
        (patch,) = answer(**fields)
        assert patch["target"] == "#prompt-error" and says in patch["html"], fields


def test_what_a_step_reads_of_the_weights_is_one_figure_in_all_lessons() -> None:
    """All but the embedding table, of which it looks up a row; memory and prefill-and-decode said two once."""
    llama, step = PRESETS["Llama-3-8B"], large_pass("Llama-3-8B", "decode")
    known = ModelShape(llama, batch=1)
    assert known.read == step.weight_bytes == 2 * (8_030_261_248 - 128_255 * 4096)
    assert (size_text(known.weights), size_text(known.read)) == ("16.1 GB", "15.0 GB")
    assert known.crossing == -(-step.weight_bytes // 131_072) == 114_517


@pytest.mark.parametrize("model", ["GPT-2 124M", "Llama-3-8B"])
def test_a_text_longer_than_the_model_sees_is_priced_and_said_to_be_too_long(model: str) -> None:
    n_ctx = f"{PRESETS[model].config.n_ctx:,}"
    assert f"at most {n_ctx} tokens" in answer(preset=model, tokens="100000")[0]["html"]
    assert "A longer text" not in answer(preset=model, tokens=n_ctx.replace(",", ""))[0]["html"]


def test_so_many_texts_read_more_cache_than_weights_and_one_fewer_do_not() -> None:
    shown, model = view(Settings("names", "emm")), PRESETS["Llama-3-8B"]
    assert shown.crowd == 14
    assert model.cache_bytes(8192, 14) >= model.weight_bytes_read(batch=14)
    assert model.cache_bytes(8192, 13) < model.weight_bytes_read(batch=13)


def test_a_window_keeps_the_cache_below_the_weights_and_the_page_says_so() -> None:
    assert ModelShape(PRESETS["Mistral-7B"]).crossing is None
    assert "never" in answer(preset="Mistral-7B")[0]["html"]


def test_of_experts_a_step_reads_those_that_it_runs() -> None:
    known = ModelShape(PRESETS["DeepSeek-V3"], batch=1)
    assert known.read == known.reads[0][1] < known.weights / 10
    assert "run the same expert" in answer(preset="DeepSeek-V3")[0]["html"]
    assert "run the same expert" not in answer()[0]["html"]


def test_each_line_of_a_factor_comes_to_the_bytes_of_a_token_and_each_factor_has_one() -> None:
    _, tree = drawn("memory", "names", "emm")
    for known, panel in zip(view(Settings("names", "emm")).known, find(find(tree, "cases")[0], "C"), strict=True):
        lines = list(find(panel, "replies")[0])
        said = [[int(one) for one in numbers(line)] for line in lines]
        assert all(n * each == whole == known.model.bytes_per_token() for n, each, whole in said)
        assert [n for n, *_ in said] == [factor.n for factor in known.factors]
        asked = [(one.get("for") or "").removeprefix("ask-") for one in find(panel, "factor", "hit")]
        assert [name in classes(line) for name, line in zip(asked, lines, strict=True)] == [True] * len(lines)
        assert set(ASKED) == {name for line in lines for name in classes(line)}
