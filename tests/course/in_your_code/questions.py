"""In your code: its questions, answered by caches that grow, by a chat that is played, and row by row."""

from itertools import pairwise

from microgpt.architectures.known import PRESETS
from microgpt.cache import KVCache
from microgpt.weights import shipped
from tests.support.questions import Facts, Numbers, View, logits, run

LLAMA = PRESETS["Llama-3-8B"]
MEASURED = ("6, 13, 21, 30, 40 rows",)


def ask_bug(view: View) -> str:
    lengths = [one.length for one in view.passes]
    assert [b - a for a, b in pairwise([0, *view.bug_lengths])] == lengths  # the whole text, each time
    return "the ids are fed again although the cache has their rows"


def ask_shape(view: View) -> str:
    return f"{[3, LLAMA.config.n_kv_head, 500, LLAMA.config.head_dim]}"


def ask_next(view: View) -> str:
    return f"the new id, at position {view.passes[-2].length}"


def task_shapes(facts: Facts) -> None:
    """In a cache of a model of ours."""
    cache = KVCache(shipped("names").config)
    for one in facts.passes:
        n, start = facts.prompt if one.i == 1 else 1, len(cache)
        logits("names", [1] * n, cache)
        assert one.ids == f"[1, {n}]" and one.length == len(cache)
        assert one.positions == (f"{start}–{start + n - 1}" if n > 1 else f"{start}")
        assert one.keys == f"[1, {facts.config.n_kv_head}, {len(cache)}, {facts.config.head_dim}]"


def task_turns(facts: Facts) -> Numbers:
    """Token by token."""
    cache = length = plain = 0
    runs = list[int]()
    for said, answer in ((facts.first, facts.answer), (facts.question, facts.second), (facts.last, 0)):
        length += said
        plain += length
        runs.append(length - cache)
        cache = length
        for _ in range(answer):
            length += 1  # chosen, and run when the next one is needed
            cache = length - 1
    assert [turn.run for turn in facts.turns] == runs
    return {"plain": plain, "cached": sum(runs)}


def task_copies(facts: Facts) -> None:
    """Shared caches grow together."""

    def play(*mended: tuple[str, str]) -> int:
        """Rows that were read at most."""
        read: list[int] = []

        def take(ids: list[int], cache: list[int]) -> int:
            cache.extend(ids)
            read.append(len(cache))
            return 0

        found = run(facts.listing, *mended, new_cache=list, run=take, draw=lambda row: row)
        assert [len(one) for one in found["continuations"]([1, 2, 3], 4, 5)] == [5] * 4
        return max(read)

    line = "[copy.deepcopy(cache) for _ in range(n)]"
    assert line in facts.solved and play() == 3 + 4 * 5  # p + n × length
    assert play(("[cache] * n", line)) == 3 + 5


def task_growth(facts: Facts) -> Numbers:
    """Row by row."""
    joined = doubled = 0
    room, each = 1, LLAMA.bytes_per_token()
    for length in range(facts.n):
        joined += length + 1
        if length == room:
            doubled, room = doubled + length, 2 * room
        doubled += 1
    sizes = {"joined_bytes": joined * each, "doubled_bytes": doubled * each, "reserved_bytes": facts.n * each}
    return {"joined": joined, "doubled": doubled, "room": room, **sizes}


LEARNED = r"""
What does a greedy loop do? run the model, take the token with the largest logit, add it, and begin again
What goes into the pass after the prompt? From then on feed the new id alone, and with it what the last pass gave back
At which position does the new token stand? Its position is the length of the cache so far
What ends a loop that draws? Two things end the loop: the end token, .* and a limit on new tokens
Why does torch.compile want a static cache? A StaticCache hands out all its rows at every step, .* So no shape changes after the prompt
Which axes has a layer's entry of past_key_values? \[batch, n_kv_head, length, head_dim\]
Which of them grows? Only the third axis grows
What of a cache can be kept for the next turn? kept as far as the ids of both are the same; the rest is cropped
What of a cache serves a turn that goes on? all 12 cached rows serve it, and 4 ids go in
Why is a batch padded on the left? on the left, because the next token is chosen from the last row
What must be said of padding? which tokens are padding, by attention_mask, and at which position each real token stands, by position_ids
Why do rotary positions forgive wrong position ids? a score depends on the distance of two tokens only, which padding does not change
What is use_cache=False for? use_cache=False gives the same loss
What does a concatenated cache write that a reserved one does not? every step makes new arrays and copies all old rows into them
"""
