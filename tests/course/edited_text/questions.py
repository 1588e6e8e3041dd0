"""Edited text: its questions, answered by counting tokens, by a whole cache with one new row, and version by
version."""

import numpy as np

from microgpt.cache import KVCache
from microgpt.weights import shipped
from tests.support.questions import Facts, Numbers, View, logits


def ask_bug(view: View) -> str:
    """An early row is made anew in a whole cache; the last token runs, and rows before it are still right."""
    model = shipped("names-deep")
    ids = model.tokenizer.encode("juliann")
    edited, cache, fresh = [*ids[:4], ids[4] + 1, *ids[5:]], KVCache(model.config), KVCache(model.config)
    logits(model, ids[:-1], cache)
    right = logits(model, edited, fresh)[-1]
    for layer, new in zip(cache.layers, fresh.layers, strict=True):
        assert np.abs(layer.keys[:, :4] - new.keys[:, :4]).max() < 1e-12
        layer.keys[:, 4], layer.values[:, 4] = new.keys[:, 4], new.values[:, 4]
    assert np.abs(right - logits(model, edited[-1:], cache)[0]).max() > 2
    return "rows after i are stale"


def ask_again(view: View) -> str:
    return f"{len(range(250, 1000))}"


def ask_blocks(view: View) -> str:
    return f"{max(end for end in range(0, 1000, 16) if end <= 250)}"


def task_edits(facts: Facts) -> Numbers:
    """A file is the list of its versions, and what is held of it the file of before."""

    def ran(held: list[int], now: list[int]) -> int:
        return len(now) - next(i for i, (a, b) in enumerate(zip(held, now, strict=True)) if a != b)

    file, each = [0] * facts.length, 0
    for edit, at in enumerate(facts.at, 1):
        now = [*file[:at], edit, *file[at + 1 :]]
        each, file = each + ran(file, now), now
    first, second, _ = sorted(facts.at)
    between = file[first + 1 : second]
    assert {*between} == {0}
    return {"each": each, "once": ran([0] * facts.length, file), "between": len(between)}


LEARNED = r"""
Can a row before an edit notice it? lets none read ahead\. So no row before an edit can have noticed it
How many rows may stay after an edit in the middle? 16 of 32 stand before the edit and are equal to the last bit
Which rows of the first layer are stale? Stale rows there: 1, that of the edited token
And which of the last? In the last, 4 of 8 are: its own, and those of all tokens after it
Why must a token run again though its row of the first layer is right? what comes out of it is what the next layer starts from
What can a prefix cache reuse? The tokens before it are the prefix that old and new text share, and their rows are reused
What does it cost to edit the first message of a chat? a chat whose first message is changed pays it for nearly everything
How does an engine look for what it holds? block by block, and stops at the first block that differs
What if only the edited token is run again? this puts the last logits off by up to 2\.17\. Cases above in which another token is chosen: 2 of 7
What does an inserted token do to the rows after it? Of their 16 rows, those of the first layer among them, 0 come out the same
"""
