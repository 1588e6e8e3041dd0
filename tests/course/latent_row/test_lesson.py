"""The lesson on latent rows: what is kept and made, both ways of one answer, and figures by other means."""

from typing import Any

import numpy as np

from microgpt.cache import KVCache
from microgpt.course.latent_row.lesson import CLAIM, KEPT_STATE
from microgpt.course.latent_row.one_head import FINE_DIGITS
from microgpt.experiments.shared_heads.widths import SEEDS, compare_pairs
from microgpt.model import forward
from microgpt.viz.text.formats import number
from microgpt.weights import shipped
from tests.support.lens import holds
from tests.support.pages import Run, classes, drawn, find, folded, prose_of, runs, text

PROMPTS = ["The next day is bright and the sun", "The", "In the morning the woman is happy and she sings ."]
MODEL = shipped("stories-mla")
run = runs("latent-row", [("stories-mla", prompt) for prompt in PROMPTS])


def values(strip: Any) -> np.ndarray:
    return np.array([cell.value for cell in strip.cells])


def test_both_ways_come_to_the_same_by_hand(run: Run) -> None:
    """From what is drawn: query times key, and turned query times latent; the mix of values, and that of latents made a
    value by the head's part of wv_up. All rows of short texts, and the newest of long ones."""
    made, _ = run
    head, ids, cache = made.head, MODEL.tokenizer.encode(made.trace.about["prompt"]), KVCache(MODEL.config)
    forward(MODEL.params, MODEL.config, ids, cache)
    first, own = made.n - len(head.rows), slice(head.head * made.own, (head.head + 1) * made.own)
    for i, row in enumerate(reversed(head.rows)):
        assert abs(values(head.query) @ values(row.key) - values(head.turned) @ values(row.latent)) < 1e-9
        for strip, kept in ((row.latent, cache[0].values), (row.short, cache[0].keys)):
            assert np.abs(values(strip) - kept[0, first + i]).max() < 1e-12
    up = MODEL.params["layer0.wv_up"][own]
    assert np.abs(up @ values(head.mixed) - values(head.out)).max() < 1e-9
    assert len(head.rows) == min(10, len(ids))
    if len(head.rows) == len(ids):
        mix = sum(row.weight * values(row.value) for row in head.rows)
        assert np.abs(mix - values(head.out)).max() < 1e-9 and abs(sum(row.weight for row in head.rows) - 1) < 1e-9
    assert made.difference < 1e-12


def test_every_line_comes_to_the_number_that_it_answers_for(run: Run) -> None:
    """What each cell that is made comes from, and each weight, both ways."""
    made, tree = run
    head, due, own = made.head, dict[str, str](), range(made.own)
    for i, row in enumerate(head.rows):
        due |= {
            f"{kind}{i}-{j}": number(values(strip)[j], FINE_DIGITS)
            for kind, strip in zip("kv", row[3:5], strict=True)
            for j in own
        }
        due |= {f"{kind}{i}": number(row.weight) for kind in "wx"}
    due |= {f"t{j}": number(x, FINE_DIGITS) for j, x in enumerate(values(head.turned))}
    due |= {f"{kind}{j}": number(values(head.out)[j], FINE_DIGITS) for kind in "ou" for j in own}
    said = dict[str, str]()
    for part in find(tree, "hits"):
        asked, lines = [e.get("value", "") for e in part.iter("input")], [folded(e) for e in part.iter("p")]
        said |= dict(zip(asked, lines, strict=True))
    assert {name: line.split()[-1] for name, line in said.items()} == due
    assert [line for line in said.values() if not holds(line.replace(", as q · k without the short key", ""))] == []
    assert {one.name: set(one.values) for one in made.fields}["lens"] == {"", *due}


def test_the_matrices_are_there_both_ways_and_what_is_made_only_one_way(run: Run) -> None:
    made, tree = run
    (fold,) = find(tree, "fold")
    assert [classes(one) & {"k", "v", "D"} for one in find(fold, "matrix")] == [{"k"}, {"v"}]
    assert sum(len(find(one, "anew")) for one in find(fold, "D0")) == 2 * len(made.head.rows)
    assert len(find(fold, "D1", "from")) == len(find(fold, "D1", "into")) == 1
    panels = [text(find(tree, f"C{i}")[0]) for i in range(2)]
    assert f"{made.ways[0][0]} numbers per layer" in panels[0] and "Nothing is made" in panels[1]


def test_multiply_adds_are_counted_loop_by_loop() -> None:
    made, _ = drawn("latent-row", "stories-mla", PROMPTS[0])
    n, heads, rank, turned, own = made.n, made.config.n_head, made.config.kv_lora_rank, made.config.rope_dim, made.own
    expanded = sum(rank * own * 2 + (own + turned) + own for _ in range(heads) for _ in range(n))
    absorbed = sum(own * rank * 2 + sum(rank + turned + rank for _ in range(n)) for _ in range(heads))
    assert [work for _, work in made.ways] == [expanded, absorbed]


def test_deepseek_as_published() -> None:
    made, _ = drawn("latent-row", "stories-mla", PROMPTS[0])
    large = made.large
    assert (large.row, large.bytes_per_token(), large.row_if_mha) == (576, 70_272, 40_960)
    assert round(made.times, 1) == 71.1 and round(100 * made.fair, 1) == 82.2
    assert (made.full, made.absorbed) == (41_943_040, 159_383_552)
    assert round(100 * (1 - 60 * 576 * 6 / (95 * 2 * 8 * 128 * 16)), 1) == round(100 * CLAIM, 1)
    assert "93.3 % less" in prose_of("latent-row", "stories-mla", PROMPTS[0])


def test_the_charts_end_where_the_figures_say() -> None:
    made, _ = drawn("latent-row", "stories-mla", PROMPTS[0])
    *_, (n, (grouped, latent, state)) = made.growth.table
    assert (n, grouped, latent, state) == (1000, 2048, 576, KEPT_STATE / 1000)
    assert all(rows == 0 for _, (_, _, rows) in made.recalled.table)
    assert made.at_once > made.by_delta > 0.5


def test_quality_is_said_with_its_interval_and_at_the_same_size() -> None:
    """Latent rows against one key head: as many numbers per token, and more weights."""
    made, tree = drawn("latent-row", "stories-mla", PROMPTS[0])
    _, _, one, latent = made.kinds
    assert (one.name, latent.name) == ("mqa", "mla") and one.numbers == latent.numbers == made.row * made.config.n_layer
    assert latent.weights > one.weights and latent.above == compare_pairs("mla", "mha")
    said = prose_of("latent-row", "stories-mla", PROMPTS[0]).replace("−", "-")
    for found in (latent.above, made.same_size):
        assert f"is {found.mean:.4f} above" in said or f"are {found.mean:.4f} above" in said
        assert f"{found.low:.4f} to {found.high:.4f}" in said and f"{found.worse} of {SEEDS} seeds" in said
    assert ("Zero lies in that interval" in said) == (made.same_size.low < 0 < made.same_size.high)
    assert (
        made.same_size == compare_pairs("mla", "mqa")
        and f"{made.row} numbers in each of 2 layers, {one.numbers}" in said
    )
    assert f"{compare_pairs('gqa', 'mha').mean:.4f}" in text(find(tree, "trained")[0])
