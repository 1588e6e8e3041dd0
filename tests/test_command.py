"""The front door: the public names of the package, and the command `microgpt`."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

import microgpt
from microgpt.__main__ import main
from microgpt.record import Recording
from microgpt.trace import from_json, to_json
from microgpt.viz import show
from microgpt.weights import SHIPPED, save, shipped
from tests.support.checkpoints import LLAMA, byte_level, llama_tensors, write


def test_each_public_name_is_the_one_of_its_module() -> None:
    for name, home in microgpt.HOMES.items():
        found = getattr(microgpt, name)
        assert found is getattr(sys.modules[f"microgpt.{home}"], name) and name in dir(microgpt)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        microgpt.nothing  # noqa: B018


def test_what_a_type_checker_sees_is_what_there_is() -> None:
    tree = ast.parse(Path(microgpt.__file__).read_text("utf-8"))
    (block,) = [node for node in tree.body if isinstance(node, ast.If)]
    seen = {a.name: str(n.module) for n in block.body if isinstance(n, ast.ImportFrom) for a in n.names}
    assert seen == {name: f"microgpt.{home}" for name, home in microgpt.HOMES.items()}


def test_importing_the_package_loads_nothing_else() -> None:
    code = "import sys, microgpt; print([m for m in sys.modules if m.startswith(('numpy', 'jinja2', 'microgpt.'))])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def ran(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(words)
    said = capsys.readouterr()
    return code, said.out, said.err


@pytest.mark.parametrize("words", [["emma"], ["page", "emma"]])
def test_a_text_becomes_one_page(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert ran(capsys, *words) == (0, "emma.html\n", "")
    page = (tmp_path / "emma.html").read_text("utf-8")
    show("emma").save(tmp_path / "shown.html")
    assert page == (tmp_path / "shown.html").read_text("utf-8") and "src=" not in page.split("<body")[0]
    assert ran(capsys, *words)[0] == 1
    assert ran(capsys, *words, "--force")[0] == 0


def test_it_is_opened_when_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    opened: list[str] = []

    def browse(address: str) -> bool:
        opened.append(address)
        return True

    monkeypatch.setattr("webbrowser.open", browse)
    place = tmp_path / "a b.html"
    words = ["the day", "--model", "stories", "--widget", "why-q", "--lang", "es", "--out", str(place), "--open"]
    assert ran(capsys, *words)[0] == 0
    assert opened == [place.as_uri()] and 'lang="es"' in place.read_text("utf-8")
    monkeypatch.setattr("webbrowser.open", lambda address: False)
    assert "open “" in ran(capsys, "emma", "--out", str(tmp_path / "c.html"), "--open")[2]


@pytest.mark.parametrize("model", SHIPPED)
def test_the_trace_of_a_text_is_printed(model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    prompt = "the day" if model == "stories" else "emm"
    code, out, err = ran(capsys, "trace", prompt, "--model", model)
    assert (code, err) == (0, "") and out == to_json(Recording(shipped(model), prompt).run())
    assert ran(capsys, "trace", prompt, "--model", model, "--out", str(tmp_path / "t.json")) == (0, "", "")
    assert (tmp_path / "t.json").read_text("utf-8") == out
    code, _, err = ran(capsys, "trace", prompt, "--out", str(tmp_path / "t.json"))
    assert code == 1 and "is there already" in err and "--force" in err
    assert ran(capsys, "trace", prompt, "--model", model, "--out", str(tmp_path / "t.json"), "--force")[0] == 0
    assert from_json(out).about["prompt"] == prompt


def test_a_checkpoint_is_run_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import numpy as np

    folder = write(tmp_path / "mine", LLAMA, llama_tensors(np.random.default_rng(0)), byte_level("<begin>"))
    out = ran(capsys, "trace", "a b", "--model", str(folder), "--new", "2")[1]
    about = json.loads(out)["about"]
    assert about["model"] == "mine" and len(about["tokens"]) - about["n_prompt"] in (1, 2)
    assert ran(capsys, "a b", "--model", str(folder), "--new", "2", "--out", str(tmp_path / "p.html"))[0] == 0


def test_a_file_is_inspected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save(tmp_path / "names.npz", shipped("names"))
    code, out, _ = ran(capsys, "inspect", str(tmp_path / "names.npz"))
    assert code == 0 and out.startswith("names.npz: ") and "4,192 parameters" in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["Émile!"], "does not know the character “É”"),
        (["emma", "--model", "gpt-5"], "gpt-5"),
        (["emma", "--widget", "no"], "There is no widget “no”"),
        (["emma", "--new", "3"], "are for a checkpoint"),
        (["trace", "emma", "--model", "./nowhere"], "There is no folder nowhere"),
        (["trace", ""], "The prompt is empty"),
        (["emma", "--out", "/proc/nothing/a.html"], "cannot be written"),
        (["page", "emma", "--out", "/dev"], "microgpt: “/dev” is there and is no file"),
        (["trace", "emma", "--force", "--out", "/dev"], "is there and is no file"),
        (["trace", "emma", "--out", "a\0b"], "cannot be written (embedded null byte)"),
        (["record", "--model", "a", "--prompt", "b", "--force", "--out", "/dev"], "is there and is no file"),
        (["a\udcff"], "not UTF-8"),
        (["emma", "--hook", "nowhere.py"], "nowhere.py cannot be read"),
        (["inspect", "nowhere.safetensors"], "nowhere.safetensors"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(
    words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = ran(capsys, *words)
    assert (code, out) == (1, "") and said in err and err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_each_command_has_help(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["--help"], ["page", "--help"], ["trace", "--help"], ["inspect", "--help"], ["--version"]):
        with pytest.raises(SystemExit) as ended:
            main(words)
        assert ended.value.code == 0 and "microgpt" in capsys.readouterr().out, words


def test_without_a_word_it_says_what_it_can_do(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = ran(capsys)
    assert (code, err) == (0, "") and "microgpt TEXT" in out


def test_a_break_ends_in_a_word(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("microgpt.__main__.show", stop)
    assert ran(capsys, "emma", "--out", "nowhere.html") == (130, "", "microgpt: stopped\n")
