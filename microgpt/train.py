"""Training: the loss, Adam, the loop. `python -m microgpt.train names --data names.txt`

One text a step, as in microgpt: all its positions in one parallel pass, the mean loss over them, one step
of Adam. No cache is reused between steps, since the weights have changed. The run is deterministic.
What the models that ship learn from, and for how long, is in recipes.py.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np

from microgpt.backward import Grads, Tape, backward
from microgpt.cache import KVCache
from microgpt.config import Array, Config, Params, split
from microgpt.decode import generate
from microgpt.errors import UserError
from microgpt.model import forward, softmax
from microgpt.recipes import DATA, Recipe, prepare
from microgpt.weights import TRAINED, Model, save

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
    params, grads = split(vector, config), split(g, config)
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


def samples(run: Recipe, count: int) -> list[str]:
    """Texts from a fresh cache each, at temperature 0.5, until the stop token or a full context."""
    params, stop = split(run.vector, run.config), run.tokenizer.start
    return [
        run.tokenizer.decode(list(generate(params, run.config, [stop], run.config.n_ctx, 0.5, rng=run.rng, stop=stop)))
        for _ in range(count)
    ]


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m microgpt.train", description="Train one of the models that ship.")
    parser.add_argument("name", help=", ".join(TRAINED))
    parser.add_argument("--data", type=Path, metavar="FILE", help="names, one a line")
    parser.add_argument("--steps", type=int, metavar="N", help="how many texts to learn from")
    parser.add_argument("--out", type=Path, metavar="FILE", help="where to (default: into the package)")
    options = parser.parse_args(argv)
    try:
        if options.steps is not None and options.steps < 1:
            raise UserError("--steps is %(steps)s; it must be 1 or more.", steps=options.steps)
        run = prepare(options.name, options.data, options.steps)
        out = options.out or DATA / f"{options.name}.npz"
        if out.is_dir() or not out.parent.is_dir():  # said now, not after the training
            raise UserError("%(path)s cannot be written: give --out a file name in a folder that exists.", path=out)
        losses = []
        for loss in progress(train(run.config, run.vector, run.texts, run.steps, run.rate, run.decay), run.steps):
            losses.append(loss)
            if len(losses) <= 13:
                print(f"step {len(losses):4d}  loss {loss:.4f}")
        print(f"last 100 steps: loss {sum(losses[-100:]) / len(losses[-100:]):.4f}")
        for text in samples(run, 20):
            print(text)
        kept = split(run.vector.astype(np.float32), run.config)  # as many digits as anyone will see, in half the bytes
        save(out, Model(options.name, run.config, kept, run.tokenizer))
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
