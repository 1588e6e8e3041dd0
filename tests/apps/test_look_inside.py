"""The page that looks inside a file: what it shows is what the header says, whatever the header says."""

import json
import re
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from safetensors.numpy import save_file

from microgpt.apps.look_inside import app
from microgpt.apps.look_inside.examples import EXAMPLES, example_file
from microgpt.architectures.known import PRESETS
from microgpt.checkpoints.safetensors import Header, Tensor
from microgpt.course import page
from microgpt.errors import UserError
from microgpt.viz import views
from microgpt.viz.local_files import only
from microgpt.viz.rendering.render import render, render_page
from microgpt.viz.session import dispatch
from microgpt.viz.text.formats import share_text, size_text
from tests.support.given.headers import good_files
from tests.support.hostile import Held
from tests.support.pages import by_id, classes, find, numbers, parse, text, tree_of, view_of

FIELDS = {"page": "look-inside", "lang": "en", app.FIELD: "C:\\fakepath\\x.safetensors"}


def sent(file: Held) -> tuple[str, str]:
    state, patches = dispatch(None, "look", FIELDS, {app.FIELD: [file]})
    json.dumps(state)
    return patches[0]["target"], patches[0]["html"]


def on_page(header: Header, name: str = "x") -> str:
    return render("apps/look_inside/_looked.html", looked=app.Looked(name, header, ""))


@pytest.mark.parametrize("model", EXAMPLES)
def test_a_file_of_the_reader_is_shown_as_the_example_is(model: str) -> None:
    header, start = example_file(model)
    data = struct.pack("<Q", header.length) + start.encode()
    file = Held(model, data, header.size)  # the numbers are not even there
    target, html = sent(file)
    assert target == "#looked" and file.asked == 8 + header.length
    looked = app.Looked(model, header, start)
    assert looked.start == start[:240] + "…" and html == render("apps/look_inside/_looked.html", looked=looked)
    built = render_page(page("look-inside"), views.of(page("look-inside")))
    key = f"{list(EXAMPLES).index(model)}-"
    assert html.replace("own-", key) in built


def assert_lines(html: str) -> None:
    """Each line comes to the bytes and the share that it ends with, and to those of its row, which asks for it."""
    tree = parse(html)
    rows = {name: row for shares in find(tree, "shares") for row in shares for name in classes(row)}
    lines = {name: text(line) for replies in find(tree, "replies") for line in replies for name in classes(line)}
    asked = {e.get("id") for e in find(tree, "origin")}
    assert asked == {e.get("for") for e in find(tree, "hit")} == {f"own-ask-{name}" for name in lines}
    assert set(lines) <= set(app.ASKED)
    for name, line in lines.items():
        _, product, told = re.split(": | = ", line, maxsplit=2)
        factors = re.sub(r"\(.*?\)|[^\d+×/]", "", product).replace("×", "*").replace("/", "//")
        whole, total = (int(figure.replace(",", "")) for figure in re.findall(r"[\d,]*\d", told)[:2])
        assert eval(factors) == whole, line
        assert told.endswith(f"{share_text(whole / total)} %") and size_text(whole) in text(rows[f"by-{name}"]), line


@pytest.mark.parametrize("model", EXAMPLES)
def test_each_row_of_an_example_says_where_its_bytes_come_from(model: str) -> None:
    html = on_page(example_file(model)[0])
    assert_lines(html)
    tree = parse(html)
    areas = {e.get("for") for e in find(tree, "picture")[0].iter("label")}
    assert areas == {e.get("for") for e in find(tree, "hit")} and len(areas) == len(find(tree, "shares")[0])


@settings(max_examples=60)
@given(good_files())
def test_any_good_file_is_shown(file: bytes) -> None:
    target, html = sent(Held("x.safetensors", file))
    assert target == "#looked"
    assert text(parse(html)).count("header takes") == 1
    assert_lines(html)


@pytest.mark.parametrize("model", EXAMPLES)
def test_the_picture_covers_the_file_and_a_role_its_share_of_it(model: str) -> None:
    found = app.Looked(model, example_file(model)[0], "")
    area: dict[str, float] = {}
    for role, rectangles in found.areas:
        area[role] = sum(wide * high for _, _, wide, high in rectangles) / (app.PICTURE_WIDTH * app.PICTURE_HEIGHT)
    assert sum(area.values()) == pytest.approx(1)
    ends = sorted({(x, x + wide) for _, rectangles in found.areas for x, _, wide, _ in rectangles})
    assert ends[0][0] == 0 and ends[-1][1] == pytest.approx(app.PICTURE_WIDTH)
    assert all(a[1] == pytest.approx(b[0]) for a, b in zip(ends, ends[1:], strict=False))  # side by side
    by_name = {share.role: share for share in found.shares}
    for role in ("wte", "wq", "wk", "fc1", "fc2"):
        assert area[role] == pytest.approx(by_name[role].share)


@pytest.mark.parametrize("model", EXAMPLES)
def test_the_cache_is_drawn_to_the_scale_of_the_file(model: str) -> None:
    header = example_file(model)[0]
    found, config = app.Looked(model, header, ""), PRESETS[model].config
    bytes_in_file = sum(tensor.stop - tensor.start for tensor in header.tensors)
    kept = app.TOKENS * 2 * config.n_layer * config.n_kv_head * config.head_dim * 2  # K and V, two bytes a number
    for kind, (x, _, wide, high) in found.cache:
        assert wide * high / (app.PICTURE_WIDTH * app.PICTURE_HEIGHT) == pytest.approx(kept / 2 / bytes_in_file), kind
        assert x > app.PICTURE_WIDTH and x + wide <= found.wide
    assert [kind for kind, _ in found.cache] == ["k", "v"] and found.kept == kept
    assert f"{kept / 1e6:.1f} MB" in text(find(parse(on_page(header)), "beside")[0])


@pytest.mark.parametrize("model", EXAMPLES)
def test_a_role_is_named_with_the_shape_of_its_tensor(model: str) -> None:
    header = example_file(model)[0]
    shapes = {tensor.shape for tensor in header.tensors}
    named = {share.role: share.shape for share in app.Looked(model, header, "").shares}
    assert all(shape in shapes for shape in named.values())
    assert named["wte"] == header.tensors[0].shape


def test_a_file_without_a_known_cache_has_none_beside_it() -> None:
    found = app.Looked("x", Header(2, 9, [Tensor("x", "U8", (1,), 0, 1)], {}), "")
    assert (found.cache, found.kept, found.wide) == ([], 0, app.PICTURE_WIDTH)


def test_the_published_file_of_gpt2_holds_masks_too_and_the_page_says_so() -> None:
    """model.safetensors of openai-community/gpt2 has 548,105,171 bytes, and 160 tensors in place of our 148."""
    shown = view_of("look-inside")
    said = {name: text(by_id("look-inside")[name]) for name in ("begins", "published")}
    assert "497.8 MB" in said["begins"] and "548.1 MB" in said["published"]
    assert "each of the 12 layers: a tensor attn.bias of 1,024 × 1,024 numbers" in said["published"]
    assert shown.masks.file < 548_105_171 < shown.masks.file + 12 * 2000  # the rest is their entries in the header
    assert shown.examples[0].n_tensors + shown.masks.layers == 160


def test_a_visitor_sees_a_file_before_the_control_that_chooses_one() -> None:
    seen = [(name, e.get(name)) for e in tree_of("look-inside").iter() for name in ("class", "type", "id")]
    places = [seen.index(one) for one in (("class", "mosaic"), ("type", "file"), ("id", "looked"))]
    assert places == sorted(places)
    (examples,) = find(tree_of("look-inside"), "examples")
    assert not [e for e in examples.iter() if "js-only" in e.get("class", "") or e.tag == "button"]


@pytest.mark.parametrize("model", EXAMPLES)
def test_the_product_is_the_product_of_its_factors(model: str) -> None:
    tree = parse(on_page(example_file(model)[0]))
    *factors, result = [numbers(e)[0] for e in find(tree, "factor")]
    product = 1.0
    for factor in factors:
        product *= factor
    assert product == result


def test_names_are_text_and_cannot_turn_the_page_around() -> None:
    evil = "<img src=x>\u202e\0"
    header = Header(2, 9, [Tensor(evil, "U8", (1,), 0, 1)], {evil: evil})
    html = on_page(header, evil.encode("ascii", "ignore").decode())
    assert "<img" not in html and "\u202e" not in html and "\0" not in html
    assert html.count("&lt;img src=x&gt;\\u202e\\x00") == 3  # a tensor, a word and its name


def test_a_file_of_many_kinds_of_layers_stays_a_page() -> None:
    names = [f"model.layers.{i}.mlp.up_proj.weight" for i in range(app.COLUMNS + 100)]
    many = [Tensor(name, "U8", (i + 1,), 0, i + 1) for i, name in enumerate(names)]
    many += [Tensor(f"x{i}", "U8", (1,), 0, 1) for i in range(app.MOST_ROWS + 50)]
    html = on_page(Header(2, 10**7, many, {}))
    assert html.count("<details") <= app.GROUPS + 1 and html.count("<tr>") < app.MOST_ROWS + 2 * app.GROUPS + 10
    assert len(html) < 300_000


def test_nothing_chosen_and_a_wrong_file_are_said_in_a_sentence() -> None:
    target, html = sent(Held("x.safetensors", b"PK\x03\x04" + bytes(40)))
    assert target == "#prompt-error" and "zip archive" in html
    _, patches = dispatch(None, "look", FIELDS)
    assert patches[0]["target"] == "#prompt-error" and "No file is chosen" in patches[0]["html"]
    with pytest.raises(UserError):
        only({app.FIELD: []}, app.FIELD)

    assert only({"x": [Held("a", b""), Held("b", b"")]}, "x").name == "a"


def test_the_page_says_that_without_javascript_there_is_the_command_line() -> None:
    tree = tree_of("look-inside")
    assert "command line" in text(find(tree, "no-js")[0])
    assert any("python -m microgpt.checkpoints" in text(e) for e in find(tree, "file-start"))
    assert len(find(tree, "mosaic")) == len(EXAMPLES)


def test_the_listing_prints_names_and_shapes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As it stands on the page, run on a file that the library itself has written."""
    (listing,) = find(tree_of("look-inside"), "listing")
    tensors = {"a.weight": np.zeros((3, 2), np.float32), "b.bias": np.zeros(4, np.float32)}
    save_file(tensors, tmp_path / "model.safetensors")
    monkeypatch.chdir(tmp_path)
    exec(compile(text(listing), "listing", "exec"), {})
    assert sorted(capsys.readouterr().out.splitlines()) == ["a.weight [3, 2]", "b.bias [4]"]
