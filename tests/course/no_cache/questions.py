"""No cache: its questions, answered by a model under each mask, by adapters, and by rows that beams hold."""

import numpy as np

from microgpt.config import Array
from microgpt.experiments.validity import rows_under
from microgpt.serving.adapters import draw_adapter, void
from microgpt.weights import shipped
from tests.support.questions import Facts, Numbers, View

MEASURED = ("all 6 steps came out the same",)


def stale_rows(n: int, block: int) -> Array:
    """Layer by token: whether one more token changes a row of names-deep."""
    model = shipped("names-deep")
    ids = [(5 * i) % 26 for i in range(n + 1)]
    rows = [rows_under(model.params, model.config, text, block) for text in (ids[:-1], ids)]
    return np.asarray(np.abs(rows[0] - rows[1][:, :n]).max(axis=-1) > 1e-9)


def ask_stale(view: View) -> str:
    """A model of four layers, run without a mask: rows that a seventh token changes."""
    assert (view.asks.layers, view.asks.tokens) == (4, 6)
    return f"{stale_rows(6, 27).sum():.0f}"


def ask_blocks(view: View) -> str:
    """The same with blocks of four, and ten tokens: those of which no row changes."""
    assert (view.asks.long, view.asks.size) == (10, 4)
    return f"{(~stale_rows(10, 4).any(axis=0)).sum()}"


def ask_lora(view: View) -> str:
    """An adapter of wq alone, on the text of the page: where its rows are those of the base."""
    model = shipped("names-deep")
    adapter = draw_adapter(model.config, ["wq"], 2)
    off = void(model.params, model.config, adapter, model.tokenizer.encode("maria")).max(axis=1)
    assert off[0] == 0 and (off[1:] > 0).all()
    return "those of the first layer"


def ask_bug(view: View) -> str:
    assert all(step.moved == step.difference == 0 for step in view.steps)
    return "what never changes is made again at every step"


def task_heard(facts: Facts) -> Numbers:
    """Bytes of real arrays, and rows that real beams hold."""
    rows, own = (np.zeros((2, facts.n_layer, n, facts.width), np.float16) for n in (facts.source, facts.written))
    beams = [[(beam, i) for i in range(facts.written)] for beam in range(facts.beams)]
    source = [("source", i) for i in range(facts.source)]
    shared = {row for beam in beams for row in (*source, *beam)}
    apart, anew = sum(len(source) + len(beam) for beam in beams), sum(facts.source for _ in range(facts.written))
    return {"of_source": rows.nbytes, "own": own.nbytes, "anew": anew, "shared": len(shared), "apart": apart}


LEARNED = r"""
Why may a GPT keep its rows? all that is to the right of the diagonal is empty, so no earlier token reads the new one
Does BERT have a KV cache? “BERT uses a KV cache” is a misunderstanding
Why would an encoder's rows go stale? what they read goes into their rows one layer further up\. So 18 of 24 rows are stale
Is not even one layer spared? Layer 0 is an exception: its K and V come from one token alone
Can a diffusion model cache? nothing exact can be kept
What does it cost it? 25665,5366416,384164,096a GPT with its cache256
What does a mask by blocks change? a finished block is as final as a token of a GPT, and its rows stay
Is a diffusion model 27 times as fast as a GPT? up to 27\.6 times the speed that way\. But that is against the same diffusion model without a cache
Are an encoder and a decoder two caches? a query of the new token, keys and values of the encoder’s rows
Is cross-attention made again at every step? They are made once, 6 rows per layer, and no step adds to them; only q is new
How large is Whisper's? 1,500 rows, however short the speech
May two adapters share a prompt? a text may take over the rows of another only if both run with the same adapter
Which rows does an adapter change? all of them change what leaves the layer, and so every row of the layers above
Does LoRA on q and v leave K alone? true in the first layer only
"""
