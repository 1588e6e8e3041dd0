"""Guesses that branch: the draft gives several tokens for one place, and one pass of the target checks the whole tree.

A chain of guesses ends at the first wrong one. In a tree another branch may be right: each token sees the text and
those that it comes from, none of another branch (`parents` of `forward`), so one pass says of every branch what running
it alone would say. The rows of the way that was right are kept, the others go.

The likeliest token is taken everywhere. Then the text is exactly that of the target alone, and a tree that holds a
chain never takes more passes than the chain.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from microgpt.cache import KVCache
from microgpt.config import Array
from microgpt.decode import prefill
from microgpt.errors import UserError
from microgpt.model import forward
from microgpt.serving.speculate import check_vocabulary
from microgpt.weights import Model


class Tree(NamedTuple):
    """Tokens, and for each the place of the one before it among them; -1: the newest token of the text."""

    tokens: list[int]
    parents: list[int]


class TreeRound(NamedTuple):
    """One tree and one pass of the target."""

    tree: Tree
    path: list[int]  # places in the tree that were right, one after the other
    chosen: int  # the token that the target adds; -1 where one of the path ends the text

    @property
    def tokens(self) -> list[int]:
        """What the text has gained."""
        return [self.tree.tokens[i] for i in self.path] + ([self.chosen] if self.chosen >= 0 else [])


def grow(draft: Model, token_ids: Sequence[int], widths: Sequence[int]) -> Tree:
    """A tree of guesses after this text: the likeliest widths[0] tokens, after each of them the likeliest widths[1],
    and so on, as far as the context of the draft goes."""
    cache, tokens, parents = KVCache(draft.config, draft.params["wte"].dtype), list[int](), list[int]()
    newest = prefill(draft.params, draft.config, token_ids, cache)
    level, laws = [-1], {-1: newest}
    for width in widths[: draft.config.n_ctx - len(token_ids) + 1]:
        added = list[int]()
        for place in level:
            for token in np.argsort(-laws[place], kind="stable")[:width].tolist():
                added.append(len(tokens))
                tokens.append(token)
                parents.append(place)
        if len(token_ids) + len(tokens) > draft.config.n_ctx:
            break
        known = len(cache)
        logits = forward(draft.params, draft.config, tokens, cache, parents=parents)
        cache.crop(known)
        level, laws = added, {place: logits[place] for place in added}
    return Tree(tokens, parents)


def follow(tree: Tree, newest: Array, logits: Array) -> tuple[list[int], int]:
    """The way on which every token is the likeliest after the one before it, and the likeliest after its end: `newest`
    is the logits of the text, `logits` [n, vocab_size] those of the tree."""
    path, wanted = list[int](), int(newest.argmax())
    while True:
        at = path[-1] if path else -1
        right = [i for i, (token, up) in enumerate(zip(*tree, strict=True)) if up == at and token == wanted]
        if not right:
            return path, wanted
        path.append(right[0])
        wanted = int(logits[right[0]].argmax())


def speculate(
    target: Model, draft: Model, token_ids: Sequence[int], widths: Sequence[int], max_tokens: int
) -> Iterator[TreeRound]:
    """Rounds, until there are so many new tokens, or the text or the context ends."""
    if not widths or min(widths) < 1:
        raise UserError("A tree of the widths %(widths)s guesses nothing; choose 1 or more.", widths=list(widths))
    check_vocabulary(target, draft)
    config, ids = target.config, list(token_ids)
    cache = KVCache(config, target.params["wte"].dtype)
    prefill(target.params, config, ids, cache)  # checks them
    cache.crop(len(ids) - 1)
    end, going = len(ids) + max_tokens, True
    while going and len(ids) < min(end, config.n_ctx + 1):
        tree = trim(grow(draft, ids, widths), config.n_ctx - len(ids), end - len(ids) - 1)
        up = [-1, *(place + 1 for place in tree.parents)]  # the newest token is run with them
        logits = forward(target.params, config, [ids[-1], *tree.tokens], cache, parents=up)
        path, chosen = follow(tree, logits[0], logits[1:])
        ends = [i for i, place in enumerate(path) if tree.tokens[place] in target.tokenizer.stops]
        if ends:
            path, chosen = path[: ends[0] + 1], -1
        cache.keep([*range(len(ids)), *(len(ids) + place for place in path)])
        found = TreeRound(tree, path, chosen)
        ids += found.tokens
        going = ids[-1] not in target.tokenizer.stops
        yield found


def trim(tree: Tree, room: int, depth: int) -> Tree:
    """The first `room` tokens, and none that is deeper than `depth`. Parents come first, so it is a tree again."""
    tokens, parents, places, deep = list[int](), list[int](), dict[int, int]({-1: -1}), {-1: 0}
    for i, (token, up) in enumerate(zip(*tree, strict=True)):
        if up in places and deep[up] < depth and len(tokens) < room:
            places[i], deep[i] = len(tokens), deep[up] + 1
            tokens.append(token)
            parents.append(places[up])
    return Tree(tokens, parents)
