"""Which files of NumPy and of the standard library the pages need, and which a first step needs: found by running them.

    python -m tools.runtime.usage        write the lists anew, tools/runtime/used.txt and first.txt

`run_in_pyodide` starts a packed runtime under Node, as a browser would start it, and presses everything there
(exercise.py), or takes one step. What loads nothing while everything is pressed is left out of what readers fetch, and
what loads nothing in a first step comes later (packing.py).
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from microgpt.errors import UserError
from tools.output.sources import our_files
from tools.runtime.bytecode import COMPILE_SECONDS, IMPORTS, LOCK, node
from tools.runtime.fetch import default_cache, fetch_runtime
from tools.runtime.packing import LIBRARY, PLACE, SAID, SCRIPTS, START_FILES, USED, USED_FIRST, pack_runtime
from tools.runtime.pins import TAG
from tools.runtime.process import run_to_end

EXERCISE = Path(__file__).with_name("exercise.py")
OURS = ("microgpt", "jinja2/", "markupsafe/")
# Codecs that are looked up by name, and what Python asks for when it ends or when a module is missing.
BY_NAME = ("ascii", "idna", "latin_1", "unicode_escape", "utf_16", "utf_32", "utf_8_sig")

NODE = """
const [core, lock, library, steps] = JSON.parse(process.argv[1]);
const { loadPyodide } = await import(pathToFileURL(core + "/pyodide.mjs"));
const quiet = () => {};
const options = { indexURL: core + "/", stdLibURL: core + "/first.wasm", lockFileContents: lock };
try {
  const pyodide = await loadPyodide({ ...options, stdout: quiet, stderr: quiet });
  const files = { [library]: "numpy.wasm", "/lib/more.wasm": "more.wasm" };
  for (const [path, name] of Object.entries(files))
    pyodide.FS.writeFile(path, require("fs").readFileSync(`${core}/${name}`));
  const said = steps.map((code) => pyodide.runPython(code));
  require("fs").writeFileSync(core + "/answer.json", said.at(-1));
} catch (error) {
  console.error(error.message ?? error);
  process.exit(1);
}
"""
ADD_MORE = "import sitecustomize; sitecustomize.FINDER.add('/lib/more.wasm')\n"
FILES = """
import json, sys
from sitecustomize import FINDER
files = [str(getattr(m, "__file__", None) or "") for name, m in list(sys.modules.items()) if name not in FINDER.late]
json.dumps({"answers": said, "files": files})
"""
FIRST_STEP = """
from json import dumps, loads
from microgpt.viz.browser import receive
said, fields = [dumps({"state": None})], {"page": "kv-cache", "model": "names", "prompt": "emm", "lang": "en"}
for hook in ("next", "prose", "next", "prose"):
    said.append(receive(dumps({"state": loads(said[-1])["state"], "hook": hook, "fields": fields})))
name = {"page": "index", "prompt": "anna", "lang": "en"}
said = [*said[1:], receive(dumps({"state": None, "hook": "drop", "fields": name}))]
"""
REAL = """
from sitecustomize import FINDER
for name in [*FINDER.late]:
    FINDER.real(name)
"""  # what has been left for later is there too
NO_MODULES = ("microgpt/data/names.npz", SAID)  # what else a first step reads


def main() -> int:
    try:
        with tempfile.TemporaryDirectory() as folder:
            pressed = EXERCISE.read_text("utf-8") + "said = answers()\n" + REAL
            all_of_them = run_in_pyodide(Path(folder) / "all", pressed, all_of_it=True)
            first = run_in_pyodide(Path(folder) / "first", FIRST_STEP, all_of_it=True)
    except UserError as error:
        print(f"tools.runtime.usage: {error}", file=sys.stderr)
        return 1
    codecs = {f"encodings/{name}" for name in BY_NAME}  # Python remembers for ever that it has not found one
    found = {name_in_lists(name) for name in all_of_them["files"]} | codecs
    write_list(USED, {name for name in found if not name.startswith(OURS)})
    write_list(USED_FIRST, {name_in_lists(name) for name in first["files"]} - {*START_FILES} | {*NO_MODULES, *codecs})
    return 0


def write_list(path: Path, names: Iterable[str]) -> None:
    listed = sorted(set(names) - {"", "sitecustomize"})
    path.write_bytes("".join(f"{name}\n" for name in listed).encode())
    print(f"{path.name}: {len(listed)} files", file=sys.stderr)


def name_in_lists(path: str) -> str:
    """A module's file as the lists name it: its path in its archive, without the suffix; "" for what is in none."""
    for place in (f"/python{TAG}.zip/", "/site-packages/"):
        _, found, name = path.partition(place)
        if found:
            return name.split(".")[0]
    return ""


def run_in_pyodide(
    folder: Path,
    code: str,
    all_of_it: bool = False,
    more: bool = True,
    wanted: Callable[[str], bool] = lambda name: True,
) -> dict[str, list[str]]:
    """What `code`, which leaves `said`, gives in Pyodide, and the files of the modules that are loaded in the end.

    `all_of_it`: on a runtime from which nothing is left out; `more`: with the second archive from the start; `wanted`:
    what of it. Raises UserError when it does not run to its end.
    """
    cache = default_cache()
    fetched = fetch_runtime(cache)
    core = folder / pack_runtime(fetched, folder, our_files(), cache, all_of_it, wanted)
    for name in SCRIPTS:  # Node takes them as they come
        shutil.copyfile(fetched[name], core / name)
    argument = json.dumps(
        [str(core.resolve()), json.dumps(LOCK), f"{PLACE}/{LIBRARY}", [ADD_MORE if more else "", code, FILES]]
    )
    try:
        done = run_to_end([node(), "--input-type=module", "--eval", IMPORTS + NODE, argument], COMPILE_SECONDS)
    except subprocess.TimeoutExpired:
        raise UserError(
            "The pages did not run in Pyodide: %(why)s", why=f"no end in {COMPILE_SECONDS} seconds"
        ) from None
    if done.returncode:
        raise UserError("The pages did not run in Pyodide: %(why)s", why=done.stderr.strip()[-300:])
    answer: dict[str, list[str]] = json.loads((core / "answer.json").read_text("utf-8"))
    return answer


if __name__ == "__main__":
    sys.exit(main())
