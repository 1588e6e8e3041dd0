"""What the models that ship learn from, and for how long: the recipes by which anyone can make their weights again.

Two learn first names; `stories` and `cuentos` learn sentences of small grammars (sentences.py); `own_run` learns what a
reader brings, in any alphabet. Everything is deterministic.
"""

from __future__ import annotations

import errno
import re
import string
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np

from microgpt.config import Array, Config, split
from microgpt.data.sentences import sentences
from microgpt.errors import N_, UserError, printable
from microgpt.files import megabytes, open_file
from microgpt.tokenizer import START, CharTokenizer, WordTokenizer
from microgpt.weights import OWN_MODEL, TRAINED, Model, init

DATA = Path(__file__).parent / "data"
LONGEST_LIST = 20_000_000  # bytes of such a list
N_NAMES = 32_033  # in the whole list


class Recipe(NamedTuple):
    """What a named model is trained with; `rng` goes on to draw the samples."""

    config: Config
    tokenizer: CharTokenizer
    texts: Iterable[Sequence[int]]
    vector: Array
    rng: Random
    steps: int
    rate: float
    decay: float = 0.0
    prompt: str = ""  # how one of the texts begins


def names_run(data: Path | None, n_layer: int, steps: int, rate: float) -> Recipe:
    """microgpt's own order: one generator shuffles the names, draws the weights, and later the samples."""
    if data is None:
        raise UserError("This model learns from a list of names, one a line: give it with --data FILE.")
    try:
        with open_file(data) as file:
            text = file.read(LONGEST_LIST + 1)
        if len(text) > LONGEST_LIST:
            raise OSError(errno.EFBIG, f"it is longer than {megabytes(LONGEST_LIST)} MB")
        lines = [line.strip() for line in text.decode("utf-8-sig").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise UserError(
            "%(path)s cannot be read (%(why)s). Give a text file, one name a line.", path=data, why=why
        ) from None
    for at, line in enumerate(lines, 1):
        if strange := set(line) - set(string.ascii_lowercase):
            sentence = N_("%(path)s, line %(at)s: “%(line)s” has the character “%(first)s”; a name is made of a to z.")
            raise UserError(sentence, path=data, at=at, line=line[:40], first=min(strange, key=line.index))
    names = [line for line in lines if line]
    if not names:
        raise UserError("%(path)s holds no names. Give a text file, one name a line.", path=data)
    rng = Random(42)
    rng.shuffle(names)
    return run_on(names, rng, n_layer, steps, rate)


def first_thousand() -> Recipe:
    """The run of `names` without the whole list: its thousand steps see a thousand names, which lie in the package.

    Shuffling any list as long as the whole one leaves the generator where microgpt draws its weights.
    """
    rng = Random(42)
    rng.shuffle(list(range(N_NAMES)))
    names = (DATA / "names-1000.txt").read_text("utf-8").split()
    return run_on(names, rng, n_layer=1, steps=len(names), rate=0.01)


def run_on(names: Sequence[str], rng: Random, n_layer: int, steps: int, rate: float) -> Recipe:
    """A run on names in this order; the weights are drawn from `rng`."""
    tokenizer, config = CharTokenizer([*string.ascii_lowercase, START]), Config(n_layer=n_layer)
    vector = init(config, rng)
    longest = config.n_ctx + 1
    texts = ([*tokenizer.encode(name), tokenizer.start][:longest] for name in cycle(names))
    return Recipe(config, tokenizer, texts, vector, rng, steps, rate)


def stories_run(steps: int, rate: float, lang: str = "en", latent: bool = False) -> Recipe:
    """Sentences of one of the project's own grammars; the vocabulary is what a long stretch of it uses.

    With `latent` rows a token keeps 16 numbers per layer in place of 32: a latent of 12 and a short key of 4. A head's
    key then has 8 numbers of its own and the 4 that turn; its value has 8, as without.
    """
    words = sorted({word for sentence in islice(sentences(0, lang), 20_000) for word in sentence.split()})
    tokenizer = WordTokenizer([*words, START])
    config = replace(Config(2, 32, 4, 2, 8, 64, 24, len(words) + 1), position="rope", norm="rms", embd_norm=False)
    config = replace(config, final_norm=True, mlp="swiglu", tied=True)
    if latent:
        config = replace(config, n_kv_head=1, head_dim=12, kv_lora_rank=12, rope_dim=4)
    rng = Random(42)
    texts = ([*tokenizer.encode(sentence), tokenizer.start] for sentence in sentences(1, lang))
    return Recipe(config, tokenizer, texts, init(config, rng), rng, steps, rate, 0.03)


def prepare(name: str, data: Path | None, steps: int | None = None) -> Recipe:
    """How the model of that name is trained."""
    if name == "names":
        return names_run(data, 1, steps or 1000, 0.01)
    if name == "names-deep":  # deeper models want smaller steps, and more of them
        return names_run(data, 4, steps or 20_000, 0.003)
    if name in ("stories", "stories-mla", "cuentos", "cuentos-mla"):
        lang, latent = "es" if name.startswith("cuentos") else "en", name.endswith("-mla")
        return stories_run(steps or 12_000, 0.005, lang, latent)
    raise UserError("There is no model “%(name)s”. Choose one of: %(known)s.", name=name, known=", ".join(TRAINED))


# ---- what a reader brings -------------------------------------------------------------------------

LONGEST_DATA = 200_000  # characters
LEAST_TEXTS, MOST_TOKENS, LONGEST_TEXT = 5, 500, 23  # different ones; in the vocabulary; in a text, as in `stories`
LONGEST_WORD = {"letters": LONGEST_TEXT, "words": 60}  # letters
SHORTEST = 8  # positions: room to go on behind a short word
BREAKS = {
    "letters": r"[\n,;\t，、；،]",
    "words": r"\n|(?<=[.!?。！？])(?=\s)",
}  # what ends a text: a word, or a sentence
SIZES = {  # of each its shape, its steps and its rate
    "small": (Config(), 1000, 0.01),
    "medium": (Config(n_layer=2, n_embd=32, head_dim=8), 2000, 0.005),
}


def own_run(data: str, kind: str = "letters", size: str = "small") -> Recipe:
    """A run on a list of words, letter by letter, or on a text, word by word. Raises UserError for what cannot work."""
    texts = own_texts(data, kind)
    tokens = sorted({piece for pieces in texts for piece in pieces})
    if len(tokens) > MOST_TOKENS:
        letters = N_("The list has %(n)s different letters; a model here knows at most %(most)s.")
        words = N_(
            "The text has %(n)s different words; a model here knows at most %(most)s. Give less of it, or take letters."
        )
        raise UserError(letters if kind == "letters" else words, n=len(tokens), most=MOST_TOKENS)
    shape, steps, rate = SIZES[size]
    n_ctx = max(SHORTEST, 1 + max(map(len, texts)))
    config = replace(shape, n_ctx=n_ctx, vocab_size=len(tokens) + 1)
    tokenizer = (CharTokenizer if kind == "letters" else WordTokenizer)([*tokens, START])
    first = texts[0][: max(3, len(texts[0]) // 2)]
    rng = Random(42)
    rng.shuffle(texts)
    vector = init(config, rng)
    ids = cycle([[tokenizer.start, *(tokenizer.ids[one] for one in pieces), tokenizer.start] for pieces in texts])
    return Recipe(
        config, tokenizer, ids, vector, rng, steps, rate, prompt=tokenizer.decode([tokenizer.ids[one] for one in first])
    )


def own_texts(data: str, kind: str) -> list[list[str]]:
    """The texts that a model is to learn, in their pieces."""
    if len(data) > LONGEST_DATA:
        sentence = N_("The text has %(n)s characters; at most %(most)s are taken here.")
        raise UserError(sentence, n=format(len(data), ","), most=format(LONGEST_DATA, ","))
    plain = unicodedata.normalize("NFC", "".join(one for one in data if unicodedata.category(one) != "Cf"))
    if strange := next((one for one in plain if not one.isprintable() and not one.isspace()), ""):
        raise UserError("This is no text: it has the character %(code)s in it.", code=printable(strange))
    splits = (CharTokenizer if kind == "letters" else WordTokenizer)([START]).split
    texts = [splits(" ".join(one.split())) for one in re.split(BREAKS[kind], plain)]
    texts = [pieces for pieces in texts if pieces]
    if not texts:
        raise UserError("There is nothing to learn yet: paste a list of words, one a line, or drop a file of text.")
    different = len({*map(tuple, texts)})
    if different < LEAST_TEXTS:
        words = N_("There are %(n)s different words; give at least %(least)s, one a line.")
        lines = N_("There are %(n)s different sentences; give at least %(least)s.")
        raise UserError(words if kind == "letters" else lines, n=different, least=LEAST_TEXTS)
    wholes = [["".join(pieces)] for pieces in texts] if kind == "letters" else texts
    if longest := next((one for pieces in wholes for one in pieces if len(one) > LONGEST_WORD[kind]), ""):
        letters = N_("“%(start)s…” has %(n)s letters; a word here has at most %(most)s. Of a text, take the words.")
        other = N_("“%(start)s…” has %(n)s letters; a word here has at most %(most)s.")
        sentence = letters if kind == "letters" else other
        raise UserError(sentence, start=longest[:12], n=len(longest), most=LONGEST_WORD[kind])
    # a long sentence is learned in parts
    return [pieces[at : at + LONGEST_TEXT] for pieces in texts for at in range(0, len(pieces), LONGEST_TEXT)]


def model_so_far(run: Recipe) -> Model:
    """The model that a run has trained so far, with as many digits as a file of it keeps."""
    kept = run.vector.astype(np.float32).astype(np.float64)
    return Model(OWN_MODEL, run.config, split(kept, run.config), run.tokenizer, run.prompt)
