"""Each version of what the browser runs is typed once, in tools/runtime/pins.py; documents that name one agree."""

import re
from pathlib import Path

import pytest
from pyodide_lock import PyodideLockSpec

from tools.output.sources import ROOT
from tools.runtime import pins
from tools.runtime.bytecode import LOCK
from tools.runtime.fetch import default_cache, fetch_runtime

VERSIONS = (pins.PYODIDE, pins.PYTHON, pins.NUMPY, pins.PLATFORM, pins.ABI)
TYPED = re.compile(
    rf"(?<![\w.])({'|'.join(map(re.escape, VERSIONS))})(?![\w.]*\d)"
    rf"|c?python-?{pins.TAG}|cp{pins.TAG}|C?[Pp]ython-?{re.escape(pins.MINOR)}"
)
DOCUMENTS = {  # what they name, by its name in the table
    "bench/README.md": {"Pyodide": pins.PYODIDE},  # another Pyodide has to be measured anew
    "docs/trust.md": {"Pyodide": pins.PYODIDE},  # and attacked anew
}
FOLDERS = (".github", "bench", "docs", "microgpt", "site", "templates", "tests", "tools")
TEXTS = sorted(
    path
    for folder in ("", *FOLDERS)
    for path in (ROOT / folder).glob("**/*" if folder else "*")
    if path.is_file() and path.suffix in {"", ".css", ".html", ".js", ".md", ".py", ".svg", ".toml", ".yml"}
)


def test_no_other_file_types_a_version() -> None:
    own = {ROOT / "tools/runtime/pins.py", *(ROOT / name for name in DOCUMENTS)}
    assert own <= set(TEXTS) and len(TEXTS) > 400
    typed = {
        path.relative_to(ROOT): TYPED.search(path.read_text("utf-8", "replace")) for path in TEXTS if path not in own
    }
    assert not {path: found[0] for path, found in typed.items() if found}


@pytest.mark.parametrize(
    "text",
    [f'"{pins.PYODIDE}"', f"{pins.PYODIDE}/full", f"NumPy {pins.NUMPY}.", f"cpython-{pins.TAG}"],
)
def test_a_typed_version_is_found(text: str) -> None:
    assert TYPED.search(text)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_documents_name_the_versions_of_the_table(document: str) -> None:
    text = (ROOT / document).read_text("utf-8")
    for name, version in DOCUMENTS[document].items():
        assert set(re.findall(rf"(?<!\w){name} v?(\d[\d.]*\d)", text)) - {host_numpy(text)} == {version}, name
    assert (ROOT / f"tools/licences/CPython-{pins.MINOR}.txt").is_file()


def host_numpy(text: str) -> str:
    """The NumPy of the machine that measured, which is its own."""
    found = re.search(r"^Measured on .*NumPy ([\d.]+\d)", text, re.MULTILINE)
    return found[1] if found else ""


def test_the_fetched_files_say_the_same() -> None:
    """The versions are those of the files whose hashes stand beside them."""
    files = {name: path.read_bytes() for name, path in fetch_runtime(default_cache()).items()}
    assert pins.PYODIDE.encode() in files["pyodide.mjs"]
    assert pins.ABI.encode() in files["pyodide.asm.js"]
    assert pins.PYTHON.encode() in files["pyodide.asm.wasm"]
    assert pins.PLATFORM.removeprefix("emscripten_").replace("_", ".").encode() in files["pyodide.asm.wasm"]


def test_the_list_of_packages_that_pyodide_starts_with_is_one() -> None:
    """By Pyodide's own schema, but for what Pyodide itself insists on and the schema does not know yet."""
    info = dict(LOCK["info"])
    assert info.pop("abi_version") == pins.ABI
    assert PyodideLockSpec.parse_obj({**LOCK, "info": info}).info.python == pins.PYTHON


def test_what_is_kept_between_builds_in_ci_hangs_on_the_table() -> None:
    flow = (ROOT / ".github/workflows/pages.yml").read_text("utf-8")
    (key,) = re.findall(r"hashFiles\((.*?)\)", flow)
    named = re.findall(r"'(.*?)'", key)
    assert "tools/runtime/pins.py" in named and all(Path(ROOT, name).is_file() for name in named)
