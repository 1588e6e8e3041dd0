"""Training: the loss, Adam, the loop. `python -m microgpt.train names --data names.txt`

One text a step, as in microgpt: all its positions in one parallel pass, the mean loss over them, one step
of Adam. No cache is reused between steps, since the weights have changed. The run is deterministic.
Knows the three models that ship and how they were made; knows no page.
"""

from __future__ import annotations

import argparse
import errno
import string
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import cycle, islice
from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np

from microgpt.backward import Grads, Tape, backward
from microgpt.cache import KVCache
from microgpt.decode import generate
from microgpt.errors import N_, UserError
from microgpt.files import open_file
from microgpt.model import Array, Config, Params, forward, softmax
from microgpt.stories import sentences
from microgpt.tokenizer import START, CharTokenizer, WordTokenizer
from microgpt.weights import SHIPPED, Model, init, save, views

DATA = Path(__file__).parent / "data"
LONGEST = 20_000_000  # bytes of such a list
N_NAMES = 32_033  # in the whole list
BETA1, BETA2, EPS = 0.85, 0.99, 1e-8


def loss_and_grads(params: Params, config: Config, token_ids: Sequence[int], grads: Grads) -> float:
    """The mean of -log p(next token) over a text, from one parallel pass; its gradients are written to `grads`."""
    tape, inputs, n = Tape(), token_ids[:-1], len(token_ids) - 1
    p = softmax(forward(params, config, inputs, KVCache(config, params["wte"].dtype), tape.keep))  # [n, vocab_size]
    flat = p.reshape(-1)  # a view: entry i * vocab_size + j is p[i, j]
    targets = np.arange(0, flat.size, config.vocab_size) + token_ids[1:]
    chances = flat.take(targets)
    flat[targets] = chances - 1.0  # d loss / d logits = (p - one-hot) / n
    p /= n
    backward(params, config, inputs, tape, p, grads)
    return float(np.add.reduce(np.log(chances))) / -n


def train(
    config: Config, vector: Array, texts: Iterable[Sequence[int]], steps: int, rate: float, decay: float = 0.0
) -> Iterator[float]:
    """Change `vector` in place, one text a step, and yield each step's loss.

    Adam with bias correction; the rate falls linearly to 0. `decay` pulls every weight towards 0 (AdamW).
    """
    g, m, v = np.zeros((3, vector.size))  # the gradient; sums of it and of its square, old steps fading
    params, grads = views(vector, config), views(g, config)
    for step, ids in enumerate(islice(texts, steps), start=1):
        loss = loss_and_grads(params, config, ids, grads)
        m *= BETA1
        m += g
        g *= g
        v *= BETA2
        v += g
        m_share = (1 - BETA1) / (1 - BETA1**step)  # 1 / (1 + BETA1 + BETA1^2 + ...): makes the sum a mean, which is
        root = ((1 - BETA2) / (1 - BETA2**step)) ** 0.5  # what Adam calls bias correction; the root of v's
        size = rate * (1 - (step - 1) / steps)
        if decay:
            vector *= 1 - size * decay
        change = np.sqrt(v)  # size * m_share * m / (root * sqrt(v) + eps), with root taken out of the fraction
        change += EPS / root
        np.divide(m, change, out=change)
        change *= size * m_share / root
        vector -= change
        yield loss


class Run(NamedTuple):
    """What a named model is trained with; `rng` goes on to draw the samples."""

    config: Config
    tokenizer: CharTokenizer
    texts: Iterable[Sequence[int]]
    vector: Array
    rng: Random
    steps: int
    rate: float
    decay: float = 0.0


def names_run(data: Path | None, n_layer: int, steps: int, rate: float) -> Run:
    """microgpt's own order: one generator shuffles the names, draws the weights, and later the samples."""
    if data is None:
        raise UserError(N_("This model learns from a list of names, one a line: give it with --data FILE."))
    try:
        with open_file(data) as file:
            text = file.read(LONGEST + 1)
        if len(text) > LONGEST:
            raise OSError(errno.EFBIG, f"it is longer than {LONGEST // 10**6} MB")
        lines = [line.strip() for line in text.decode("utf-8-sig").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise UserError(
            N_("%(path)s cannot be read (%(why)s). Give a text file, one name a line."), path=data, why=why
        ) from None
    for at, line in enumerate(lines, 1):
        if strange := set(line) - set(string.ascii_lowercase):
            raise UserError(
                N_("%(path)s, line %(at)s: “%(line)s” has the character “%(first)s”; a name is made of a to z."),
                path=data, at=at, line=line[:40], first=min(strange, key=line.index),
            )  # fmt: skip
    names = [line for line in lines if line]
    if not names:
        raise UserError(N_("%(path)s holds no names. Give a text file, one name a line."), path=data)
    rng = Random(42)
    rng.shuffle(names)
    return run_on(names, rng, n_layer, steps, rate)


def first_thousand() -> Run:
    """The run of `names` without the whole list: its thousand steps see a thousand names, which lie in the package.

    Shuffling any list as long as the whole one leaves the generator where microgpt draws its weights.
    """
    rng = Random(42)
    rng.shuffle(list(range(N_NAMES)))
    names = (DATA / "names-1000.txt").read_text("utf-8").split()
    return run_on(names, rng, n_layer=1, steps=len(names), rate=0.01)


def run_on(names: Sequence[str], rng: Random, n_layer: int, steps: int, rate: float) -> Run:
    """A run on names in this order; the weights are drawn from `rng`."""
    tokenizer, config = CharTokenizer([*string.ascii_lowercase, START]), Config(n_layer=n_layer)
    vector = init(config, rng)
    longest = config.n_ctx + 1
    texts = ([*tokenizer.encode(name), tokenizer.start][:longest] for name in cycle(names))
    return Run(config, tokenizer, texts, vector, rng, steps, rate)


def stories_run(steps: int, rate: float) -> Run:
    """Sentences of the project's own grammar; the vocabulary is what a long stretch of it uses."""
    words = sorted({word for sentence in islice(sentences(0), 20_000) for word in sentence.split()})
    tokenizer = WordTokenizer([*words, START])
    config = Config(
        n_layer=2, n_embd=32, n_head=4, n_kv_head=2, head_dim=8, n_mlp=64, n_ctx=24, vocab_size=len(words) + 1,
        position="rope", norm="rms", embd_norm=False, final_norm=True, mlp="swiglu", tied=True,
    )  # fmt: skip
    rng = Random(42)
    texts = ([*tokenizer.encode(sentence), tokenizer.start] for sentence in sentences(1))
    return Run(config, tokenizer, texts, init(config, rng), rng, steps, rate, decay=0.03)


def prepare(name: str, data: Path | None, steps: int | None = None) -> Run:
    """How the model of that name is trained."""
    if name == "names":
        return names_run(data, 1, steps or 1000, 0.01)
    if name == "names-deep":  # deeper models want smaller steps, and more of them
        return names_run(data, 4, steps or 20_000, 0.003)
    if name == "stories":
        return stories_run(steps or 12_000, 0.005)
    raise UserError(N_("There is no model “%(name)s”. Choose one of: %(known)s."), name=name, known=", ".join(SHIPPED))


def samples(run: Run, count: int) -> list[str]:
    """Texts from a fresh cache each, at temperature 0.5, until the stop token or a full context."""
    params, stop = views(run.vector, run.config), run.tokenizer.start
    return [
        run.tokenizer.decode(list(generate(params, run.config, [stop], run.config.n_ctx, 0.5, rng=run.rng, stop=stop)))
        for _ in range(count)
    ]


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m microgpt.train", description="Train one of the models that ship.")
    parser.add_argument("name", help=", ".join(SHIPPED))
    parser.add_argument("--data", type=Path, metavar="FILE", help="names, one a line")
    parser.add_argument("--steps", type=int, metavar="N", help="how many texts to learn from")
    parser.add_argument("--out", type=Path, metavar="FILE", help="where to (default: into the package)")
    options = parser.parse_args(argv)
    try:
        if options.steps is not None and options.steps < 1:
            raise UserError(N_("--steps is %(steps)s; it must be 1 or more."), steps=options.steps)
        run = prepare(options.name, options.data, options.steps)
        out = options.out or DATA / f"{options.name}.npz"
        if out.is_dir() or not out.parent.is_dir():  # said now, not after the training
            raise UserError(N_("%(path)s cannot be written: give --out a file name in a folder that exists."), path=out)
        losses = []
        for loss in progress(train(run.config, run.vector, run.texts, run.steps, run.rate, run.decay), run.steps):
            losses.append(loss)
            if len(losses) <= 13:
                print(f"step {len(losses):4d}  loss {loss:.4f}")
        print(f"last 100 steps: loss {sum(losses[-100:]) / len(losses[-100:]):.4f}")
        for text in samples(run, 20):
            print(text)
        save(out, Model(options.name, run.config, views(run.vector, run.config), run.tokenizer))
        print(f"saved {out}")
    except UserError as error:
        print(f"train: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("train: stopped; nothing was saved.", file=sys.stderr)
        return 130
    return 0


def progress(losses: Iterator[float], steps: int) -> Iterable[float]:
    """A bar on the terminal, where tqdm is installed; it waits until the first lines are printed."""
    try:
        from tqdm import tqdm
    except ImportError:
        return losses
    return tqdm(losses, total=steps, unit="step", leave=False, disable=None, delay=0.5)  # type: ignore[no-any-return]


if __name__ == "__main__":
    sys.exit(main())
