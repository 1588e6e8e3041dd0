"""The page on code: listings that run here print what the page shows, and the picture is that of their shapes.

Those that need PyTorch run in tests/references/test_in_your_code.py.
"""

import json
import re

import numpy as np
import pytest

from microgpt.architectures.known import PRESETS
from microgpt.cache import KVCache
from microgpt.course import page
from microgpt.course.in_your_code.growth import LARGE_MODEL, N_LONG
from microgpt.course.in_your_code.lesson import LOOPS, N_NEW, View, turns, view
from microgpt.course.in_your_code.lines import LINES
from microgpt.decode import probabilities, recompute
from microgpt.model import forward
from microgpt.viz import views
from microgpt.viz.rendering.draw import thumb
from microgpt.viz.settings import Settings
from microgpt.weights import shipped
from tests.support.figures import boxes_of
from tests.support.lens import value
from tests.support.listings import (
    FOLDER,
    LIMITS,
    NOTEBOOK,
    PLAIN,
    PROMPT,
    RECORDED,
    SHARED,
    cells_print,
    listings,
    names_of,
    printed,
    printed_in_spanish,
    renewed,
)
from tests.support.pages import find, folded, said_on, text, tree_of

OURS = page("in-your-code")


@pytest.fixture(scope="module")
def shown() -> View:
    found = views.of(OURS)
    assert isinstance(found, View)
    return found


@pytest.mark.parametrize("name", PLAIN)
def test_a_listing_prints_what_is_recorded(name: str) -> None:
    assert printed(name) == RECORDED["printed"][name]


def test_those_of_the_spanish_page_print_what_is_recorded() -> None:
    assert printed_in_spanish(PLAIN) == {name: RECORDED["printed_es"][name] for name in PLAIN}


@pytest.mark.parametrize("name", ["plain", "package"])
@pytest.mark.parametrize("prompt", [PROMPT, *LIMITS])
def test_a_loop_ends_with_the_logits_of_the_model(name: str, prompt: str) -> None:
    """Words alone would not tell a small mistake. From a single id, and until no row is left."""
    found, model = names_of(name, (PROMPT, prompt)), shipped("stories")
    assert np.allclose(found["logits"], recompute(model.params, model.config, found["ids"][:-1]), rtol=0, atol=1e-12)
    assert len(found["ids"]) == len(model.tokenizer.encode(prompt)) + N_NEW <= model.config.n_ctx + 1


def test_the_last_of_the_long_prompts_leaves_no_room() -> None:
    model = shipped("stories")
    assert [len(model.tokenizer.encode(prompt)) for prompt in LIMITS] == [1, model.config.n_ctx - N_NEW + 1]


def test_what_grows_begins_with_nothing() -> None:
    assert names_of("growing", ("= 2, 24, 8", "= 2, 1, 8"))["written"] == 2 * 8 * 8
    assert names_of("growing", ("= 2, 24, 8", "= 2, 0, 8"))["written"] == 0


@pytest.mark.parametrize(("prompt", "limit", "seed"), [(PROMPT, 6, 0), ("", 6, 1), (LIMITS[1], 5, 2), (PROMPT, 1, 3)])
def test_what_is_drawn_is_drawn_by_its_probabilities_until_the_end_token_or_the_limit(
    prompt: str, limit: int, seed: int
) -> None:
    """Each token again, without a cache: where a number from the same generator falls in the sum of probabilities."""
    swaps = (PROMPT, prompt), ("max_new_tokens = 6", f"max_new_tokens = {limit}"), ("rng(0)", f"rng({seed})")
    found, model = names_of("sampling", *swaps), shipped("stories")
    rng, ids = np.random.default_rng(seed), model.tokenizer.encode(prompt)
    for token in found["drawn"]:
        sums = probabilities(recompute(model.params, model.config, ids), found["T"]).cumsum()
        assert int((sums / sums[-1]).searchsorted(rng.random(), side="right")) == token
        ids = [*ids, token]
    *before, last = found["drawn"]
    assert model.tokenizer.start not in before and len(found["drawn"]) <= limit
    assert len(found["drawn"]) == limit or last == model.tokenizer.start


def test_drawn_with_hardly_any_temperature_it_is_greedy() -> None:
    found = names_of("sampling", ("(0.5, 1.0, 2.0)", "(1e-6,)"))["drawn"]
    assert found[:N_NEW] == names_of("package")["ids"][-N_NEW:]


def test_the_notebook_is_made_of_the_listings_and_prints_the_same() -> None:
    notebook = json.loads(NOTEBOOK.read_text("utf-8"))
    assert notebook == renewed()
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert not any(cell["outputs"] or cell["execution_count"] for cell in code)
    assert {cell["id"] for cell in code} == {*listings(), *SHARED}
    found = cells_print([*PLAIN, "plain_parts"])
    assert {name: found[name] for name in PLAIN} == {name: RECORDED["printed"][name] for name in PLAIN}


def test_the_page_shows_each_listing_as_its_file_has_it_and_what_it_prints(shown: View) -> None:
    blocks = [text(e) for e in find(tree_of(OURS), "listing")]
    for name in [*listings(), *SHARED]:
        assert (FOLDER / f"{name}.py").read_text("utf-8") in blocks, name
        if name not in SHARED and name != "bug":  # which would tell what is wrong
            assert RECORDED["printed"][name].rstrip("\n") in blocks, name


def test_every_line_that_is_lit_is_there(shown: View) -> None:
    for one, (_, pieces) in zip(shown.listings, LOOPS.values(), strict=True):
        lit = [line.text for line in one.lines if line.lit]
        assert len(lit) == len(pieces) and all(sum(piece in line for line in lit) == 1 for piece in pieces), one.name


@pytest.mark.parametrize("lang", ["en", "es"])
def test_all_loops_write_the_same_text_in_the_words_of_the_page(lang: str) -> None:
    """Of its picture too; and a listing that is wrong chooses the same words, so that only a length tells."""
    ours = OURS.in_language(lang)
    shown = views.of(ours)
    assert isinstance(shown, View) and shown.bug_words == [one.chosen for one in shown.passes]
    texts = {one.printed.splitlines()[-1] for one in shown.listings}
    assert texts == {" ".join(shown.tokens[1:])}
    model = shipped(ours.model)
    assert {*shown.tokens[1:]} <= {*model.tokenizer.vocabulary}
    padding = "\n".join(line.text for line in shown.more["left_padding"].lines)
    assert f"vocab_size={model.config.vocab_size}," in padding and f"bos_token_id={model.tokenizer.start}" in padding
    neither, masked, right = shown.padded
    assert neither[0] > 1 and neither[1] != masked[1] == right[1]
    assert masked[0] == right[0] == right[2] == 0 < masked[2]
    for one in (*shown.listings, *shown.more.values()):  # none speaks another language
        listed = "\n".join(line.text for line in one.lines)
        assert lang == "en" or not re.search('"(stories"|The (next|cat|girl))', listed), one.name


def test_the_picture_is_that_of_the_listings(shown: View) -> None:
    """Shape by shape and token by token, as transformers told them, and as the cache of this package has them."""
    told = [f"ids in: {[1, len(one.tokens)]} K: {one.shape} -> {one.chosen}" for one in shown.passes]
    assert told == RECORDED["printed"]["with_cache"].splitlines()[:-1]
    without = [f"ids in: {[1, one.length]} -> {one.chosen}" for one in shown.passes]
    assert without == RECORDED["printed"]["without_cache"].splitlines()[:-1]
    model = shipped("stories")
    cache, ids = KVCache(model.config), model.tokenizer.vocabulary.index
    for one, table in zip(shown.passes, shown.tables, strict=True):
        assert cache.next_position == one.position
        forward(model.params, model.config, [ids(token) for token in one.tokens], cache)
        kept = [part for layer in range(shown.config.n_layer) for part in (cache[layer].keys, cache[layer].values)]
        assert [row[1:] for row in table.rows] == [(f"{[1, *rows.shape]}", rows.size) for rows in kept]


def test_each_row_that_is_kept_is_drawn_number_by_number(shown: View) -> None:
    model = shipped(shown.model)
    ids = model.tokenizer.encode(" ".join(shown.tokens[1:]))[: shown.passes[-1].length]
    cache = KVCache(model.config)
    forward(model.params, model.config, ids, cache)
    drawn = [
        [[[cell.value for cell in row.cells] for row in head] for head in heads]
        for both in shown.kept
        for _, heads in both
    ]
    read = [part for layer in range(model.config.n_layer) for part in (cache[layer].keys, cache[layer].values)]
    assert np.allclose(drawn, read, rtol=0, atol=1e-12)
    lines = [e for e in find(tree_of(OURS), "rows")[0] if find(e, "strip")]
    assert len(lines) == 2 * model.config.n_layer * model.config.n_kv_head
    for line in lines:
        assert [len(find(one, "strip")) for one in find(line, "kept")] == [1] * len(ids) + [0] * (
            len(shown.entered) - len(ids)
        )


def kept_by(cache: KVCache) -> np.ndarray:
    """Keys and values of all layers, [layers, 2, n_kv_head, n, head_dim]."""
    layers = range(shipped("stories").config.n_layer)
    return np.array([[cache[i].keys, cache[i].values] for i in layers], np.float32)


def test_each_line_of_code_tells_the_shapes_and_bytes_of_what_it_makes(shown: View) -> None:
    """As a pass of our model with numbers as PyTorch has them makes it; a product comes to its bytes."""
    listed = (FOLDER / "with_cache.py").read_text("utf-8").splitlines()
    assert [sum(one.strip() == line for one in listed) for line in shown.code.values()] == [1] * len(LINES)
    model, tree = shipped("stories"), tree_of(OURS)
    cache, ids = KVCache(model.config), model.tokenizer.vocabulary.index
    told = [{name: folded(find(one, name)[0]) for name in LINES} for one in find(tree, "replies") if find(one, "feed")]
    for one, said in zip(shown.passes, told, strict=True):
        fed = np.array([[ids(token) for token in one.tokens]], np.int64)
        whole = np.zeros((1, one.length), np.int64)
        before = kept_by(cache)
        logits = forward(model.params, model.config, fed[0].tolist(), cache)[None].astype(np.float32)
        after = kept_by(cache)
        wanted = {
            "feed": (fed, whole),
            "run": (after[..., -len(one.tokens) :, :],),
            "keep": (before, after),
            "choose": (logits,),
        }
        for name, arrays in wanted.items():
            sizes = re.findall(r"([\d\s×]+) = ([\d,]+) bytes", said[name])
            assert [value(product) for product, _ in sizes] == [value(size) for _, size in sizes], said[name]
            assert [value(size) for _, size in sizes] == [array.nbytes for array in arrays], said[name]
            shapes = re.findall(r"\[.*?\]", said[name])
            assert shapes == [f"{[1, *array.shape[-3:]] if array.ndim > 3 else [*array.shape]}" for array in arrays]
        assert f"largest is {logits[0, -1].max():.2f}, that of {one.chosen}" in said["choose"]


@pytest.mark.parametrize("prompt", ["the", "the cat is happy .", "the next day"])
def test_other_texts_have_passes_too(prompt: str) -> None:
    other = view(Settings("stories", prompt))
    last = other.passes[-1]
    assert sum(len(one.tokens) for one in other.passes) == last.length
    assert len(other.tokens) == len(other.entered) == last.length + bool(last.chosen)  # which has a name, too
    assert all(before.length == after.position for before, after in zip(other.passes, other.passes[1:], strict=False))
    assert len(boxes_of(thumb(page("in-your-code"), other))["new"]) == 2 * other.config.n_layer


def test_what_is_written_is_what_numpy_writes(shown: View) -> None:
    """Counted with arrays of 16-bit numbers, for a text that is short enough."""
    config, n = PRESETS[LARGE_MODEL].config, 30
    row = np.zeros((config.n_layer * 2 * config.n_kv_head, 1, config.head_dim), np.float16)
    grown, written = row[:, :0], 0
    for _ in range(n):
        grown = np.concatenate([grown, row], axis=1)
        written += grown.nbytes
    assert shown.reserved == row.nbytes * N_LONG and written == row.nbytes * n * (n + 1) // 2
    assert shown.grown == row.nbytes * sum(range(1, N_LONG + 1))
    assert "concatenating writes 65.6 GB, reserving 131.1 MB" in said_on(OURS)["growing"]


def test_the_page_says_what_was_run(shown: View) -> None:
    last = shown.passes[-1]
    kept = f"the cache holds {last.position} rows, so the new id stands at position {last.position}"
    assert kept in said_on(OURS)["feed"]
    assert f"here {last.shape} at the end" in said_on(OURS)["shape"]
    assert "same loss: True" in RECORDED["printed"]["checkpointing"]
    assert "cache with checkpointing: None" in RECORDED["printed"]["checkpointing"]
    assert all(line.endswith("same: True") for line in RECORDED["printed"]["chat"].splitlines())
    begins, *_, again = turns(OURS.model)
    assert begins.held == 0 and shown.second.kept == shown.second.held and again.fed == 1
    assert "all 12 cached rows serve it, and 4 ids go in" in said_on(OURS)["limits"]
    assert "14 of 18 rows serve it" in said_on(OURS)["limits"]
    assert "a DynamicCache takes 6 graphs, one per pass, and a StaticCache 2" in said_on(OURS)["static"]
    assert all(version in said_on(OURS)["check"] for version in RECORDED["versions"].values())
