"""A radix tree finds the longest beginning that anything inserted has, and holds each beginning once."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microgpt.caches.radix import RadixTree, alike
from microgpt.errors import UserError
from tests.support.examples import examples

TEXTS = st.lists(st.lists(st.integers(0, 2), max_size=8), max_size=12)


def put(tree: RadixTree, text: str) -> int:
    """Insert a text of letters; its slots are new ones."""
    ids = [ord(letter) for letter in text]
    return tree.insert(ids, [10_000 * (len(tree) + 1) + i for i in range(len(ids))])


def test_four_texts_and_what_goes_first() -> None:
    tree, sizes = RadixTree(), []
    for text in ("system:hello bob", "system:hello ann", "system:what", "other"):
        put(tree, text)
        sizes.append(len(tree))
    assert sizes == [16, 19, 23, 28]
    held = {"".join(map(chr, node.tokens)) for node in tree.nodes()}
    assert held == {"system:", "hello ", "bob", "ann", "what", "other"}
    for n, left in ((3, held - {"bob"}), (9, {"system:", "what", "other"})):
        assert len(tree.evict(n)) == n and {"".join(map(chr, node.tokens)) for node in tree.nodes()} == left


@given(TEXTS, st.lists(st.integers(0, 2), max_size=9))
@settings(max_examples=examples(300))
def test_match_is_the_longest_common_beginning(texts: list[list[int]], asked: list[int]) -> None:
    """And its slots are those of whoever brought each beginning first."""
    tree, first, slot = RadixTree(), dict[tuple[int, ...], int](), 0
    for text in texts:
        slots = list(range(slot, slot + len(text)))
        slot += len(text)
        known = tree.insert(text, slots)
        assert known == max((alike(text, list(other)) for other in first), default=0)
        for i in range(len(text)):
            first.setdefault(tuple(text[: i + 1]), slots[i])
    assert len(tree) == len(first)
    found, node = tree.match(asked)
    assert len(found) == max((alike(asked, list(other)) for other in first), default=0)
    assert found == [first[tuple(asked[: i + 1])] for i in range(len(found))]
    assert len(tree) == len(first)
    path = list[int]()
    while node.parent is not None:
        path, node = node.slots + path, node.parent
    assert path == found


def test_what_is_locked_stays_and_nothing_is_lost() -> None:
    """Two thousand operations on texts of three letters."""
    draw, tree, locked, slot, inside = Random(0), RadixTree(), [], 0, set[int]()
    for _ in range(2_000):
        text = [draw.randrange(3) for _ in range(draw.randint(1, 9))]
        choice = draw.random()
        if choice < 0.4:
            slots = list(range(slot, slot + len(text)))
            slot += len(text)
            inside |= set(slots[tree.insert(text, slots) :])
        elif choice < 0.6:
            found, node = tree.match(text)
            tree.lock(node)
            locked.append((text, found, node))
        elif choice < 0.8 and locked:
            tree.lock(locked.pop(draw.randrange(len(locked)))[2], -1)
        else:
            inside -= set(tree.evict(draw.randint(1, 6)))
        assert {one for node in tree.nodes() for one in node.slots} == inside
        for text, found, _ in locked:
            assert tree.match(text)[0][: len(found)] == found
    for *_, node in locked:
        tree.lock(node, -1)
    assert len(tree.evict(10**6)) == len(inside) and not len(tree)


def test_nobody_reads_less_than_nothing() -> None:
    """One unlock too many would let a beginning go that somebody else still reads: it raises, and changes nothing."""
    tree = RadixTree()
    put(tree, "ab")
    put(tree, "ac")
    _, leaf = tree.match([ord("a"), ord("b")])
    assert leaf.parent is not None
    tree.lock(leaf)
    tree.lock(leaf, -1)
    with pytest.raises(UserError, match="0 readers and 1 end"):
        tree.lock(leaf, -1)
    assert (leaf.locks, leaf.parent.locks) == (0, 0)
    tree.lock(tree.root, -1)
    assert len(tree.evict(3)) == 3
