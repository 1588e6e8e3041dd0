"""The listings of the lesson “In your code”: each prints what is recorded, with PyTorch and transformers of the record.

python -m tests.references.test_in_your_code        records anew, and renews the notebook
"""

import json
from importlib.metadata import version
from typing import Any, TypeAlias

import numpy as np
import pytest

from microgpt.course.in_your_code.lines import ID_BYTES, NUMBER_BYTES
from microgpt.decode import generate, recompute
from microgpt.weights import shipped
from tests.references.pytorch import torch, transformers
from tests.support.listings import (
    FOLDER,
    LIMITS,
    NOTEBOOK,
    PRINTED,
    PROMPT,
    RECORDED,
    SHARED,
    cells_print,
    listings,
    names_of,
    printed,
    printed_in_spanish,
    renewed,
)

pytestmark = pytest.mark.references

Turns: TypeAlias = tuple[tuple[int, str], ...]  # messages that stay, and what the user says


def versions() -> dict[str, str]:
    return {name: version(name).partition("+")[0] for name in ("torch", "transformers")}


@pytest.mark.parametrize("name", listings())
def test_a_listing_prints_what_is_recorded(name: str) -> None:
    assert printed(name) == RECORDED["printed"][name]


def test_those_of_the_spanish_page_print_what_is_recorded() -> None:
    assert printed_in_spanish(listings()) == RECORDED["printed_es"]


@pytest.mark.parametrize("name", ["with_cache", "without_cache"])
@pytest.mark.parametrize("prompt", [PROMPT, *LIMITS])
def test_a_loop_ends_with_the_logits_of_our_model(name: str, prompt: str) -> None:
    """In float32, against our float64: words alone would not tell a small mistake."""
    found, ours = names_of(name, (PROMPT, prompt)), shipped("stories")
    logits = found["out"].logits[0, -1].numpy()
    assert np.allclose(logits, recompute(ours.params, ours.config, found["ids"][:-1]), rtol=0, atol=1e-4)
    if name == "with_cache":
        kept = found["past"].layers[0].keys
        assert (kept.element_size(), found["input_ids"].element_size()) == (NUMBER_BYTES, ID_BYTES)
    assert names_of("generate", (PROMPT, prompt))["out"].sequences[0].tolist() == found["ids"]


@pytest.mark.parametrize(
    ("turns", "kept"),
    [
        (((0, "The"), (0, "The sun")), [0, 2]),  # the next one begins with all of the last
        (((0, "The sun"), (0, "The cat")), [0, 2]),
        (((0, "The sun"), (0, "The")), [0, 1]),
        (((0, "The sun"), (0, "The sun")), [0, 2]),
        (((0, ""), (0, "")), [0, 0]),  # a single id, which must run
    ],
)
def test_turns_keep_all_that_they_can_and_leave_one_to_run(turns: Turns, kept: list[int]) -> None:
    """The listing prints whether each answer is that from scratch."""
    lines = play(turns)["printed"].splitlines()
    assert [int(line.split()[3]) for line in lines] == kept
    assert all(line.endswith("same: True") for line in lines)


@pytest.mark.parametrize("turns", [((0, "The sun"), (2, "The cat")), ((0, ""), (2, "The cat"))])
def test_a_turn_that_goes_on_finds_all_rows_and_is_answered_as_our_model_answers(turns: Turns) -> None:
    found, ours = play(turns), shipped("stories")
    rows = [[int(n) for n in line.split()[1:6:2]] for line in found["printed"].splitlines()]
    assert all(held == kept for held, kept, _ in rows) and sum(rows[-1][1:]) == len(found["ids"])
    end = ours.tokenizer.start
    assert found["said"] == list(generate(ours.params, ours.config, found["ids"], 8, stop=end))


def play(turns: Turns) -> dict[str, Any]:
    """The chat with these turns."""
    text = (FOLDER / "chat.py").read_text("utf-8")
    return names_of("chat", (text[text.index("turns = (") : text.index("messages, past")], f"turns = {turns}\n"))


def test_a_length_that_is_made_a_variable_still_takes_more_graphs_than_a_static_one() -> None:
    lines = names_of("static_cache", (", dynamic=False", ""))["printed"].splitlines()
    grown, fixed = (int(line.split()[-1]) for line in lines)
    recorded = [int(line.split()[-1]) for line in RECORDED["printed"]["static_cache"].splitlines()]
    assert fixed == recorded[1] < grown < recorded[0]


def test_padding_of_none_changes_nothing() -> None:
    names = names_of("left_padding", ('encode("The cat")', 'encode("The sun is so warm")'))
    assert names["n_pad"] == 0 and names["apart"] < 1e-4


def test_the_notebook_prints_the_same() -> None:
    found = cells_print([*listings(), *SHARED])
    assert {name: text for name, text in found.items() if text} == RECORDED["printed"]


def test_what_the_page_says_of_generate_and_of_a_static_cache() -> None:
    """Given the mask, generate works the positions out; a StaticCache reserves all rows at once."""
    torch.manual_seed(0)
    sizes = {"vocab_size": 99, "n_positions": 24, "n_embd": 32, "n_layer": 2, "n_head": 4, "initializer_range": 0.4}
    model = transformers.GPT2LMHeadModel(transformers.GPT2Config(**sizes, bos_token_id=98, eos_token_id=98)).eval()
    batch = torch.tensor([[0, 0, 0, 98, 79, 15], [98, 1, 2, 3, 4, 5]])
    mask = torch.tensor([[0, 0, 0, 1, 1, 1], [1, 1, 1, 1, 1, 1]])
    asked = {"max_new_tokens": 6, "do_sample": False, "pad_token_id": 0}
    padded = model.generate(batch, attention_mask=mask, **asked)[0, 6:]
    alone = model.generate(batch[:1, 3:], attention_mask=mask[:1, 3:], **asked)[0, 3:]
    assert padded.tolist() == alone.tolist()
    assert model.generate(batch, attention_mask=torch.ones_like(mask), **asked)[0, 6:].tolist() != alone.tolist()
    past = transformers.StaticCache(config=model.config, max_cache_len=24)
    model(batch, past_key_values=past)
    assert list(past.layers[0].keys.shape) == [2, 4, 24, 8] and int(past.get_seq_length()) == 6


def test_the_record_names_these_versions_and_these_listings() -> None:
    assert RECORDED["versions"] == versions()
    assert list(RECORDED["printed"]) == list(RECORDED["printed_es"]) == listings()


if __name__ == "__main__":
    told = {"printed": {name: printed(name) for name in listings()}, "printed_es": printed_in_spanish(listings())}
    made = {"versions": versions()} | told
    PRINTED.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", "utf-8")
    NOTEBOOK.write_text(json.dumps(renewed(), indent=1, ensure_ascii=False) + "\n", "utf-8")
