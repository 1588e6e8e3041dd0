"""A small grammar that writes the sentences which the `stories` model learns from.

The sentences are short and plain, but each has something that the end must look back for: who it is
about (she, he), what the weather is (sun, rain, snow), which thing was named before. That gives the
attention heads something to find. `sentences(seed)` is deterministic.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

PEOPLE = (("girl", "she", "her"), ("boy", "he", "his"), ("woman", "she", "her"), ("man", "he", "his"))
THINGS = ("ball", "book", "boat", "kite", "hat", "cup", "lamp", "flower")
COLOURS = ("red", "blue", "green", "yellow", "little")
ANIMALS = ("cat", "dog", "bird", "horse", "fox", "mouse")
PLACES = ("garden", "sea", "river", "hill", "park", "house")

# what kind of day it is -> how such a day is called, what the sky does, what people do
DAYS = {
    "sun": (
        ("bright", "warm", "clear"),
        ("the sun is warm", "the birds sing", "the sky is blue"),
        ("walks to the", "plays by the"),
    ),
    "rain": (("dark", "wet", "grey"), ("the rain is loud", "the river is high"), ("runs from the", "looks at the")),
    "snow": (("cold", "white", "still"), ("the snow is deep", "the lake is ice"), ("stays in the", "looks at the")),
}


def day(rng: Random) -> str:
    """The next day is bright and ..."""
    names, skies, deeds = DAYS[rng.choices(list(DAYS), weights=(3, 2, 2))[0]]
    which = rng.choices(("next", "first", "last", "long"), weights=(4, 1, 1, 1))[0]
    start = f"the {which} day is {rng.choice(names)} and "
    who, she, her = rng.choice(PEOPLE)
    deed = f"the {who} {rng.choice(deeds)} {rng.choice(PLACES)}"
    return start + rng.choices((skies[0], rng.choice(skies), deed), weights=(2, 1, 1))[0]


def weather(rng: Random) -> str:
    """It rains , so the girl takes her hat"""
    who, she, her = rng.choice(PEOPLE)
    falls, thing = rng.choice((("rains", "umbrella"), ("snows", "coat")))
    if rng.random() < 0.5:
        return f"it {falls} , so the {who} takes {her} {thing}"
    return f"when it {falls} , the {who} wants {her} {thing}"


def thing(rng: Random) -> str:
    """The boy has a red ball and he likes the ball"""
    who, she, her = rng.choice(PEOPLE)
    colour, what = rng.choice(COLOURS), rng.choice(THINGS)
    verb = rng.choice(("has", "finds", "sees", "draws"))
    return f"the {who} {verb} a {colour} {what} and {she} likes the {what}"


def chase(rng: Random) -> str:
    """The dog sees a cat and the cat runs to the garden"""
    one, other = rng.sample(ANIMALS, 2)
    if rng.random() < 0.5:
        return f"the {one} sees a {other} and the {other} runs to the {rng.choice(PLACES)}"
    who, she, her = rng.choice(PEOPLE)
    return f"the {who} calls {her} {one} and the {one} comes to the {who}"


def evening(rng: Random) -> str:
    """In the evening the woman is tired and she sleeps"""
    who, she, her = rng.choice(PEOPLE)
    when, mood, act = rng.choice(
        (("evening", "tired", "sleeps"), ("morning", "happy", "sings"), ("night", "still", "dreams"))
    )
    return f"in the {when} the {who} is {mood} and {she} {act}"


def sentences(seed: int) -> Iterator[str]:
    """Sentences without end, each closed by a full stop."""
    rng = Random(seed)
    while True:
        yield rng.choice((day, weather, thing, chase, evening))(rng) + " ."
