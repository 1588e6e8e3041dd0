"""Which files of NumPy and of the standard library the pages need: found by running all of them in Pyodide.

    python -m tools.runtime.used        write the list anew, tools/runtime/used.txt

`run` starts a packed runtime under Node, as a browser would start it, and presses everything there (exercise.py).
What loads nothing while everything is pressed is left out of what readers fetch (packing.py).
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from microgpt.errors import N_, UserError
from tools.output.sources import our_files
from tools.runtime.bytecode import IMPORTS, SECONDS, node
from tools.runtime.fetch import default_cache, fetch_runtime
from tools.runtime.packing import PACKAGES, SCRIPTS, USED, pack_runtime
from tools.runtime.pinned import TAG
from tools.runtime.process import finished

EXERCISE = Path(__file__).with_name("exercise.py")
# Codecs that are looked up by name, and what Python asks for when it ends or when a module is missing.
BY_NAME = ("ascii", "idna", "latin_1", "unicode_escape", "utf_16", "utf_32", "utf_8_sig")

NODE = """
const [core, packages, code] = JSON.parse(process.argv[1]);
const { loadPyodide } = await import(pathToFileURL(core + "/pyodide.mjs"));
const quiet = () => {};
const options = { indexURL: core + "/", packageCacheDir: core + "/", packages, checkIntegrity: false };
try {
  const pyodide = await loadPyodide({ ...options, stdout: quiet, stderr: quiet });
  require("fs").writeFileSync(core + "/answer.json", pyodide.runPython(code));
} catch (error) {
  console.error(error.message ?? error);
  process.exit(1);
}
"""
FILES = """
import json, sys
said = answers()
json.dumps({"answers": said, "files": [str(getattr(m, "__file__", None) or "") for m in list(sys.modules.values())]})
"""


def main() -> int:
    try:
        with tempfile.TemporaryDirectory() as folder:
            files = run(Path(folder), all_of_it=True)["files"]
    except UserError as error:
        print(f"tools.runtime.used: {error}", file=sys.stderr)
        return 1
    found = {used(name) for name in files} | {f"encodings/{name}" for name in BY_NAME}
    USED.write_bytes("".join(f"{name}\n" for name in sorted(found - {""})).encode())
    print(f"{USED.name}: {len(found)} modules", file=sys.stderr)
    return 0


def used(path: str) -> str:
    """A module's file as the list names it: its path in its archive, without the suffix; "" for what is ours."""
    for start, kept in ((f"/python{TAG}.zip/", ""), ("/site-packages/", "numpy/")):
        _, found, name = path.partition(start)
        if found and name.startswith(kept):
            return name.split(".")[0]
    return ""


def run(folder: Path, all_of_it: bool = False) -> dict[str, list[str]]:
    """What exercise.answers() gives in Pyodide, and the files of the modules that are loaded in the end.

    `all_of_it`: on a runtime from which nothing is left out. Raises UserError when it does not run to its end.
    """
    cache = default_cache()
    fetched = fetch_runtime(cache)
    core = folder / pack_runtime(fetched, folder, our_files(), cache, all_of_it)
    for name in SCRIPTS:  # Node takes them as they come
        shutil.copyfile(fetched[name], core / name)
    argument = json.dumps([str(core.resolve()), list(PACKAGES), EXERCISE.read_text("utf-8") + FILES])
    try:
        done = finished([node(), "--input-type=module", "--eval", IMPORTS + NODE, argument], SECONDS)
    except subprocess.TimeoutExpired:
        raise UserError(N_("The pages did not run in Pyodide: %(why)s"), why=f"no end in {SECONDS} seconds") from None
    if done.returncode:
        raise UserError(N_("The pages did not run in Pyodide: %(why)s"), why=done.stderr.strip()[-300:])
    answer: dict[str, list[str]] = json.loads((core / "answer.json").read_text("utf-8"))
    return answer


if __name__ == "__main__":
    sys.exit(main())
