"""Sharing: its questions, answered block by block, by rows of another text, and by the tokens of a chat."""

import numpy as np
import pytest

from microgpt.cache import KVCache
from microgpt.weights import shipped
from tests.support.questions import Facts, Numbers, View, logits

MEASURED = ("would take over 6 rows", "off by up to 2.18")


def ask_bug(view: View) -> str:
    """Blocks by their tokens alone: all those of the other text are there, and lead to rows that are not its own."""
    model = shipped("names-deep")
    ids = model.tokenizer.encode("christon")
    held = {tuple(ids[i : i + 2]): i for i in range(0, 8, 2)}
    other = [token for i in (0, 4, 2) for token in ids[i : i + 2]]
    assert [held[tuple(other[i : i + 2])] for i in range(0, 6, 2)] == [0, 4, 2] and len(other) == view.asks.bug_found
    right, lent, rows = KVCache(model.config), KVCache(model.config), [0, 1, 4, 5, 2, 3]
    logits(model, ids, right)
    for mine, theirs in zip(lent.layers, right.layers, strict=True):
        mine.append(theirs.keys[:, rows].swapaxes(0, 1), theirs.values[:, rows].swapaxes(0, 1))
    off = np.abs(logits(model, ids[-1:], lent)[-1] - logits(model, [*other, ids[-1]])[-1]).max()
    assert abs(off - view.asks.wrong) < 1e-12 and view.asks.wrong > 1
    return "rows are found that belong after other tokens"


def ask_found(view: View) -> str:
    return f"{sum(16 for end in range(16, 101, 16) if end <= 70)}"


def ask_again(view: View) -> str:
    return f"{max(end for end in range(0, 33, 16) if end <= 31)}"


def task_prefix(facts: Facts) -> Numbers:
    """Turn by turn with the tokens themselves: what is run is what no prompt before has, up to its newest token."""
    for clock in (False, True):
        text, held, sent, run = ["system"] * facts.system, list[str](), 0, list[int]()
        for turn in range(facts.turns):
            text += [f"question {turn}"] * facts.asked
            prompt = [f"time {turn}", *text[1:]] if clock else text
            alike = next((i for i, (a, b) in enumerate(zip(prompt, held, strict=False)) if a != b), len(held))
            sent, run = sent + len(prompt), [*run, len(prompt) - alike]
            text = text + [f"answer {turn}"] * facts.answered
            held = [*prompt, *text[len(prompt) :]][:-1]  # the newest token has no row
        if clock:
            assert sum(run) == sent and facts.clock == pytest.approx(sent / facts.run)
        else:
            plain = {"sent": sent, "new": run[-1], "run": sum(run)}
    return plain


LEARNED = r"""
Why may two texts share rows? depend on that token and on those before it, never on what comes later
What does the second text run? text B takes over 6 rows and runs 3 tokens
How are equal beginnings found? from its own tokens and from the hash of the block before
Which blocks are found? Only full blocks are found\. In B, 1 token more is as in A
Is a prompt that was run before found whole? 8 of its 9 tokens are found\. At least the last one must run
Are the rows of a text that has ended lost? are lost only when another text takes them
What is copy on write? C copies block 6 to block 7\. This is copy on write
What do several answers to one prompt save? would need 4,800 rows unshared; with the prompt shared, they need 1,800
What do beams share? needs 15 rows instead of 28, in 6 blocks of 4 instead of 8
Does every engine copy on write? vLLM V1 \(as of 2026\) shares full blocks only
Why must a beginning match to the token? In the first layer they differ by 0\.0.* they differ by up to 0\.97, because each token has read the changed one
What is a cached token on a bill? A beginning of fewer than 512 tokens does not count, with some models of fewer than 4,096
How long is it kept? until 5 minutes after its last use, 2 times for an hour
What is a cached token? one that was sent again and found, so that its rows did not have to be computed\. No answer is stored
What does a chat run? 6 turns send 10,050 tokens and run 1,305
What belongs first in a prompt? what never changes belongs first
What is a salt for? By timing this, one user could learn what another has sent
"""
