"""The page on long texts says what adding up layers gives, and its window is the one of a mask."""

from dataclasses import replace

import numpy as np
import pytest

from microgpt.architectures.known import PRESETS
from microgpt.cache import KVCache
from microgpt.course.long_texts.lesson import SHOWN, UNITS, View, view
from microgpt.course.long_texts.shapes import LONGEST_TEXT, TEXT_LENGTHS, shapes, ways
from microgpt.course.long_texts.states import states
from microgpt.course.long_texts.windowed import ROWS_SEEN
from microgpt.model import forward
from microgpt.trace import Trace
from microgpt.viz.settings import Settings
from microgpt.viz.text.formats import size_text
from microgpt.weights import shipped
from tests.support.pages import by_id, drawn, find, folded, text

TEXTS = [("names-deep", "juliann"), ("stories", "The sun is")]
# layers that keep every row, layers with a window, how wide it is, bytes of a row: by hand, of each config.json
BY_HAND = {
    "Llama-3.1-8B": (32, 0, 0, 2 * 2 * 8 * 128),
    "Gemma-3-4B": (5, 29, 1024, 2 * 2 * 4 * 256),
    "gpt-oss-20b": (12, 12, 128, 2 * 2 * 8 * 64),
    "Llama-4-Scout": (12, 36, 8192, 2 * 2 * 8 * 128),
    "DeepSeek-V3": (61, 0, 0, 2 * (512 + 64)),
}


def test_bytes_and_times_are_those_of_adding_up_layers() -> None:
    shown = view(Settings("names-deep", "juliann"))
    for one in shown.models:
        if one.shape.readers:
            continue
        full, near, window, row = BY_HAND[one.shape.name]
        assert (one.shape.full, one.shape.near) == (full, near)
        for tokens, cost in zip(TEXT_LENGTHS, one.costs, strict=True):
            held = full * tokens * row + near * min(window, tokens) * row
            assert cost.cache == cost.rows == held
            assert cost.milliseconds == pytest.approx((one.shape.weights + held) / 3.35e9)
            assert cost.share == pytest.approx(held / (held + one.shape.weights))
            assert cost.beyond == (tokens > one.shape.model.config.n_ctx)


def test_shared_rows_are_kept_once_and_read_by_all() -> None:
    *_, shared = shapes()
    plain = PRESETS[shared.name]
    assert (len(shared.readers), shared.full) == (16, 16) and not {0} & shared.readers
    for tokens in TEXT_LENGTHS:
        assert 2 * shared.cache(tokens) == shared.read(tokens) == plain.cache_bytes(tokens)
    assert plain.weight_bytes_read() - shared.weights == 16 * 2 * 2 * 4096 * 1024  # wk and wv, which nobody needs


def test_two_ways_to_share_and_one_to_choose() -> None:
    found = {way.kind: (way.kept, way.read) for way in ways(131_072)}
    assert found["yoco"][0] == 576 * 2**20  # as our notes have it
    assert found["cla"] == (2**33, 2**34) and found["all"] == (2**34, 2**34)
    kept, read = found["indexer"]
    assert kept == 61 * 131_072 * (1152 + 132) and read == 61 * (2048 * 1152 + 131_072 * 132)
    assert kept > found["latent"][0] > read


def test_the_gpu_is_full_where_the_line_lies() -> None:
    shown = view(Settings("names-deep", "juliann"))
    for one in shown.models:
        weights = one.shape.model.weight_bytes()
        if weights > 80 * 10**9:
            assert one.shape.most == 0
            continue
        at = one.shape.most
        assert weights + one.shape.cache(at) <= 80 * 10**9
        assert at == LONGEST_TEXT or weights + one.shape.cache(at + 1) > 80 * 10**9
        assert one.line == pytest.approx(UNITS * (1 - at / LONGEST_TEXT))


def test_columns_are_as_wide_as_rows_and_as_high_as_they_are_many() -> None:
    shown = view(Settings("names-deep", "juliann"))
    numbers = states(False)
    heights, most = numbers["heights"], dict(numbers["windows"])
    for one in shown.models:
        kept = [strip for strip in one.strips if strip.side != "none"]
        for i, cost in enumerate(one.costs):
            drawn_area = sum(
                strip.width * len(strip.runs) * min(heights[i], most.get(strip.window, 1)) for strip in kept
            )
            assert drawn_area / cost.cache == pytest.approx(
                shown.base.strips[0].width * 2 * 32 / shown.base.costs[-1].cache
            )
        assert sum(len(strip.runs) for strip in one.strips if strip.side == "none") == len(one.shape.readers)


@pytest.mark.parametrize(("name", "prompt"), TEXTS)
def test_a_layer_with_a_window_stops_and_gives_what_a_mask_gives(name: str, prompt: str) -> None:
    """In one pass over all rows, with the mask alone."""
    shown, model = view(Settings(name, prompt)), shipped(name)
    ids, first = model.tokenizer.encode(prompt), model.config.n_layer // 2
    config, trace = replace(model.config, window=ROWS_SEEN, window_from=first), Trace({})
    forward(model.params, config, ids, KVCache(config), trace)
    assert shown.run.first == first and len(shown.run.moments) == len(ids)
    for i, now in enumerate(shown.run.moments):
        seen = [int(np.isfinite(trace["attn_scores", 0, layer][0][i]).sum()) for layer in range(config.n_layer)]
        assert now.read == seen == [i + 1] * first + [min(i + 1, ROWS_SEEN)] * (config.n_layer - first)
        assert now.held == [i + 1] * first + [min(i + 1, ROWS_SEEN - 1)] * (config.n_layer - first)
    assert shown.run.off < 1e-12


def test_the_page_draws_the_rows_that_are_there() -> None:
    shown, tree = drawn("long-texts", "names-deep", "juliann")
    assert isinstance(shown, View)
    (figure,) = find(tree, "windowed")
    lines = [list(line.iter("td")) for line in figure.iter("tr")]
    lines = [cells for cells in lines if cells and find(cells[0], "pair")]
    assert len(lines) == 4 and {len(cells) for cells in lines} == {len(shown.run.moments)}
    for layer, cells in enumerate(reversed(lines)):
        assert all((f"b{ROWS_SEEN}" in (cell.get("class") or "").split()) == (layer >= 2) for cell in cells)


def test_the_page_says_what_was_computed() -> None:
    shown, said = view(Settings("names-deep", "juliann")), {name: folded(e) for name, e in by_id("long-texts").items()}
    now = shown.base.costs[SHOWN]
    assert now.cache == 2**17 * 2**17 and size_text(now.cache) in said["bytes"] and "15.0 GB" in said["bytes"]
    assert now.cache > shown.base.shape.weights  # as it says
    assert f"{shown.base.costs[-1].milliseconds:.1f}" in said["time"]
    assert f"for {len(shown.table)} models" in said["known"] and len(shown.table) >= 20
    kept = [
        sum(min(n, w or n) for w in windows) * 2048 for n, windows in ((32_768, gemma_3n(20)), (32_768, gemma_3n(35)))
    ]
    assert all(size_text(one) in said["yoco"] for one in kept)
    assert "576" not in said["yoco"] and "0.6" not in said["yoco"] and "604.0 MB" in said["yoco"]
    qwen = PRESETS["Qwen3-8B"]
    steps = [(qwen.weight_bytes_read() + qwen.bytes_per_token() * n) / 3.35e12 for n in range(2001, 12_001)]
    assert f"{sum(steps):.0f} seconds" in said["thinking"]


def gemma_3n(layers: int) -> list[int]:
    """Every fifth layer sees everything."""
    return [0 if layer % 5 == 4 else 512 for layer in range(layers)]


def test_the_table_has_the_bytes_of_each_model() -> None:
    _, tree = drawn("long-texts", "names-deep", "juliann")
    (table,) = find(tree, "known")
    lines = {text(row[0]): [text(cell) for cell in row[1:]] for row in table.iter("tr")}
    for name, cells in lines.items():
        if name in PRESETS:
            model = PRESETS[name]
            assert cells[:-1] == [
                f"({size_text(model.cache_bytes(n))})" if n > model.config.n_ctx else size_text(model.cache_bytes(n))
                for n in (8192, 32_768, 131_072, 1_048_576)
            ]
    assert lines["Llama-3.1-8B"] == ["1.1 GB", "4.3 GB", "17.2 GB", "(137.4 GB)", "9.6"]
