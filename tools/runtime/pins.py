"""What the browser runtime is made of, each with its one version number: Pyodide, the Python and the NumPy in it.

Whatever names one of these numbers takes it from here; where a document has to name one, a test compares the two. To
take another Pyodide, change the versions and the hashes here, and run the tests.
"""

from __future__ import annotations

PYODIDE = "0.29.5"
PYTHON = "3.13.2"  # that is in it
NUMPY = "2.2.5"  # that is built for it
PLATFORM = "emscripten_4_0_9"
ABI = "2025_0"  # of Pyodide; what is compiled for one does not run on another

MINOR = ".".join(PYTHON.split(".")[:2])  # 3.13
TAG = MINOR.replace(".", "")  # 313, as in the names of files

# Core files, the same in every source: name -> sha256.
CORE = {
    "pyodide.mjs": "510ca14305230018f50c40fb81be673afd68080e70ce7733fcce6600dd6a1714",
    "pyodide.asm.js": "356c42f69e1695397e9d8670bd3c2e678248cde76e18bdae1731e848537b47d7",
    "pyodide.asm.wasm": "54309a5a2cfd757b1f0fdbc9093c92503f7b341500110329d932487183912718",
    "python_stdlib.zip": "831fd1e535084b972f87c6a35275de3d236efd5166f5e77ce89497710635e73c",
}
NPM_NUMPY = f"numpy-{NUMPY}-cp{TAG}-cp{TAG}-pyodide_{ABI}_wasm32.whl"
CDN_NUMPY = f"numpy-{NUMPY}-cp{TAG}-cp{TAG}-pyemscripten_{ABI}_wasm32.whl"
# NumPy; which of the two depends on the source: name -> sha256.
WHEELS = {
    NPM_NUMPY: "125230b4c3ecd08803e5c43f1162e017c0718d9f253146225a705a952b9c16c2",
    CDN_NUMPY: "800c98edc0c864dfa49f07005680c699b4b42b84eae1f8cb19d35b3634e7f05c",
}

# Where the files lie: npm packages with those of their files, and the folder of Pyodide's release.
NPM = {f"pyodide@{PYODIDE}": tuple(CORE), "@bentopdf/pymupdf-wasm@0.11.16": (f"assets/{NPM_NUMPY}",)}
CDN = f"https://cdn.jsdelivr.net/pyodide/v{PYODIDE}/full/"
