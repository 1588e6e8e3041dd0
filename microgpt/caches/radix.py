"""A radix tree of texts: finds the longest beginning that has rows, to the token, by walking the tokens themselves.

An edge is a run of tokens with the slots of their rows; texts that begin alike share the edges of their beginning, and
an edge is split where two part. So the tree holds a row for each distinct beginning of a text, once. What somebody
reads is locked up to the root. When slots are needed, the leaf that was used longest ago goes first, then its parent if
that has become a leaf: a beginning never goes before what follows it. SGLang has brought this to language models
(arXiv 2312.07104); a chain of hashes over blocks (`microgpt.caches.prefix`) finds the same in whole blocks.

Knows tokens and slots; what lies in a slot is another's affair.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from microgpt.errors import N_, UserError


@dataclass(eq=False, slots=True)
class Node:
    """The end of an edge: the tokens of the edge, a slot for each, and what comes after."""

    tokens: list[int] = field(default_factory=list)
    slots: list[int] = field(default_factory=list)
    parent: Node | None = None
    children: dict[int, Node] = field(default_factory=dict)  # by their first token
    locks: int = 0  # readers here or below
    used: int = 0  # when it was last walked


def alike(one: Sequence[int], other: Sequence[int]) -> int:
    """How many tokens both begin with."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(one), len(other)))


class RadixTree:
    """Texts and the slots of their rows.

    >>> tree = RadixTree()
    >>> tree.insert([1, 2, 3], [10, 11, 12]), tree.insert([1, 2, 4], [20, 21, 22]), len(tree)
    (0, 2, 4)
    >>> tree.match([1, 2, 4, 5])[0]
    [10, 11, 22]
    """

    def __init__(self) -> None:
        self.root = Node()
        self._clock = 0

    def __len__(self) -> int:
        """Slots that are held: one for each distinct beginning of a text."""
        return sum(len(node.slots) for node in self.nodes())

    def nodes(self, start: Node | None = None) -> Iterator[Node]:
        """All nodes but the root."""
        for child in (start or self.root).children.values():
            yield child
            yield from self.nodes(child)

    def match(self, tokens: Sequence[int]) -> tuple[list[int], Node]:
        """The slots of the longest beginning that is held, and its node; an edge is split where it ends inside."""
        self._clock += 1
        node, slots, at = self.root, list[int](), 0
        while at < len(tokens) and (child := node.children.get(tokens[at])):
            n = alike(child.tokens, tokens[at:])
            node = child if n == len(child.tokens) else self._split(child, n)
            node.used = self._clock
            slots += node.slots
            at += n
            if node is not child:
                break
        return slots, node

    def insert(self, tokens: Sequence[int], slots: Sequence[int]) -> int:
        """Hold this text. Returns how many of its first tokens had rows already: their slots stay the caller's.

        Raises UserError unless there is a slot for each token.
        """
        if len(tokens) != len(slots):
            sentence = N_("%(tokens)s tokens come with %(slots)s slots; give one for each token.")
            raise UserError(sentence, tokens=len(tokens), slots=len(slots))
        held, node = self.match(tokens)
        known = len(held)
        if known < len(tokens):
            rest = list(tokens[known:])
            node.children[rest[0]] = Node(rest, list(slots[known:]), node, used=self._clock)
        return known

    def lock(self, node: Node, by: int = 1) -> None:
        """Somebody reads what leads to this node; `by` -1: no more. Raises UserError if nobody does."""
        if node is not self.root and node.locks + by < 0:
            sentence = N_("This text has %(locks)s readers and %(by)s end; lock it before, once for each of them.")
            raise UserError(sentence, locks=node.locks, by=-by)
        walk: Node | None = node
        while walk is not None and walk is not self.root:
            walk.locks += by
            walk = walk.parent

    def evict(self, n: int) -> list[int]:
        """Give up at least n slots, fewer where the rest is locked: leaves, the one that was used longest ago first."""
        freed = list[int]()
        while len(freed) < n:
            leaves = [node for node in self.nodes() if not node.children and not node.locks]
            if not leaves:
                break
            oldest = min(leaves, key=lambda node: node.used)
            assert oldest.parent is not None
            del oldest.parent.children[oldest.tokens[0]]
            freed += oldest.slots
        return freed

    def _split(self, child: Node, n: int) -> Node:
        """A node after the first n tokens of the edge to `child`, which stays below it."""
        parent = child.parent
        assert parent is not None
        upper = Node(child.tokens[:n], child.slots[:n], parent, {child.tokens[n]: child}, child.locks, child.used)
        parent.children[child.tokens[0]] = upper
        child.tokens, child.slots, child.parent = child.tokens[n:], child.slots[n:], upper
        return upper
