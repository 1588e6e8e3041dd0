"""The editor as one script: site/editor.js with CodeMirror, made once and kept in the cache folder.

npm installs the packages that package-lock.json names, each with its hash, and runs none of their scripts; esbuild, one
of them, makes one script of all. The same sources give the same bytes; what is kept of them is checked when it is taken
from there, and no npm is needed. A newer one is taken by `npm install --save-exact
--omit-lockfile-registry-resolved --ignore-scripts NAME@VERSION` in this folder.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from tools.runtime.bytecode import keep, read_kept
from tools.runtime.npm import FETCH_SECONDS, Unavailable
from tools.runtime.process import run_to_end

HERE = Path(__file__).resolve().parent
EDITOR = "editor.js"
LOCK = HERE / "package-lock.json"
MADE_OF = (HERE / "package.json", LOCK, HERE.parents[1] / "site" / EDITOR)
INSTALL = ("ci", "--ignore-scripts", "--no-audit", "--no-fund")
BUNDLE = ("run", "--silent", "bundle")  # as package.json says


def editor_script(cache: Path) -> bytes:
    """The script, out of `cache` or, the first time, made with npm. Raises Unavailable, with the reason."""
    kept = cache / "editor" / key()
    if script := read_kept(kept):
        return script
    kept.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=kept.parent) as work:
        script = bundle(Path(work))
        keep(script, Path(work) / "new", kept)
    return script


def key() -> str:
    """What the script depends on."""
    digests = [hashlib.sha256(path.read_bytes()).hexdigest() for path in MADE_OF]
    return hashlib.sha256("".join(digests).encode()).hexdigest()


def bundle(work: Path) -> bytes:
    """The script, made in an empty folder."""
    for path in MADE_OF:
        shutil.copyfile(path, work / path.name)
    npm = shutil.which("npm")
    if npm is None:
        raise Unavailable("npm is not installed")
    for command in (INSTALL, BUNDLE):
        said = f"npm {' '.join(command[:2])}"
        try:
            done = run_to_end([npm, *command], FETCH_SECONDS, work)
        except subprocess.TimeoutExpired:
            raise Unavailable(f"{said} came to no end in {FETCH_SECONDS} seconds") from None
        except OSError as error:
            raise Unavailable(f"{said} cannot be run ({error})") from None
        if done.returncode:
            raise Unavailable(f"{said} failed: {reason(done.stdout + done.stderr)}")
    try:
        return (work / "out" / EDITOR).read_bytes()
    except OSError:
        raise Unavailable(f"{said} made no script") from None


def reason(said: str) -> str:
    """Why npm has failed, out of all that it said."""
    if wanted := re.search(r"EINTEGRITY.*?wanted (\S+)", said, re.DOTALL):
        (name,) = [name for name, about in in_lock().items() if about.get("integrity") == wanted[1]] or ["a package"]
        return f"what came as {name} does not have the hash that {LOCK.name} names"
    told = re.findall(r"reason: (.+)", said) or re.findall(r".*error.*", said, re.IGNORECASE) or ["it did not say why"]
    return str(told[0]).removeprefix("npm error ").strip()[:200]


def packages() -> dict[str, str]:
    """Name -> version of those that become part of the script."""
    return {name: str(about["version"]) for name, about in in_lock().items() if not about.get("dev")}


def in_lock() -> dict[str, dict[str, Any]]:
    """Name -> what the lock says of it, of all that npm installs."""
    found: dict[str, dict[str, Any]] = json.loads(LOCK.read_text("utf-8"))["packages"]
    return {place.removeprefix("node_modules/"): about for place, about in found.items() if place}
