"""Texts that begin alike share what they should, event by event, and get the logits of texts that share nothing."""

from collections import Counter

import numpy as np
import pytest

from microgpt.cache import KVCache
from microgpt.caches.prefix import block_keys
from microgpt.course.shared_prefixes.events import (
    AGAIN,
    CHANGED,
    FIRST,
    FORK,
    OTHER,
    SECOND,
    SIZE,
    Event,
    Texts,
    beginning,
    row_distances,
)
from microgpt.decode import decode_step
from microgpt.errors import UserError
from microgpt.trace import Trace
from microgpt.weights import shipped

DEEP, NAMES = shipped("names-deep"), shipped("names")
PROMPTS = ["christ", "mari", "a", "tim", "abcdefghijklm"]


def run(prompt: str) -> tuple[Texts, list[Event]]:
    texts = Texts(DEEP, beginning(DEEP, prompt), Trace())
    return texts, list(texts.events())


@pytest.mark.parametrize("prompt", PROMPTS)
def test_blocks_are_counted_and_found_by_all_that_leads_to_them(prompt: str) -> None:
    texts, events = run(prompt)
    for event in events:
        held = Counter(block for table in event.tables for block in table)
        assert event.refs == [held[block] for block in range(len(event.refs))]
        assert event.difference < 1e-12
    first, second, again, other = (texts.there[i] for i in (FIRST, SECOND, AGAIN, OTHER))
    alike = next(i for i, (a, b) in enumerate(zip(first, second, strict=False)) if a != b)
    found = {event.text: event.found for event in events if event.kind in ("run", "again", "changed")}
    assert found == {FIRST: 0, SECOND: alike // SIZE * SIZE, AGAIN: len(again) - 1, OTHER: CHANGED}
    assert [a == b for a, b in zip(first, other, strict=True)] == [i != CHANGED for i in range(len(first))]
    for i in (SECOND, FORK, AGAIN, OTHER):  # each block that has a key has that of its text
        keys = [events[-1].keys.get(block) for block in events[-1].tables[i]]
        right = block_keys(texts.there[i], SIZE)
        assert [key for key in keys if key] == right[: len([key for key in keys if key])]


@pytest.mark.parametrize("prompt", PROMPTS)
def test_a_fork_copies_and_the_last_reader_does_not(prompt: str) -> None:
    _, events = run(prompt)
    fork, copy, write = (next(e for e in events if e.kind == kind) for kind in ("fork", "copy", "write"))
    assert copy.copied is not None
    old, new = copy.copied
    assert (fork.refs[old], copy.refs[old], copy.refs[new]) == (2, 1, 1)
    assert write.tables == copy.tables and write.refs == copy.refs and write.copied is None
    assert copy.ids[:-1] == write.ids[:-1] and copy.ids[-1] != write.ids[-1]


def test_a_changed_token_reaches_every_layer_but_the_first() -> None:
    texts, _ = run("christ")
    first, other = texts.ids[FIRST], texts.ids[OTHER]
    caches = [KVCache(DEEP.config) for _ in (first, other)]
    for ids, cache in zip((first, other), caches, strict=True):
        for token in ids:  # not in one pass
            decode_step(DEEP.params, DEEP.config, token, cache)
    one, two = ([np.concatenate([layer.keys, layer.values]) for layer in cache.layers] for cache in caches)
    right = [np.abs(a - b)[:, CHANGED + 1 :].max() for a, b in zip(one, two, strict=True)]
    apart = row_distances(DEEP, first, other, CHANGED)
    assert apart[0] == 0 and min(apart[1:]) > 0.5
    assert apart == pytest.approx(right, abs=1e-12)
    assert row_distances(NAMES, first, other, CHANGED) == [0]


def test_a_beginning_leaves_room_for_two_ends() -> None:
    long = DEEP.tokenizer.encode("abcdefghijklmno")
    assert len(long) == 16 and beginning(DEEP, "abcdefghijklmno") == long[:14]
    assert beginning(DEEP, "abcdefghijklm") == long[:14]
    with pytest.raises(UserError, match="16"):
        beginning(DEEP, "abcdefghijklmnop")
    with pytest.raises(UserError, match="empty"):
        beginning(DEEP, "")
