"""A copy of the site whose worker is another one, under the hashes that then hold: for what a worker may do wrong."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

from tools.runtime.packing import folder_name

# what the page sees of a worker, without Python: each press is a step, Spanish needs the second archive, and these
# seeds are its end
STUB = """/* The worker */
let whole = false;
const ENDS = {
  66: () => postMessage({ failed: "Traceback:\\nboom", whole }),
  67: () => postMessage({ failed: "MemoryError", whole }),
  68: () => { for (;;); },
  69: () => setTimeout(() => { throw new Error("boom"); }),
};
self.onmessage = ({ data: { name, message } }) => {
  whole ||= name === "more.wasm";
  if (!message) return;
  const { state, fields } = JSON.parse(message), n = (state?.n ?? 3) + 1;
  if (ENDS[fields.seed]) return ENDS[fields.seed]();
  if (fields.lang === "es" && !whole) return postMessage({ failed: "not there", whole });
  postMessage({ answer: JSON.stringify({ state: { n }, patches: [{ target: "#rows", html: "", how: "append" }] }) });
};
"""


def altered(site: Path, out: Path, change: Callable[[str], str], most: int | None = None) -> Path:
    """The copy, in the new folder `out`; `change` gets the text of worker.js and must change it. Of each other file
    `most` bytes: a worker without Python needs none of the 25 MB."""
    (old,) = site.glob("runtime-*")
    shutil.copytree(site, out, copy_function=os.link, ignore=shutil.ignore_patterns("*.html", old.name))
    folder = out / "runtime"
    shutil.copytree(old, folder, copy_function=os.link)
    before = (old / "worker.js").read_text("utf-8")
    after = change(before)
    assert after != before
    files = {"worker.js": after.encode(), **{path.name: path.read_bytes()[:most] for path in folder.glob("*.wasm")}}
    manifest = json.loads((old / "runtime.json").read_bytes())
    for name, data in files.items():
        replace(folder / name, data)
        manifest["files"][name] |= {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    data = json.dumps(manifest).encode()
    replace(folder / "runtime.json", data)
    folder.rename(out / folder_name(data))
    for path in site.rglob("*.html"):
        to = out / path.relative_to(site)
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(path.read_text("utf-8").replace(old.name, folder_name(data)), "utf-8")
    return out


def replace(path: Path, data: bytes) -> None:
    """Write a new file: the old one may be shared with the site."""
    path.unlink()
    path.write_bytes(data)
