"""Guesses that branch: the text is the target's own, and a branch more never costs a pass."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microgpt.decode import generate
from microgpt.errors import UserError
from microgpt.serving.trees import Tree, grow, speculate, trim
from microgpt.weights import shipped
from tests.support.examples import examples

TARGET, DRAFT = shipped("names-deep"), shipped("names")


def text_of(prompt: list[int], widths: list[int], most: int) -> tuple[list[int], int]:
    rounds = list(speculate(TARGET, DRAFT, prompt, widths, most))
    return [token for one in rounds for token in one.tokens], len(rounds)


@given(
    st.lists(st.integers(0, 25), max_size=8), st.lists(st.integers(1, 3), min_size=1, max_size=3), st.integers(1, 16)
)
@settings(max_examples=examples(60), deadline=None)
def test_the_text_is_that_of_the_target_alone(letters: list[int], widths: list[int], most: int) -> None:
    prompt = [TARGET.tokenizer.start, *letters]
    stop = TARGET.tokenizer.start
    plain = list(generate(TARGET.params, TARGET.config, prompt, most, stop=stop))
    ours, passes = text_of(prompt, widths, most)
    assert ours == plain and passes <= max(1, len(plain))


@given(st.lists(st.integers(0, 25), max_size=6), st.integers(1, 3))
@settings(max_examples=examples(30), deadline=None)
def test_a_tree_that_holds_the_chain_takes_no_more_passes(letters: list[int], depth: int) -> None:
    prompt = [TARGET.tokenizer.start, *letters]
    _, chain = text_of(prompt, [1] * depth, 8)
    _, tree = text_of(prompt, [2] * depth, 8)
    if len(prompt) + 8 + 14 <= TARGET.config.n_ctx:  # where the whole tree has room in the context
        assert tree <= chain


def test_a_tree_has_the_likeliest_tokens_of_each_place() -> None:
    tree = grow(DRAFT, [26, 4, 12], [2, 3])
    assert tree.parents == [-1, -1, 0, 0, 0, 1, 1, 1] and len(tree.tokens) == 8
    again = grow(DRAFT, [26, 4, 12, tree.tokens[1]], [3])
    assert again.tokens == tree.tokens[5:]
    assert tree.tokens[:2] == grow(DRAFT, [26, 4, 12], [2]).tokens


def test_cut_keeps_a_tree() -> None:
    tree = Tree([5, 6, 7, 8], [-1, 0, -1, 1])
    assert trim(tree, 3, 9) == Tree([5, 6, 7], [-1, 0, -1])
    assert trim(tree, 9, 1) == Tree([5, 7], [-1, -1])
    assert trim(tree, 9, 0) == Tree([], [])


def test_what_cannot_be() -> None:
    with pytest.raises(UserError, match="guesses nothing; choose 1 or more"):
        next(speculate(TARGET, DRAFT, [26], [], 4))
    with pytest.raises(UserError, match="vocabulary"):
        next(speculate(TARGET, shipped("stories"), [26], [2], 4))
