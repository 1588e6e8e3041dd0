"""Each version of what the browser runs is typed once, in tools/runtime/pinned.py; documents that name one agree."""

import re
from pathlib import Path

import pytest
from pyodide_lock import PyodideLockSpec

from tools.output.sources import ROOT
from tools.runtime import pinned
from tools.runtime.bytecode import LOCK
from tools.runtime.fetch import default_cache, fetch_runtime

VERSIONS = (pinned.PYODIDE, pinned.PYTHON, pinned.NUMPY, pinned.PLATFORM, pinned.ABI)
TYPED = re.compile(
    rf"(?<![\w.])({'|'.join(map(re.escape, VERSIONS))})(?![\w.]*\d)"
    rf"|c?python-?{pinned.TAG}|cp{pinned.TAG}|C?[Pp]ython-?{re.escape(pinned.MINOR)}"
)
DOCUMENTS = {  # what they name, by its name in the table
    "bench/README.md": {"Pyodide": pinned.PYODIDE},  # another Pyodide has to be measured anew
    "docs/trust.md": {"Pyodide": pinned.PYODIDE},  # and attacked anew
}
FOLDERS = (".github", "bench", "docs", "microgpt", "site", "templates", "tests", "tools")
TEXTS = sorted(
    path
    for folder in ("", *FOLDERS)
    for path in (ROOT / folder).glob("**/*" if folder else "*")
    if path.is_file() and path.suffix in {"", ".css", ".html", ".js", ".md", ".py", ".svg", ".toml", ".yml"}
)


def test_no_other_file_types_a_version() -> None:
    own = {ROOT / "tools/runtime/pinned.py", *(ROOT / name for name in DOCUMENTS)}
    assert own <= set(TEXTS) and len(TEXTS) > 400
    typed = {
        path.relative_to(ROOT): TYPED.search(path.read_text("utf-8", "replace")) for path in TEXTS if path not in own
    }
    assert not {path: found[0] for path, found in typed.items() if found}


@pytest.mark.parametrize(
    "text",
    [f'"{pinned.PYODIDE}"', f"{pinned.PYODIDE}/full", f"NumPy {pinned.NUMPY}.", f"cpython-{pinned.TAG}"],
)
def test_a_typed_version_is_found(text: str) -> None:
    assert TYPED.search(text)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_documents_name_the_versions_of_the_table(document: str) -> None:
    text = (ROOT / document).read_text("utf-8")
    for name, version in DOCUMENTS[document].items():
        assert set(re.findall(rf"(?<!\w){name} v?(\d[\d.]*\d)", text)) - {host_numpy(text)} == {version}, name
    assert (ROOT / f"tools/licences/CPython-{pinned.MINOR}.txt").is_file()


def host_numpy(text: str) -> str:
    """The NumPy of the machine that measured, which is its own."""
    found = re.search(r"^Measured on .*NumPy ([\d.]+\d)", text, re.MULTILINE)
    return found[1] if found else ""


def test_the_fetched_files_say_the_same() -> None:
    """The versions are those of the files whose hashes stand beside them."""
    files = {name: path.read_bytes() for name, path in fetch_runtime(default_cache()).items()}
    assert pinned.PYODIDE.encode() in files["pyodide.mjs"]
    assert pinned.ABI.encode() in files["pyodide.asm.js"]
    assert pinned.PYTHON.encode() in files["pyodide.asm.wasm"]
    assert pinned.PLATFORM.removeprefix("emscripten_").replace("_", ".").encode() in files["pyodide.asm.wasm"]


def test_the_list_of_packages_that_pyodide_starts_with_is_one() -> None:
    """By Pyodide's own schema, but for what Pyodide itself insists on and the schema does not know yet."""
    info = dict(LOCK["info"])
    assert info.pop("abi_version") == pinned.ABI
    assert PyodideLockSpec.parse_obj({**LOCK, "info": info}).info.python == pinned.PYTHON


def test_what_is_kept_between_builds_in_ci_hangs_on_the_table() -> None:
    flow = (ROOT / ".github/workflows/pages.yml").read_text("utf-8")
    (key,) = re.findall(r"hashFiles\((.*?)\)", flow)
    named = re.findall(r"'(.*?)'", key)
    assert "tools/runtime/pinned.py" in named and all(Path(ROOT, name).is_file() for name in named)
