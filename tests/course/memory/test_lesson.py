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


PASTED = json.dumps({"n_embd": 768, "n_layer": 12, "n_head": 12, "n_positions": 1024, "vocab_size": 50257})
SAYS: list[tuple[dict[str, str], str, str]] = [  # fields, what the answer says, and what it does not
    ({}, "131,072", "run the same expert"),
    ({"size": "float8"}, "65,536", "A longer text"),
    ({"config": PASTED}, "36,864", "run the same expert"),
    ({"preset": "GPT-2 124M", "tokens": "1024"}, "at most 1,024 tokens", "A longer text"),
    ({"preset": "GPT-2 124M", "tokens": "1025"}, "A longer text", "never"),
    ({"preset": "Mistral-7B"}, "never", "run the same expert"),  # a window keeps the cache below the weights
    ({"preset": "DeepSeek-V3"}, "run the same expert", "never"),
]
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


def test_the_calculator_answers_or_leaves_the_last_result_with_a_sentence() -> None:
    for fields, says, not_this in SAYS:
        patches = answer(**fields)
        assert [patch["target"] for patch in patches] == ["#calculated", "#prompt-error"]
        assert says in patches[0]["html"] and not_this not in patches[0]["html"], fields
    for fields, says in WRONG:
        (patch,) = answer(**fields)
        assert patch["target"] == "#prompt-error" and says in patch["html"], fields
    known = ModelShape(PRESETS["DeepSeek-V3"], batch=1)
    assert known.read == known.reads[0][1] < known.weights / 10


def test_what_a_step_reads_of_the_weights_is_one_figure_in_all_lessons() -> None:
    """All but the embedding table, of which it looks up a row; memory and prefill-and-decode said two once."""
    llama, step = PRESETS["Llama-3-8B"], large_pass("Llama-3-8B", "decode")
    known = ModelShape(llama, batch=1)
    assert known.read == step.weight_bytes == 2 * (8_030_261_248 - 128_255 * 4096)
    assert (size_text(known.weights), size_text(known.read)) == ("16.1 GB", "15.0 GB")
    assert known.crossing == -(-step.weight_bytes // 131_072) == 114_517


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
