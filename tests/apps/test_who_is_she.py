"""Whom a pronoun stands for: what its page says, found again in the record by other means."""

import itertools
import json
from typing import Any

import numpy as np

from microgpt.apps.records import TRACES
from microgpt.apps.who_is_she.app import REFERS
from microgpt.viz.text.formats import show
from tests.support.pages import by_id, cells, classes, numbers, text, tree_of

PAGE = "who-is-she"
TOLD: dict[str, Any] = json.loads((TRACES / REFERS).read_text("utf-8"))
LAYER, HEAD, FIRST = TOLD["layer"], TOLD["head"], TOLD["sentences"][0]
WORDS = [(one, word) for one in TOLD["sentences"] for word in one["words"] if word["noun"] is not None]


def test_weights_follow_from_the_keys_and_queries_of_the_record() -> None:
    keys = np.array(TOLD["keys"])
    assert keys.shape == (len(FIRST["tokens"]), 64)
    for word in FIRST["words"]:
        scores = np.vstack([keys, word["k"]]) @ np.array(word["q"]) / 8
        e = np.exp(scores - scores.max())
        assert np.abs(e / e.sum() - word["weights"]).max() < 5e-4


def test_the_record_is_whole() -> None:
    for one in TOLD["sentences"]:
        assert "".join(one["tokens"]) == one["text"] and 2 <= len(one["nouns"]) <= 3
        for word in one["words"]:
            on = np.array(word["on_nouns"])
            assert on.shape == (30, 9, len(one["nouns"])) and (on >= 0).all() and (on.sum(-1) < 1.001).all()
            assert on[LAYER, HEAD].tolist() == [word["weights"][at] for at in one["nouns"]]
            assert abs(sum(word["weights"]) - 1) < 1e-3 and len(word["weights"]) == len(one["tokens"]) + 1


def test_a_bar_for_every_row_and_every_word() -> None:
    table = next(e for e in tree_of(PAGE).iter() if e.get("class") == "asking")
    rows = [row for row in table.iter("tr")][2:]
    assert len(rows) == len(FIRST["tokens"]) + 1
    for i, row in enumerate(rows):
        figures = [text(e) for e in row.iter("b") if "D" in classes(e)]
        assert figures == [f"{word['weights'][i]:.2f}" for word in FIRST["words"]]
        strips = [e for e in row.iter() if "strip" in classes(e)]
        assert len(strips) == (1 if i < len(FIRST["tokens"]) else len(FIRST["words"]))
        if i < len(FIRST["tokens"]):
            assert text(row[0]).strip() == show(FIRST["tokens"][i])


def test_an_arc_is_as_thick_as_the_weight_and_the_title_s_word_is_on_show() -> None:
    (sentence,) = (e for e in tree_of(PAGE).iter("div") if "sentence" in classes(e))
    arcs = [e for e in sentence if "arc" in classes(e)]
    thick = [[next(c for c in classes(at) if c[0] == "w") for at in arc.iter("span") if at is not arc] for arc in arcs]
    told = zip(*(word["weights"][:-1] for word in FIRST["words"]), strict=True)
    assert thick == [[f"w{round(100 * weight)}" for weight in row] for row in told]
    (on_show,) = (e for e in tree_of(PAGE).iter("input") if e.get("name") == "word" and e.get("checked") is not None)
    assert (on_show.get("aria-label") or "").endswith("she")


def test_each_word_is_said_to_give_most_to_its_noun() -> None:
    done = [text(e) for e in tree_of(PAGE).iter("p") if e.get("class") == "done"]
    for said, word in zip(done, FIRST["words"], strict=True):
        *weights, _ = word["weights"]
        most = int(np.argmax(weights))
        assert show(word["word"]) in said and show(FIRST["tokens"][most]) in said and f"{weights[most]:.2f}" in said
        assert word["noun"] in (most, None)


def test_one_head_is_right_at_every_word() -> None:

    def is_right(on: list[float], noun: int) -> bool:
        return on[noun] == max(on) and sorted(on)[-2] < max(on)

    places = [one["nouns"].index(word["noun"]) for one, word in WORDS]
    told = [word["on_nouns"] for _, word in WORDS]
    right = np.array(
        [[[is_right(on, at) for on in heads] for heads in layers] for layers, at in zip(told, places, strict=True)]
    )
    every = int(right.all(axis=0).sum())
    assert numbers(by_id(PAGE)["right"]) == [right[:, LAYER, HEAD].sum(), len(WORDS), 270, every]
    assert every == 1 and right[:, LAYER, HEAD].all(), "what the page is about"
    weights = [(np.array(layers), at) for layers, at in zip(told, places, strict=True)]
    mean = np.mean([on[..., at] - np.delete(on, at, axis=-1).max(-1) for on, at in weights], axis=0)
    assert np.unravel_index(mean.argmax(), mean.shape) == (LAYER, HEAD)
    assert numbers(by_id(PAGE)["rule"]) == [len(WORDS), len(TOLD["sentences"]), 270, round(float(mean.max()), 2)]


def test_every_word_has_its_line() -> None:
    lines = [row for row in cells(by_id(PAGE)["by-word"])[1:] if len(row) == 4]
    assert len(lines) == len(WORDS)
    for line, (one, word) in zip(lines, WORDS, strict=True):
        weights, others = word["weights"], [at for at in one["nouns"] if at != word["noun"]]
        best = max(others, key=lambda at: weights[at])
        tokens = [show(token) for token in one["tokens"]]
        assert line[:3] == [show(word["word"]), tokens[word["noun"]], f"{weights[word['noun']]:.2f}"]
        assert line[3].split() == [f"{weights[best]:.2f}", tokens[best]]
    top = sum(max(word["weights"]) == word["weights"][word["noun"]] for _, word in WORDS)
    assert numbers(by_id(PAGE)["caution"]) == [top, len(WORDS)]
    for one, word in WORDS:  # what the sentence says of the rest
        assert int(np.argmax(word["weights"])) in (word["noun"], *set(range(99)) - set(one["nouns"]))


def test_the_head_is_right_at_words_that_it_was_not_chosen_by() -> None:
    """One sentence is left out at a time: noun by noun and head by head."""
    right, same = 0, 0
    for left in TOLD["sentences"]:
        mean = np.zeros((30, 9))
        for one, word in WORDS:
            if one is not left:
                on, at = np.array(word["on_nouns"]), one["nouns"].index(word["noun"])
                mean += [
                    [heads[at] - max(x for i, x in enumerate(heads) if i != at) for heads in layer] for layer in on
                ]
        layer, head = divmod(int(mean.argmax()), 9)
        same += (layer, head) == (LAYER, HEAD)
        for one, word in WORDS:
            if one is left:
                on = word["on_nouns"][layer][head]
                right += one["nouns"][on.index(max(on))] == word["noun"]
    assert numbers(by_id(PAGE)["held"]) == [len(TOLD["sentences"]), same, right, len(WORDS)]
    assert right == len(WORDS) and same == len(TOLD["sentences"]), "what the page is about"


def test_chance_is_said_beside_the_score() -> None:
    """A few hundred of the ways to deal the nouns out, drawn, give the mean of all of them."""
    draw, found = np.random.default_rng(0), list[int]()
    for _ in range(300):
        ahead = []
        for one in TOLD["sentences"]:
            words = [word for word in one["words"] if word["noun"] is not None]
            for word, at in zip(words, draw.permutation(len(one["nouns"])), strict=False):
                on = np.array(word["on_nouns"])
                ahead.append(on[..., at] - np.delete(on, at, axis=-1).max(-1))
        best = np.mean(ahead, axis=0).argmax()
        found.append(sum(one.ravel()[best] > 0 for one in ahead))
    even = sum(1 / len(one["nouns"]) for one, _ in WORDS)
    said_even, n_words, ways, mean, as_good, right = numbers(by_id(PAGE)["chance"])
    assert (said_even, n_words, right) == (round(even), len(WORDS), len(WORDS)) and as_good == 1
    assert ways == np.prod([len(list(itertools.permutations(one["nouns"]))) for one in TOLD["sentences"]])
    assert abs(mean - np.mean(found)) < 1 and max(found) < len(WORDS)


def test_they_has_no_noun_of_its_own() -> None:
    (word,) = [word for word in FIRST["words"] if word["noun"] is None]
    (said,) = [text(e) for e in tree_of(PAGE).iter("p") if e.get("class") == "apart"]
    (most, first), (second, after) = sorted(
        ((weight, token) for weight, token in zip(word["weights"], FIRST["tokens"], strict=False)), reverse=True
    )[:2]
    assert (
        word["word"] == " they" and f"{most:.2f} to {show(first)}" in said and f"{second:.2f} to {show(after)}" in said
    )
    assert second > 0.7 * most
    assert "they has none of its own" in text(tree_of("index"))
