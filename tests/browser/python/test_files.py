"""Files of the reader's own: a model is run and stepped through, another one looked into. Nothing is sent for it."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from microgpt.apps.look_inside.app import Looked
from microgpt.checkpoints.files import header
from microgpt.trace import from_json
from microgpt.viz.rendering import render
from tests.browser.live import LINE, STATE, html, press, turn
from tests.support.checkpoints import made
from tests.support.given.own_model import PROMPT, expected_trace
from tests.support.sampled import sampled
from tools.browsers import Page

FIELD = "input[type=file]"
STEPS = 'document.querySelectorAll("#tokens .T").length'
WITHIN = {"llama": 1e-12, "wide": 1e-5}  # one is computed in 64 bits, the other in 32


def chosen(page: Page, *paths: Path) -> dict[str, Any]:
    before = page.run("window.answers.length")
    page.run(f"void (document.querySelector('{FIELD}').value = '')")  # WebKit's driver would add to what is chosen
    page.choose(FIELD, *sorted(paths))
    page.wait(f'window.answers.length > {before} && ["ready", "failed"].includes({STATE})')
    assert page.run(STATE) == "ready", page.run(LINE)
    answer: dict[str, Any] = json.loads(page.run("window.answers.at(-1)"))
    return answer


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("own")
    found = {kind: made(folder, kind, shards=2 if kind == "wide" else 1) for kind in WITHIN}
    lacking = made(folder / "lacking", "llama")
    (lacking / "config.json").unlink()
    return {**found, "lacking": lacking}


def test_a_file_is_shown_as_the_command_line_reads_it(started: Page, folders: dict[str, Path]) -> None:
    page, path = started, folders["llama"] / "model.safetensors"
    turn(page, "look-inside.html")
    answer = chosen(page, path)
    found, data = header(path), path.read_bytes()
    start = data[8 : 8 + min(found.length, 960)].decode("utf-8", "ignore")
    looked = Looked(path.name, found, start)
    assert html(answer, "#looked") == render.render("apps/look_inside/_looked.html", looked=looked)
    shown = page.run('document.querySelectorAll("#looked details").length')
    assert shown > 2
    chosen(page, Path(__file__))
    assert "not a safetensors file" in page.run('document.querySelector("#prompt-error").textContent')
    assert page.run('document.querySelectorAll("#looked details").length') == shown  # the picture stays


@pytest.mark.parametrize("kind", sampled(WITHIN, {"llama"}, "other layouts: tests/checkpoints/test_loading.py"))
def test_a_model_is_dropped_and_stepped(started: Page, folders: dict[str, Path], kind: str) -> None:
    page, folder = started, folders[kind]
    turn(page, "own-model.html")
    page.fill("#prompt", PROMPT)
    answer = chosen(page, *folder.iterdir())
    assert 'id="stepper"' in html(answer, "#widget")
    requests = list(page.requests)
    n = page.run(STEPS)
    answer = press(page, "next")
    assert page.run(STEPS) == answer["state"]["n"] == n + 1
    compared(json.loads(page.run("window.answers.at(-1)")), press(page, "trace"), folder, WITHIN[kind])
    since = {url.rpartition("/")[2] for url in page.requests if url not in requests}
    assert since <= {"icon.svg", "offline.js"}  # nothing since Python was there; these two a browser takes in its time

    steps = page.run(STEPS)
    answer = chosen(page, *folders["lacking"].iterdir())
    assert "config.json is missing" in html(answer, "#prompt-error") and page.run(STEPS) == steps


def compared(shown: dict[str, Any], saved: dict[str, Any], folder: Path, within: float) -> None:
    """The trace that was saved is that of CPython and of the folder."""
    theirs = from_json(saved["patches"][0]["text"])
    ours = expected_trace(folder, shown["state"]["n"]).trace
    assert theirs.about["tokens"] == ours.about["tokens"]
    checked = 0
    for event in theirs:
        if event.name in ("q", "k", "v", "attn_weights", "head_out"):
            assert np.abs(event.value - ours[event.name, event.pos, event.layer]).max() < within, event.name
            checked += 1
    assert checked > 20
