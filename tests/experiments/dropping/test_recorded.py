"""What a trained model loses, measured on a small one: a row that cannot be read is a row that a mask hides."""

from dataclasses import replace

import numpy as np
import pytest

from microgpt.cache import KVCache
from microgpt.config import Report
from microgpt.decode import generate
from microgpt.experiments.dropping import results
from microgpt.model import forward, softmax
from microgpt.weights import shipped

MODEL = shipped("stories")
IDS = MODEL.tokenizer.encode("The next day is bright and the sun is warm")
PROMPT = IDS[:6]


def test_a_window_of_rows_that_can_be_read_is_the_window_of_a_model() -> None:
    some = results.SomeRows(MODEL.config, np.dtype(float), lambda at, newest: newest - at < 4)
    window = replace(MODEL.config, window=4, window_from=0)
    found = [forward(MODEL.params, MODEL.config, [token], some)[0] for token in IDS]
    assert np.abs(found - forward(MODEL.params, window, IDS, KVCache(window))).max() < 1e-12


def test_without_a_row_its_weight_goes_to_the_others() -> None:
    """In the first layer, where nothing else has changed: the others' weights, made up to one again."""
    told = dict[tuple[int, str, int], np.ndarray]()
    for row in (-1, 2):
        some, token = results.without(MODEL, PROMPT, row)

        def keep(report: Report, row: int = row) -> None:
            name, value, _, layer = report
            told.setdefault((row, name, layer), np.array(value))

        forward(MODEL.params, MODEL.config, [token], some, keep)
    full, less = told[-1, "attn_weights", 0][:, 0], told[2, "attn_weights", 0][:, 0]
    left = np.delete(full, 2, axis=-1)
    assert less.shape == left.shape and np.abs(less - left / left.sum(-1, keepdims=True)).max() < 1e-12


def test_what_is_written_with_all_rows_and_how_much_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "N_NEW", 5)
    found = results.drop_rows(MODEL, PROMPT)
    words = MODEL.tokenizer.vocabulary
    assert found["prompt"] == [words[i] for i in PROMPT] and [run["row"] for run in found["runs"]] == [-1, *range(6)]
    written = list(generate(MODEL.params, MODEL.config, PROMPT, 5))
    assert found["runs"][0] == {"row": -1, "written": [words[i] for i in written], "moved": 0.0}
    some, _ = results.without(MODEL, PROMPT, 0)
    full = softmax(forward(MODEL.params, MODEL.config, [*PROMPT, *written], KVCache(MODEL.config)))[6:-1]
    steps = [softmax(forward(MODEL.params, MODEL.config, [token], some))[0] for token in written[:-1]]
    assert found["runs"][1]["moved"] == pytest.approx(np.abs(steps - full).sum(-1).mean() / 2)


def test_a_text_through_a_window_and_through_codes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "ROOM", 4)
    monkeypatch.setattr(results, "GROUP", 4)
    found = results.compare_windows(MODEL, IDS)
    chances = softmax(forward(MODEL.params, MODEL.config, IDS, KVCache(MODEL.config)))
    likelihood = np.prod([chances[i, IDS[i + 1]] for i in range(4, len(IDS) - 1)])
    assert found["all"] == pytest.approx(likelihood ** (-1 / (len(IDS) - 5)))
    assert len({found[name] for name in ("all", "window", "first", "second")}) == 4
    lines = results.code_errors(MODEL, IDS[:8])["lines"]
    assert [(line["kind"], line["bits"]) for line in lines] == [(kind, bits) for kind in "kv" for bits in (8, 4, 2)]
    assert all(
        a < b
        for line, more in zip(lines, lines[1:], strict=False)
        if line["kind"] == more["kind"]
        for a, b in zip(line["off"], more["off"], strict=True)
    )
