"""Whom a pronoun stands for: several words ask the same rows of a text, and one head of a trained model answers.

All is read from the record that lies beside the traces (microgpt/experiments/referring); `python -m tools.trained`
makes it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from microgpt.apps.records import record
from microgpt.experiments.referring import cross_validate, dealt, margins
from microgpt.viz.controls import Choice
from microgpt.viz.drawing.strips import ThinScale, thin_scale
from microgpt.viz.settings import Settings
from microgpt.viz.text.formats import show

REFERS = "smollm2-pronouns.json"
ASKED = " she"  # the word of the page's title, which is on show at first


class Said(NamedTuple):
    """A word after a sentence: its noun, and the best of the other rows and of the other nouns."""

    word: str
    noun: str
    weight: float
    other: str  # noun
    other_weight: float
    top: bool  # no row gets more than the noun


class View:
    def __init__(self, _: Settings) -> None:
        it = record(REFERS)
        first, layer, head = it["sentences"][0], it["layer"], it["head"]
        keys, words = np.array(it["keys"]), first["words"]
        scale = thin_scale([keys, *(np.array(word[name]) for word in words for name in ("q", "k"))])
        shown = [show(token) for token in first["tokens"]]
        self.layer, self.head, self.scale = layer, head, scale
        # a row of the cache: its token and key, and what each word gives it
        self.rows = [
            (token, scale.strip(keys[i]), [word["weights"][i] for word in words]) for i, token in enumerate(shown)
        ]
        self.told = [(one["text"], meanings(one)) for one in it["sentences"]]  # and its words that stand for one noun
        every, by_head = [word for _, said_ in self.told for word in said_], margins(it["sentences"])
        self.choices = (Choice("word", range(len(words)), [word["word"] for word in words].index(ASKED)),)
        self.model, self.source, self.text = it["model"], it["source"], first["text"]
        self.words = [Word(word, scale, shown) for word in words]
        self.n_words = len(every)
        self.right = sum(word.weight > word.other_weight for word in every)  # words at which no other noun gets more
        self.top = sum(word.top for word in every)  # of these, no other row
        self.heads = by_head[0].size
        self.all_right = int((by_head > 0).all(axis=0).sum())  # heads that are right at all words
        self.margin = float(by_head[:, layer, head].mean())  # the mean, of the chosen head
        right_there = int((by_head[:, layer, head] > 0).sum())
        # words of held-out sentences at which the chosen head is right
        chosen, self.held = cross_validate(it["sentences"])
        self.same = chosen.count((layer, head))  # of these choices, those that are the head of the page
        nouns = [len(one["nouns"]) for one in it["sentences"] for word in one["words"] if word["noun"] is not None]
        # words at which a head is right that gives its weights to nouns by chance
        self.even = sum(1 / n for n in nouns)
        by_chance = dealt(it["sentences"])  # the nouns are dealt out to the words, in all ways
        self.ways, self.mean = len(by_chance), float(by_chance.mean())  # words at which the head chosen then is right
        self.as_good = int((by_chance >= right_there).sum())  # ways in which it is right as often as here
        self.apart = [tell_apart(word, shown) for word in words if word["noun"] is None]


view = View


def tell_apart(word: dict[str, Any], tokens: list[str]) -> tuple[str, str, float, str, float]:
    """A word that stands for none of the nouns alone, and the two rows that get most of its weight, each with it."""
    weights = word["weights"][:-1]
    second, most = (int(i) for i in np.argsort(weights)[-2:])
    return show(word["word"]), tokens[most], weights[most], tokens[second], weights[second]


class Word:
    """A word that may come next: its q and its own key in the head, and the row that gets most of its weight."""

    def __init__(self, word: dict[str, Any], scale: ThinScale, tokens: list[str]) -> None:
        *weights, own = word["weights"]
        at, q, key = int(np.argmax(weights)), np.array(word["q"]), np.array(word["k"])
        self.token, self.q, self.key = show(word["word"]), scale.strip(q), scale.strip(key)
        self.most, self.weight, self.own = tokens[at], weights[at], own


def meanings(sentence: dict[str, Any]) -> list[Said]:
    found, tokens = list[Said](), sentence["tokens"]
    for word in sentence["words"]:
        noun, weights = word["noun"], word["weights"]
        if noun is not None:
            other = max((at for at in sentence["nouns"] if at != noun), key=weights.__getitem__)
            top = max(weights) == weights[noun]
            found.append(
                Said(show(word["word"]), show(tokens[noun]), weights[noun], show(tokens[other]), weights[other], top)
            )
    return found
