"""What stands where a file should: pipes, devices, folders, links to nowhere, files that shrink. Said, not awaited.

The commands run as programs of their own, which are ended when they wait for a pipe.
"""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from microgpt.checkpoints.files import open_tensors
from microgpt.errors import UserError
from microgpt.files import open_file, read_text
from tests.support.hostile import CONFIG, GENERATION, INDEX, TOKENIZER, WHOLE, good
from tests.support.hostile import write as lay
from tests.support.sampled import sampled

ROOT = Path(__file__).parents[2]
SECONDS = 60  # on a busy machine; to wait for a pipe would take for ever
ODD: dict[str, Callable[[Path], object]] = {
    "pipe": os.mkfifo,
    "device": lambda path: path.symlink_to("/dev/zero"),
    "folder": lambda path: path.mkdir(),
    "link to itself": lambda path: path.symlink_to(path.name),
    "link to nowhere": lambda path: path.symlink_to("nowhere"),
}
posix = pytest.mark.skipif(os.name != "posix", reason="pipes and devices among files are POSIX's")


def ran(*command: str | Path) -> str:
    """What a command of ours that must fail says: one line."""
    done = subprocess.run(
        [sys.executable, "-W", "error", *map(str, command)], cwd=ROOT, capture_output=True, text=True, timeout=SECONDS
    )
    assert done.returncode == 1 and done.stdout == "" and done.stderr.count("\n") == 1, (done.stdout, done.stderr)
    return done.stderr


@posix
@pytest.mark.parametrize("kind", ODD)
def test_what_is_no_file_is_refused_before_it_is_read(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "x"
    ODD[kind](path)
    with pytest.raises(OSError) as caught:
        open_file(path)
    assert caught.value.strerror


@posix
@pytest.mark.parametrize("name", [CONFIG, GENERATION, WHOLE, INDEX, TOKENIZER, "a.safetensors"])
@pytest.mark.parametrize("kind", ODD)
def test_a_checkpoint_with_what_is_no_file_is_one_sentence(kind: str, name: str, tmp_path: Path) -> None:
    from microgpt.checkpoints.folder import load_checkpoint

    files = good() | {INDEX: b'{"weight_map": {"a": "a.safetensors"}}'}
    gone = {name, WHOLE} if name in (INDEX, "a.safetensors") else {name}
    lay({one: data for one, data in files.items() if one not in gone}, tmp_path)
    ODD[kind](tmp_path / name)
    if (kind, name) == ("link to nowhere", GENERATION):  # which need not be there
        load_checkpoint(tmp_path)
        return
    with pytest.raises(UserError) as caught:
        load_checkpoint(tmp_path)
    assert name in str(caught.value) and str(caught.value).endswith(".") and str(caught.value).isprintable()


PIPES: dict[str, str] = {  # the name of a pipe beside the other files of a good checkpoint -> the command that reads it
    **dict.fromkeys(("x.safetensors", "x.npz", "x.index.json", "x"), "-m microgpt.checkpoints PIPE"),
    "names.txt": "-m microgpt.train names --data PIPE --out OUT",
    **dict.fromkeys((CONFIG, WHOLE, TOKENIZER), "build.py --model FOLDER --prompt day --out OUT"),
}


@posix
@pytest.mark.parametrize("name", sampled(PIPES, ["x.npz", "names.txt", WHOLE], "other files of the same commands"))
def test_a_command_waits_for_no_pipe(name: str, tmp_path: Path) -> None:
    lay({one: data for one, data in good().items() if one != name}, tmp_path)
    os.mkfifo(tmp_path / name)
    paths = {"PIPE": tmp_path / name, "FOLDER": tmp_path, "OUT": tmp_path / "out"}
    said = ran(*(paths.get(word, word) for word in PIPES[name].split()))
    assert "it is a pipe or a device, not a file" in said and not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["a\0b", "a" * 5000, "\ud800"])
def test_a_name_that_no_file_can_have_is_no_traceback(name: str, tmp_path: Path) -> None:
    from microgpt.checkpoints.__main__ import tensors_of
    from microgpt.weights import load

    with pytest.raises(OSError):
        open_file(tmp_path / name)
    for ending in ("", ".npz", ".index.json"):
        with pytest.raises(UserError):
            tensors_of(tmp_path / (name + ending))
    with pytest.raises(UserError):
        load(tmp_path / name)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may read everything; run the tests as a user")
def test_a_file_that_may_not_be_read_is_one_sentence(tmp_path: Path) -> None:
    from microgpt.checkpoints.folder import load_checkpoint

    lay(good(), tmp_path)
    (tmp_path / CONFIG).chmod(0)
    with pytest.raises(UserError, match="config.json cannot be read"):
        load_checkpoint(tmp_path)


def test_a_text_that_is_too_long_is_not_read_to_its_end(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"a" * 3_000_001)
    with pytest.raises(UserError, match="longer than the 3 MB"):
        read_text(tmp_path / "x", 3_000_000)
    (tmp_path / "x").write_bytes(b"a" * 3_000_000)
    assert len(read_text(tmp_path / "x", 3_000_000)) == 3_000_000


@pytest.mark.parametrize("size", [0, 100, -1])
def test_a_file_that_shrinks_while_it_is_read_does_not_end_the_interpreter(size: int, tmp_path: Path) -> None:
    """To look into a mapped file behind its end would be a signal, not an error."""
    lay(good(), tmp_path)
    path = tmp_path / WHOLE
    tensors = open_tensors(tmp_path)
    assert tensors["lm_head.weight"].size
    os.truncate(path, size if size >= 0 else path.stat().st_size + size)
    with pytest.raises(UserError, match="was cut short as it was read"):
        tensors["lm_head.weight"]
