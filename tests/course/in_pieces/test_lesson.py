"""The lesson on tiles: what each bar counts, the sums that are carried on, the join, and the numbers that are moved."""

import numpy as np

from microgpt.config import Array
from microgpt.course.in_pieces.lesson import View, answer_of
from tests.support.pages import Run, classes, drawn, find, numbers, prose_of, runs, shown_as, text

NAMES = [("names-deep", "emmanuel"), ("names", "emm"), ("names-deep", "z" * 15)]
RUNS = [*NAMES, ("stories", "The next day is bright and the girl")]
run = runs("in-pieces", RUNS)


def rows(made: View) -> tuple[Array, Array]:
    """The scores of the last query in the head on show, and the values, from the trace."""
    n = sum(len(tile.keys) for tile in made.tiles)
    scores = made.trace["attn_scores", n - 1, made.layer][made.head, 0]
    heads, kv_heads = (made.trace[name, 0, made.layer].shape[1] for name in "qv")
    group = heads // kv_heads
    return scores, np.stack([made.trace["v", i, made.layer][0, made.head // group] for i in range(n)])


def test_the_answer_is_plain_softmax_and_so_is_the_models(run: Run) -> None:
    made, _ = run
    scores, values = rows(made)
    weights = np.exp(scores) / np.exp(scores).sum()
    out, plain = made.tiles[-1].state.part.out, answer_of(made.trace, len(scores), made.layer, made.head)
    for found in (out, plain, made.joined.out):
        assert np.abs(found - weights @ values).max() < 1e-12
    assert np.abs(out - plain).max() <= made.everywhere < 1e-12


def test_a_bar_is_what_a_key_counts_beside_the_largest_so_far(run: Run) -> None:
    made, tree = run
    scores, values = rows(made)
    keys = [key for tile in made.tiles for key in tile.keys]
    read = 0
    for case, tile in enumerate(made.tiles):
        read += len(tile.keys)
        largest = scores[:read].max()
        for j, key in enumerate(keys):
            assert abs(key.shares[case] - (np.exp(scores[j] - largest) if j < read else 0)) < 1e-12
            assert key.was[case] == (key.shares[case - 1] if case else 0)
        assert abs(tile.state.l - np.exp(scores[:read] - largest).sum()) < 1e-12
        assert np.abs(tile.state.o - np.exp(scores[:read] - largest) @ values[:read]).max() < 1e-12
        assert abs(sum(key.shares[case] for key in keys) - tile.state.l) < 1e-12  # l is what all bars come to
        drawn = [frame for frame in find(tree, "frame") if f"D{case}" in classes(frame)]
        assert len(drawn) == 1
        board = find(tree, f"C{case}")[0]
        panel, (replies,) = text(board), find(board, "replies")
        (so_far,) = find(board, "so-far")
        (*_, answer) = find(so_far, "strip")
        shown_as([numbers(one)[0] for one in answer], tile.state.o / tile.state.l, 2)
        for key, line in zip(keys[:read], replies, strict=False):
            score, *top, share = numbers(line)
            assert key.name in classes(line) and abs(share - np.exp(key.score - largest)) < 0.0051
            assert abs(share - np.exp(score - np.copysign(sum(map(abs, top)), largest))) < 0.0101
        assert len(replies) == read + (case > 0)
        assert ("m rises" in panel) == tile.rose == (case > 0 and largest > scores[: read - len(tile.keys)].max())
    assert len(find(tree, "key")) == len(keys) == len(scores)


def test_the_halves_and_the_plain_mean(run: Run) -> None:
    made, tree = run
    scores, values = rows(made)
    assert abs(sum(weight for _, _, weight in made.splits) - 1) < 1e-12
    at = 0
    for tokens, one, weight in made.splits:
        part = slice(at, at + len(tokens))
        e = np.exp(scores[part])
        assert np.abs(one.out - e @ values[part] / e.sum()).max() < 1e-12
        assert abs(weight - e.sum() / np.exp(scores).sum()) < 1e-12
        at = part.stop
    assert at == len(scores)
    if len(made.splits) > 1:
        assert abs(made.off - np.abs(made.mean - made.tiles[-1].state.part.out).max()) < 1e-12 and made.off > 1e-3
        assert str(round(made.off, 2)) in text(find(tree, "wrong")[0])


def test_what_is_moved_is_counted_array_by_array() -> None:
    """Q, K, V and O once each; with stored scores, four times a score more."""
    made, tree = drawn("in-pieces", *RUNS[0])
    for one, (n, t) in zip(made.moved, ((4096, 4096), (1, 4096)), strict=True):
        read = n * 128 + 2 * t * 128 + n * 128
        assert (one.once, one.apart) == (read, read + 4 * n * t)
    shown = numbers(find(tree, "moved")[0])
    assert {69_206_016, 2_097_152, 1_065_216, 1_048_832} <= {int(x) for x in shown}
    assert "2.268941" in prose_of("in-pieces", *RUNS[0])
    assert [parts for *_, parts in made.loads] == [8, 22, 23, 6, 1]
