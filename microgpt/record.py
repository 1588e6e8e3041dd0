"""A recording: a text run through a model token by token, with the trace as its hook.

Each step runs one token with the cache, then the whole text again without it, so that every trace
carries the proof that both say the same. Where that takes too long, single steps are compared when asked for.
Knows models, decoding and traces; knows no page.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from random import Random

import numpy as np

from microgpt.cache import KVCache, Watched
from microgpt.config import Array, Hook
from microgpt.cost import Counter
from microgpt.decode import LAST, check_sampling, decode_step, encode_prompt, recompute, sample
from microgpt.errors import UserError
from microgpt.model import forward
from microgpt.trace import Trace
from microgpt.weights import Model

NONE = slice(0, 0)  # of the logits


class Recording:
    """Step through `prompt` and what the model adds to it; `trace` grows with every step.

    The model adds up to `max_new` tokens, or as many as its context has room for. All is computed in the dtype of the
    parameters, the cache among it. Raises UserError for a prompt or a setting that the model cannot use.

    `hook`, if there is one, is told each report of a step when the step is over. It may end the run: with the step at
    which it raises StopIteration.
    """

    def __init__(
        self,
        model: Model,
        prompt: str,
        temperature: float = 0.0,
        top_k: int = 0,
        seed: int = 42,
        max_new: int | None = None,
        compares: bool = True,
        hook: Hook | None = None,
    ) -> None:
        self.ids = encode_prompt(model.tokenizer, model.config, prompt)
        check_sampling(temperature, top_k, seed)
        temperature, top_k, seed = float(temperature) + 0.0, int(top_k), int(seed)  # not NumPy's, and no minus zero
        self.model, self.temperature, self.top_k, self.compares = model, temperature, top_k, compares
        self.n_prompt = len(self.ids)
        n_ctx = model.config.n_ctx
        self.limit = n_ctx if max_new is None else min(n_ctx, self.n_prompt + max_new)
        self.config = replace(model.config, n_ctx=self.limit)  # room for what is run, not for all that could be
        self.cache = KVCache(self.config, model.params["wte"].dtype)
        self.rng = Random(seed)
        self.trace = Trace(
            {
                "model": model.name,
                "config": asdict(model.config),
                "prompt": prompt,
                "n_prompt": self.n_prompt,
                "temperature": temperature,
                "top_k": top_k,
                "seed": seed,
                "nbytes_reserved": self.cache.nbytes_reserved,
                "tokens": [],
                "vocabulary": model.tokenizer.vocabulary,
            }
        )
        self.watched = Watched(self.cache, self.trace)
        self.hook, self.n_told = hook, 0  # the events that it has been told
        self.ended_by: StopIteration | None = None  # of the hook

    @property
    def n(self) -> int:
        """Steps run so far; where the cache is not ours, it need not hold as many rows."""
        return len(self.trace.about["tokens"])

    @property
    def has_ended(self) -> bool:
        """True when the model has stopped or the context is full."""
        n = self.n
        return n >= self.limit or n >= len(self.ids) or (n > 0 and n >= self.n_prompt and self.ids[n] in self.stops)

    @property
    def stops(self) -> frozenset[int]:
        return self.model.tokenizer.stops

    @property
    def stop(self) -> int:
        """The first of the tokens that end a text; -1 where there is none."""
        return min(self.stops, default=-1)

    def step(self) -> None:
        """Run the next token, then tell the hook of it."""
        self.run_token(self.n)
        if self.hook:
            self.tell(self.hook)

    def run_token(self, pos: int) -> None:
        """Run the token at `pos`; behind the prompt's last token, choose the one that follows."""
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # what comes of it is looked at below
            logits = self.decode(pos)
            if not np.isfinite(logits).all():
                raise UserError(
                    "The numbers of this model overflow at token %(n)s: its files are damaged, or do not belong "
                    "together.",
                    n=pos + 1,
                )
            if self.compares:
                self.compare(pos)
        self.trace.about["tokens"].append(self.model.tokenizer.vocabulary[self.ids[pos]])
        if pos + 1 >= self.n_prompt:
            choice = sample(logits, self.temperature, self.top_k, self.rng)
            self.trace(("sample", choice, pos, -1))
            self.ids.append(choice)

    def tell(self, hook: Hook) -> None:
        """Tell the hook what is new: copies, which it cannot write into."""
        new, self.n_told = self.trace.events[self.n_told :], len(self.trace.events)
        try:
            for event in new:
                hook(event.report)
        except StopIteration as stop:  # it has seen enough
            self.limit, self.ended_by = self.n, stop

    def decode(self, pos: int) -> Array:
        """The logits after the token at `pos`, which joins the cache."""
        self.watched.cache = self.cache  # by now it may be another
        return decode_step(self.model.params, self.config, self.ids[pos], self.watched, self.trace.keep)

    def compare(self, pos: int) -> None:
        """Run the text up to `pos` again, without a cache."""
        counter = Counter(self.config)
        again = recompute(self.model.params, self.config, self.ids[: pos + 1], counter)
        self.trace(("recompute_logits", again, pos, -1))
        self.trace(("recompute_macs", counter.macs, pos, -1))

    def compare_in_parts(self, pos: int, size: int) -> Iterator[int]:
        """The same, `size` tokens a pass, for where one pass would take too long; yields how many tokens have run."""
        cache, counter = KVCache(self.config, self.model.params["wte"].dtype), Counter(self.config)
        for at in range(0, pos + 1, size):
            ids = self.ids[at : min(at + size, pos + 1)]
            rows = LAST if at + size > pos else NONE
            logits = forward(self.model.params, self.config, ids, cache, counter, rows)
            yield len(cache)
        self.trace(("recompute_logits", logits[0], pos, -1))
        self.trace(("recompute_macs", counter.macs, pos, -1))

    def run_prompt(self) -> None:
        """Run all of the prompt; the last step chooses the first new token."""
        while self.n < self.n_prompt:
            self.step()

    def run(self) -> Trace:
        """Run to the end and return the trace."""
        while not self.has_ended:
            self.step()
        return self.trace
