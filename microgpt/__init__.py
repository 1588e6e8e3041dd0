"""A small, real GPT in NumPy whose KV cache can be watched: keep K and V, throw Q away.

In reading order:

    config.py     the architecture in a few numbers, and the names and shapes of the parameters
    model.py      the forward pass, as a lecture
    rope.py       rotary positions
    cache.py      the KV cache
    decode.py     prefill, one token at a time, sampling
    trace.py      what the hook has reported
    record.py     a run with all that a page shows of it
    cost.py       multiply-adds and bytes, counted
    backward.py   the gradients, in the order of the forward pass
    train.py      the loss, Adam, the loop
    recipes.py    what the models that ship were trained on
    tokenizer.py  letters or words as ids
    weights.py    a model in and out of a file
    files.py      what is read from files that may be hostile, and written to them
    errors.py     what is wrong, in a sentence

Beside them: `caches` (other ways to keep K and V), `attention` (the same answer in another order), `serving` (many
texts at once), `architectures` (models by their shapes alone), `tokenizers` and `checkpoints` (what others have
trained), `experiments` (one question each, through the same forward pass) and `viz` (the pages; the only part that
knows HTML).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from microgpt.cache import KVCache as KVCache
    from microgpt.checkpoints.folder import load_checkpoint as load_checkpoint
    from microgpt.checkpoints.ours import load as load
    from microgpt.checkpoints.ours import save as save
    from microgpt.config import Config as Config
    from microgpt.decode import decode_step as decode_step
    from microgpt.decode import generate as generate
    from microgpt.decode import prefill as prefill
    from microgpt.decode import recompute as recompute
    from microgpt.errors import UserError as UserError
    from microgpt.model import forward as forward
    from microgpt.record import Recording as Recording
    from microgpt.trace import Trace as Trace
    from microgpt.viz.notebook import show as show
    from microgpt.weights import Model as Model
    from microgpt.weights import shipped as shipped

__version__ = "0.1.0"

HOMES = dict(  # the public names, and where each is at home
    pair.split("=")
    for pair in (
        "Config=config forward=model KVCache=cache prefill=decode decode_step=decode generate=decode recompute=decode "
        "Trace=trace Recording=record UserError=errors Model=weights shipped=weights "
        "load=checkpoints.ours save=checkpoints.ours load_checkpoint=checkpoints.folder show=viz.notebook"
    ).split()
)
__all__ = list(HOMES)


def __getattr__(name: str) -> Any:
    """A public name, loaded when it is asked for: `import microgpt` alone costs nothing."""
    if name not in HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"microgpt.{HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *HOMES})
