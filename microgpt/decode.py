"""Text from the model: prefill a prompt, decode token by token, and the same answers without a cache.

Everything here is `forward`, called differently. Knows tokens and caches; knows nothing of pages.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from numbers import Integral, Real
from random import Random
from typing import Any

import numpy as np

from microgpt.cache import Cache, KVCache
from microgpt.config import Array, Config, Hook, Params
from microgpt.errors import N_, UserError
from microgpt.model import forward, softmax
from microgpt.tokenizer import Tokenizer

LAST = slice(-1, None)  # decoding needs the logits of the last position only
CHUNK = 128  # tokens of a prompt that `generate` runs at a time: the scores of all at once would outgrow the cache
LOWEST = 1e-9  # at a temperature below this only the likeliest token is left, and dividing by it could overflow
HOTTEST = 1000  # at such a temperature all tokens are as good as equally likely
MOST_WHOLE = 2**53 - 1  # of a seed and of top-k: up to here whoever reads them as JSON has every whole number exactly


def encode_prompt(tokenizer: Tokenizer, config: Config, prompt: str) -> list[int]:
    """The ids of a prompt. Raises UserError for one that is empty, too long, or not in the words of the tokenizer."""
    if not tokenizer.split(prompt):
        raise UserError("The prompt is empty; give at least one token.")
    ids = tokenizer.encode(prompt)
    check_length(config, len(ids))
    return ids


def prefill(
    params: Params, config: Config, token_ids: Sequence[int], cache: Cache, hook: Hook | None = None, chunk: int = 0
) -> Array:
    """Run a prompt into the cache, `chunk` tokens a pass (0: all at once); return the last logits [vocab_size]."""
    if not token_ids:
        raise UserError("The prompt is empty; give at least one token.")
    check_ids(config, token_ids)
    check_length(config, cache.next_position + len(token_ids))
    size = chunk if chunk > 0 else len(token_ids)
    for at in range(0, len(token_ids), size):
        logits = forward(params, config, token_ids[at : at + size], cache, hook, LAST)
    return logits[0]  # type: ignore[no-any-return]


def decode_step(params: Params, config: Config, token_id: int, cache: Cache, hook: Hook | None = None) -> Array:
    """Run one token behind the cache, which grows by one row; return its logits [vocab_size]."""
    if not 0 <= token_id < config.vocab_size:
        check_ids(config, [token_id])
    return forward(params, config, [token_id], cache, hook)[0]  # type: ignore[no-any-return]


def recompute(params: Params, config: Config, token_ids: Sequence[int], hook: Hook | None = None) -> Array:
    """The logits [vocab_size] after the last of `token_ids`, with nothing remembered from earlier steps.

    It runs all tokens through an empty cache, as a model without one must do for every new token.
    """
    return prefill(params, config, token_ids, KVCache(config, params["wte"].dtype), hook)


def generate(
    params: Params,
    config: Config,
    token_ids: Sequence[int],
    max_tokens: int,
    temperature: float = 0.0,
    top_k: int = 0,
    rng: Random | None = None,
    stop: int | Collection[int] | None = None,
    hook: Hook | None = None,
) -> Iterator[int]:
    """Yield up to `max_tokens` new tokens, the stop token (one, or any of several) included, while there is room.

    Prefills the prompt in chunks, then samples and decodes in turn. Temperature 0 is greedy; `rng` makes it repeatable.
    """
    check_sampling(temperature, top_k)
    stops = {stop} if isinstance(stop, int) else stop or ()
    cache, rng = KVCache(config, params["wte"].dtype), rng or Random()
    logits = prefill(params, config, token_ids, cache, hook, CHUNK)
    for made in range(1, max_tokens + 1):
        token = sample(logits, temperature, top_k, rng)
        hook and hook(("sample", token, len(cache) - 1, -1))
        yield token
        if token in stops or made == max_tokens or len(cache) == config.n_ctx:
            return
        logits = decode_step(params, config, token, cache, hook)


def sample(logits: Array, temperature: float, top_k: int, rng: Random) -> int:
    """Choose the next token: the likeliest at temperature 0, else by chance among the `top_k` likeliest (0: all)."""
    first = int(logits.argmax())  # where one is not a number, that one
    if not math.isfinite(logits[first]):
        raise UserError("The model’s answer is not a number: its weights are damaged. Load them anew.")
    if temperature == 0:
        return first
    return rng.choices(range(len(logits)), weights=probabilities(logits, temperature, top_k).tolist())[0]


def probabilities(logits: Array, temperature: float = 1.0, top_k: int = 0) -> Array:
    """softmax(logits / temperature), [vocab_size]; everything but the `top_k` largest logits is 0."""
    if 0 < top_k < len(logits):
        kept = np.full_like(logits, -np.inf)
        best = likeliest(logits, top_k)
        kept[best] = logits[best]
        logits = kept
    return softmax(logits / max(temperature, LOWEST))


def likeliest(logits: Array, n: int) -> list[int]:
    """The `n` tokens with the largest logits, the largest first; of equals the one with the lower id."""
    near = np.arange(len(logits))
    if 0 < n < len(logits):  # to sort all of a large vocabulary takes ten times as long
        near = np.flatnonzero(logits >= np.partition(logits, -n)[-n])
    return near[np.argsort(-logits[near], kind="stable")[:n]].tolist()  # type: ignore[no-any-return]


def check_ids(config: Config, token_ids: Sequence[int]) -> None:
    """Raise UserError for a token that the model does not have."""
    wrong = next((i for i in token_ids if not 0 <= i < config.vocab_size), None)
    if wrong is not None:
        sentence = N_("There is no token %(wrong)s; this model has the tokens 0 to %(last)s.")
        raise UserError(sentence, wrong=wrong, last=config.vocab_size - 1)


def check_sampling(temperature: float, top_k: int, seed: int = 0) -> None:
    """Raise UserError for settings that mean nothing."""
    if not between(temperature, Real, HOTTEST):
        sentence = N_("The temperature is %(value)s; it must be a number from 0 (always the likeliest) to %(most)s.")
        raise UserError(sentence, value=shorten(temperature), most=HOTTEST)
    if not between(top_k, Integral, MOST_WHOLE):
        sentence = N_("top-k is %(value)s; it must be a whole number from 0 (all tokens) to %(most)s.")
        raise UserError(sentence, value=shorten(top_k), most=MOST_WHOLE)
    if not between(seed, Integral, MOST_WHOLE):
        raise UserError(
            "The seed is %(value)s; it must be a whole number from 0 to %(most)s.", value=shorten(seed), most=MOST_WHOLE
        )


def between(value: Any, kind: Any, most: int) -> bool:
    """Whether it is a number of that kind from 0 to `most`; what is not a number lies nowhere."""
    return isinstance(value, kind) and bool(0 <= value <= most)


def shorten(value: object) -> str:
    """A value in a sentence, cut where it is long."""
    try:
        return str(value)[:40]
    except ValueError:  # Python writes no whole number of thousands of digits
        return f"{value:x}"[:40]


def check_length(config: Config, n: int) -> None:
    """Raise UserError when n tokens are more than the context."""
    if n > config.n_ctx:
        raise UserError(
            "The text is %(n)s tokens long, the start token included; this model sees at most %(n_ctx)s. Shorten it.",
            n=n,
            n_ctx=config.n_ctx,
        )
