"""The page on memory says what the formulas give, and answers the reader's numbers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from microgpt.architectures.known import PRESETS
from microgpt.viz.lessons.memory import amount, describe, view
from microgpt.viz.session import dispatch
from microgpt.viz.settings import Settings

FIELDS = {
    "page": "memory", "preset": "Llama-3-8B", "size": "bfloat16", "batch": "8", "tokens": "4096", "memory": "24",
    "config": "",
}  # fmt: skip


def answer(**fields: str) -> list[dict[str, str]]:
    return dispatch(None, "calculate", {**FIELDS, **fields})[1]


@pytest.mark.parametrize("name", PRESETS)
def test_the_factors_multiply_to_the_bytes(name: str) -> None:
    known = describe(PRESETS[name])
    product = 1
    for figure, _ in known.factors:
        product *= int(figure.replace(",", ""))
    assert product == PRESETS[name].bytes_per_token() == int(known.per_token.replace(",", ""))


@pytest.mark.parametrize(("model", "prompt"), [("names", "emm"), ("stories", "the next day")])
def test_what_is_held_is_counted_and_is_the_formula(model: str, prompt: str) -> None:
    shown = view(Settings(model, prompt))
    assert shown.total["half"] == shown.total["formula"]
    each = sum(int(h.k.replace(",", "")) + int(h.v.replace(",", "")) for h in shown.held)
    assert each == int(shown.total["numbers"].replace(",", ""))


def test_the_calculator_gives_the_presets_figures() -> None:
    patches = answer()
    assert [p["target"] for p in patches] == ["#calculated", "#prompt-error"]
    assert "131,072" in patches[0]["html"]
    assert "65,536" in answer(size="float8")[0]["html"]
    pasted = {
        "n_embd": 768, "n_layer": 12, "n_head": 12, "n_positions": 1024, "vocab_size": 50257,
    }  # fmt: skip
    assert "36,864" in answer(config=json.dumps(pasted))[0]["html"]


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"batch": "0"}, "batch"), ({"tokens": "many"}, "many"), ({"memory": "-3"}, "memory"),
        ({"config": "{"}, "JSON"), ({"config": "{}"}, "num_hidden_layers"), ({"preset": "x"}, "“x”"),
        ({"size": "x"}, "“x”"), ({"tokens": "10000000000"}, "tokens from 1 to 1,000,000,000."),
        ({"batch": "٣"}, "sequences from 1 to 1,000,000,000."), ({"memory": "1_0"}, "GiB from 1 to 1,000,000,000."),
    ],
)  # fmt: skip
def test_what_is_wrong_gets_a_sentence_and_the_last_result_stays(fields: dict[str, Any], says: str) -> None:
    patches = answer(**fields)
    assert [p["target"] for p in patches] == ["#prompt-error"]
    assert says in patches[0]["html"]


def test_bytes_are_written_in_their_unit() -> None:
    assert [amount(n) for n in (12, 2048, 2**31, 5 * 2**40)] == ["12 B", "2.0 KiB", "2.0 GiB", "5.0 TiB"]


def test_a_window_keeps_the_cache_below_the_weights_and_the_page_says_so() -> None:
    assert describe(PRESETS["Mistral-7B"]).crossing == ""
    assert "never" in answer(preset="Mistral-7B")[0]["html"]


def test_of_experts_a_step_reads_those_that_it_runs() -> None:
    known = describe(PRESETS["DeepSeek-V3"], batch=1)
    assert known.active == known.reads[0].weights != known.weights
