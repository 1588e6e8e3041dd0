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

Beside them: `architectures` (models by their shapes alone), `tokenizers` and `checkpoints` (what others have trained),
`experiments` (one question each, through the same forward pass) and `viz` (the pages; the only part that knows HTML).
"""

__version__ = "0.1.0"
