"""The folder of a killed build is cleared away; a living build's and a stranger's are not."""

import subprocess
import sys
from pathlib import Path

import pytest

from tools.output.scratch import HELD, PREFIX, alone, scratch

ROOT = Path(__file__).resolve().parents[3]
BUILD = """
import sys
from pathlib import Path
from tools.output.scratch import scratch
with scratch(Path(sys.argv[1])) as folder:
    (folder / "site").mkdir()
    (folder / "site" / "x").write_text("x")
    print(folder, flush=True)
    sys.stdin.read()
"""

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no such locks on Windows")


def test_it_is_hidden_and_gone_in_the_end(tmp_path: Path) -> None:
    with scratch(tmp_path / "a" / "b") as folder:
        assert folder.parent == tmp_path / "a" / "b" and folder.name.startswith(".")
        (folder / "x").write_text("x")
    with pytest.raises(KeyboardInterrupt), scratch(tmp_path / "a" / "b"):
        raise KeyboardInterrupt
    assert not list((tmp_path / "a" / "b").iterdir())


def test_a_build_that_is_killed_while_it_clears_up_leaves_what_is_still_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(path: Path) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), monkeypatch.context() as patched, scratch(tmp_path) as folder:
        (folder / "a").mkdir()
        (folder / "z").write_text("z")
        patched.setattr("shutil.rmtree", killed)
    assert (folder / HELD).is_file()
    with scratch(tmp_path):
        assert not folder.exists()


def test_only_what_a_killed_build_left_is_cleared_away(tmp_path: Path) -> None:
    command = [sys.executable, "-c", BUILD, str(tmp_path)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, cwd=ROOT) as build:
        assert build.stdout
        living = Path(build.stdout.readline().strip())
        stranger = tmp_path / f"{PREFIX}backup"
        stranger.mkdir()
        (stranger / "x").write_text("mine")
        far = tmp_path / "far"
        far.mkdir()
        (far / HELD).write_text("")
        (tmp_path / f"{PREFIX}link").symlink_to(far)
        (tmp_path / f"{PREFIX}notes").write_text("mine")
        before = {path.name for path in tmp_path.iterdir()}
        with scratch(tmp_path):
            pass
        assert {path.name for path in tmp_path.iterdir()} == before
        assert (living / "site" / "x").read_text() == "x" and (far / HELD).exists()
        build.kill()
    assert living.is_dir()
    with scratch(tmp_path):
        assert not living.exists()
    assert {path.name for path in tmp_path.iterdir()} == before - {living.name}


def test_one_build_waits_for_another(tmp_path: Path) -> None:
    code = "import sys; from pathlib import Path; from tools.output.scratch import alone\n"
    code += "with alone(Path(sys.argv[1])): print('in')"
    with alone(tmp_path):
        waiting = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, cwd=ROOT)
        with pytest.raises(subprocess.TimeoutExpired):
            waiting.wait(1)
    assert waiting.communicate(timeout=60)[0] == b"in\n"
