"""The sentences that `stories` learns, and the Spanish ones of `cuentos`: two small grammars of the project's own.

They are short and plain, but each has something that the end must look back for: who it is about (she, he), what the
weather is (sun, rain, snow), which thing was named before. That gives the attention heads something to find. In Spanish
an adjective must look back too: la niña está cansada, el niño está cansado. Everything is deterministic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

# ---- stories --------------------------------------------------------------------------------------

PEOPLE = (("girl", "she", "her"), ("boy", "he", "his"), ("woman", "she", "her"), ("man", "he", "his"))
THINGS = ("ball", "book", "boat", "kite", "hat", "cup", "lamp", "flower")
COLOURS = ("red", "blue", "green", "yellow", "little")
ANIMALS = ("cat", "dog", "bird", "horse", "fox", "mouse")
STORY_PLACES = ("garden", "sea", "river", "hill", "park", "house")

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
    deed = f"the {who} {rng.choice(deeds)} {rng.choice(STORY_PLACES)}"
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
        return f"the {one} sees a {other} and the {other} runs to the {rng.choice(STORY_PLACES)}"
    who, she, her = rng.choice(PEOPLE)
    return f"the {who} calls {her} {one} and the {one} comes to the {who}"


def evening(rng: Random) -> str:
    """In the evening the woman is tired and she sleeps"""
    who, she, her = rng.choice(PEOPLE)
    when, mood, act = rng.choice(
        (("evening", "tired", "sleeps"), ("morning", "happy", "sings"), ("night", "still", "dreams"))
    )
    return f"in the {when} the {who} is {mood} and {she} {act}"


# ---- cuentos --------------------------------------------------------------------------------------

PERSONAS = (("la niña", "ella", "a"), ("el niño", "él", "o"), ("la mujer", "ella", "a"), ("el hombre", "él", "o"))
COSAS = (
    ("una", "la", "pelota", "a"),
    ("un", "el", "libro", "o"),
    ("un", "el", "barco", "o"),
    ("una", "la", "cometa", "a"),
    ("un", "el", "sombrero", "o"),
    ("una", "la", "taza", "a"),
    ("una", "la", "lámpara", "a"),
    ("una", "la", "flor", "a"),
)
COLORES = ("roj@", "azul", "verde", "amarill@", "pequeñ@")
ANIMALES = ("gato", "perro", "pájaro", "caballo", "zorro", "ratón")
LUGARES = ("jardín", "mar", "río", "monte", "parque", "bosque")
DIAS = {
    "sol": (
        ("claro", "cálido", "luminoso"),
        ("el sol está alto", "los pájaros cantan", "el cielo está azul"),
        ("camina por el", "juega en el"),
    ),
    "lluvia": (("oscuro", "húmedo", "gris"), ("la lluvia suena", "el río está alto"), ("vuelve del", "mira el")),
    "nieve": (
        ("frío", "blanco", "quieto"),
        ("la nieve es profunda", "el lago está helado"),
        ("se queda en el", "mira el"),
    ),
}


def un_dia(rng: Random) -> str:
    """El nuevo día es claro y ..."""
    names, skies, deeds = DIAS[rng.choices(list(DIAS), weights=(3, 2, 2))[0]]
    which = rng.choices(("nuevo", "primer", "último", "largo"), weights=(4, 1, 1, 1))[0]
    who, _, _ = rng.choice(PERSONAS)
    deed = f"{who} {rng.choice(deeds)} {rng.choice(LUGARES)}"
    return (
        f"el {which} día es {rng.choice(names)} y "
        + rng.choices((skies[0], rng.choice(skies), deed), weights=(2, 1, 1))[0]
    )


def tiempo(rng: Random) -> str:
    """Llueve , así que la niña toma su paraguas"""
    who, _, _ = rng.choice(PERSONAS)
    falls, thing = rng.choice((("llueve", "paraguas"), ("nieva", "abrigo")))
    if rng.random() < 0.5:
        return f"{falls} , así que {who} toma su {thing}"
    return f"cuando {falls} , {who} quiere su {thing}"


def cosa(rng: Random) -> str:
    """El niño tiene una pelota roja y a él le gusta la pelota"""
    who, pronoun, _ = rng.choice(PERSONAS)
    one, the, what, ending = rng.choice(COSAS)
    colour, verb = rng.choice(COLORES).replace("@", ending), rng.choice(("tiene", "encuentra", "ve", "dibuja"))
    return f"{who} {verb} {one} {what} {colour} y a {pronoun} le gusta {the} {what}"


def carrera(rng: Random) -> str:
    """El perro ve un gato y el gato corre al jardín"""
    one, other = rng.sample(ANIMALES, 2)
    if rng.random() < 0.5:
        return f"el {one} ve un {other} y el {other} corre al {rng.choice(LUGARES)}"
    who, _, _ = rng.choice(PERSONAS)
    return f"{who} llama a su {one} y el {one} va con {who}"


def noche(rng: Random) -> str:
    """Por la tarde la mujer está cansada y ella descansa"""
    who, pronoun, ending = rng.choice(PERSONAS)
    when, mood, act = rng.choice(
        (("tarde", "cansad", "descansa"), ("mañana", "content", "canta"), ("noche", "quiet", "sueña"))
    )
    return f"por la {when} {who} está {mood}{ending} y {pronoun} {act}"


SENTENCE_KINDS: dict[str, tuple[Callable[[Random], str], ...]] = {
    "en": (day, weather, thing, chase, evening),
    "es": (un_dia, tiempo, cosa, carrera, noche),
}


def sentences(seed: int, lang: str = "en") -> Iterator[str]:
    """Sentences without end, each closed by a full stop."""
    rng = Random(seed)
    while True:
        yield rng.choice(SENTENCE_KINDS[lang])(rng) + " ."
