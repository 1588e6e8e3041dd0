"""What the models that ship learn from, and for how long: the recipes by which anyone can make their weights again.

Two learn first names; `stories` and `cuentos` learn sentences of small grammars (sentences.py). Everything is
deterministic.
"""

from __future__ import annotations

import errno
import string
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path
from random import Random
from typing import NamedTuple

from microgpt.config import Array, Config
from microgpt.data.sentences import sentences
from microgpt.errors import N_, UserError
from microgpt.files import megabytes, open_file
from microgpt.tokenizer import START, CharTokenizer, WordTokenizer
from microgpt.weights import TRAINED, init

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
    if name in ("stories", "stories-mla", "cuentos"):
        return stories_run(steps or 12_000, 0.005, "es" if name == "cuentos" else "en", latent=name == "stories-mla")
    raise UserError("There is no model “%(name)s”. Choose one of: %(known)s.", name=name, known=", ".join(TRAINED))
