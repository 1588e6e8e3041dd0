"""A text run by the reader's program, as a recording that the machine draws.

The reader's cache may hold other rows than it was given, more of them or fewer, or have none of the names that ours
has. What is drawn of K and V is therefore what attention has read (`Read` in yours.py), and each report stands at the
position of the step that made it. A row that was never of this text has no place in the picture; the checks tell of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from microgpt.cache import KVCache, Told
from microgpt.config import Array, Report
from microgpt.cost import Counter
from microgpt.decode import decode_step
from microgpt.errors import N_, UserError
from microgpt.record import Recording
from microgpt.trace import OVER_KEYS, Trace
from microgpt.weights import Model
from microgpt.workbench.hooks import YourHook
from microgpt.workbench.told import EACH, ONCE, check_logits, check_report, missing
from microgpt.workbench.watch import lend
from microgpt.workbench.yours import Yours


class YourRecording(Recording):
    """Step through `prompt` by the reader's program; what goes wrong there is raised as it is (see place_of).

    What goes wrong in the reader's hook is kept, as `hook_error`: it is told no more, and the run goes on.
    """

    def __init__(self, yours: Yours, model: Model, prompt: str, hook: YourHook | None = None, **settings: Any) -> None:
        super().__init__(lend(model), prompt, hook=hook, **settings)
        self.yours = yours
        self.hook_error: Exception | None = None
        with yours:
            self.own_cache = yours.KVCache(self.config, model.params["wte"].dtype)
        self.told = [{"k": Told(), "v": Told()} for _ in range(self.config.n_layer)]

    def run_token(self, pos: int) -> None:
        with self.yours:
            super().run_token(pos)

    def tell(self, hook: Any) -> None:
        try:
            with hook:
                super().tell(hook)
        except Exception as error:
            self.hook, self.hook_error = None, error

    def decode(self, pos: int) -> Array:
        """The logits after the token at `pos`, by the reader's `decode_step`. Raises UserError for what is no step."""
        told = dict[tuple[str, int], Report]()

        def hear(report: Any) -> None:
            one = name, value, _, layer = check_report(report, self.config, 1)
            if name in (*ONCE, *EACH):
                told[name, layer] = one if isinstance(value, int) else (name, np.array(value), pos, layer)

        self.yours.read.clear()
        found = self.yours.decode_step(self.model.params, self.config, self.ids[pos], self.own_cache, hear)
        logits = check_logits(found, self.config, 0, "decode_step")
        if not np.isfinite(logits).all():
            raise UserError("After token %(n)s the logits are no numbers: something is inf or nan.", n=pos + 1)
        if name := missing({*told}, self.config):
            sentence = N_(
                "No line of forward reports “%(name)s” any more, and the machine draws it. Put its hook back."
            )
            raise UserError(sentence, name=name)
        for layer in range(self.config.n_layer):
            scores, weights = (told[name, layer][1] for name in OVER_KEYS)
            if np.shape(scores) != np.shape(weights):
                sentence = N_("“attn_scores” is reported with the shape %(scores)s, “attn_weights” with %(weights)s.")
                raise UserError(sentence, scores=np.shape(scores), weights=np.shape(weights))
        read = [*self.read_otherwise(told, pos)]
        for name, value, _, layer in told.values():  # with no more columns than the text has rows
            self.trace((name, value[..., : pos + 1] if name in OVER_KEYS else value, pos, layer))
        for report in read:
            self.trace(report)
        return logits

    def read_otherwise(self, told: Mapping[tuple[str, int], Report], pos: int) -> Iterable[Report]:
        """What the step read otherwise than it was told, or than the steps before have read: see `Watched`.

        Nothing is known where attention has not read once a layer.
        """
        keys, values = self.yours.read.keys, self.yours.read.values
        known = len(keys) == len(values) == self.config.n_layer
        for layer in range(self.config.n_layer):
            for name, rows in (("k", keys), ("v", values)):
                new = np.asarray(told[name, layer][1])
                self.told[layer][name].join(new, pos)
                if not known or rows[layer].ndim != 3 or rows[layer].shape[::2] != new.shape[1:]:
                    continue
                read = rows[layer][:, : pos + 1]
                found = self.told[layer][name].otherwise(read, slice(pos + 1 - read.shape[1], pos + 1))
                if found is not None:
                    yield f"{name}_read", found, pos, layer

    def compare(self, pos: int) -> None:
        """Run the text up to `pos` again by the reader's program, without a cache; where that fails, nothing is said
        of it here: the checks do."""
        counter = Counter(self.config)
        self.yours.read.clear()
        try:
            found = self.yours.recompute(self.model.params, self.config, self.ids[: pos + 1], counter)
            again = check_logits(found, self.config, 0, "recompute")
        except Exception:  # whatever a program may raise
            return
        self.trace(("recompute_logits", again, pos, -1))
        self.trace(("recompute_macs", counter.macs, pos, -1))


def differences(trace: Trace, ours: Trace, pos: int) -> dict[tuple[str, int], float]:
    """How far each report of a step is from ours at most, by its name and layer; only those that are."""
    found = dict[tuple[str, int], float]()
    for event in ours:
        if event.pos != pos or isinstance(event.value, int) or event.name.startswith("recompute"):
            continue
        key = (event.name, pos, event.layer)
        if key not in trace:
            continue
        yours, want = trace[key], event.value
        n = min(yours.shape[-1], want.shape[-1])
        with np.errstate(invalid="ignore"):
            off = np.where(yours[..., :n] == want[..., :n], 0.0, np.abs(yours[..., :n] - want[..., :n]))
        largest = float(np.nan_to_num(off, nan=np.inf).max()) if off.size else 0.0
        if yours.shape != want.shape:
            largest = max(largest, float(np.abs(want[..., n:]).max(initial=0.0)))
        if largest > 0:
            found[event.name, event.layer] = largest
    return found


def run_ours(model: Model, ids: list[int]) -> Trace:
    """What our own code reports of these tokens, one by one."""
    trace, cache = Trace(), KVCache(model.config, model.params["wte"].dtype)
    for token in ids:
        decode_step(model.params, model.config, token, cache, trace.keep)
    return trace
