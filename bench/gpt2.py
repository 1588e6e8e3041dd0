"""GPT-2 124M's shape with random weights: a decode step with the cache, against reading its bytes, transformers, and
picoGPT's way; and its memory.

Each is measured in a process of its own, which prints JSON (`python -m bench.gpt2 speed` or `memory`), because the
number of threads is settled when NumPy and PyTorch are imported, and because peak memory is a process's: in the
environment of `make references` where it is there, since that has PyTorch and transformers, else in this one. All sides
get the same weights, in float32, each in its own layout, and must give the same logits.

- ours: `decode_step` with a cache, as everyone calls it.
- read: one pass over the bytes that this step reads, in the very same memory: the weights (wte once, as the head;
  nothing of wpe, of which a step takes one row) and the used rows of the cache.
- transformers: GPT2LMHeadModel on PyTorch, with its cache.
- picogpt: picoGPT's way, written anew: plain functions in NumPy, heads in a list, no cache, logits of every position.

Times are processor time.
"""

from __future__ import annotations

import ctypes
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from bench.measure import ROOT, Result, at_least, at_most, in_one_thread, interleave, ratios
from microgpt.architectures.known import PRESETS
from microgpt.cache import KVCache
from microgpt.config import Array, Params, n_params, split
from microgpt.decode import CHUNK, decode_step, generate, prefill

GPT2 = PRESETS["GPT-2 124M"].config
CONTEXTS = (16, 64, 256, 1000)  # tokens that the step sees, its own included
ROUNDS = 15
CLOSE = 1e-3  # logits here are of the order of 1
REFERENCES = ROOT / ".references" / "bin" / "python"
READ_GOAL, TRANSFORMERS_GOAL, PICOGPT_GOAL, MEMORY_GOAL = 1.30, 1.8, 200, 1.10
MB = 1e6

Work = Callable[[], object]

READER = """
#include <stddef.h>
#include <stdint.h>
uint64_t read_once(const uint64_t **pieces, const size_t *words, size_t n) {
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t *piece = pieces[i];
        for (size_t j = 0; j < words[i]; j++) sum += piece[j];
    }
    return sum;
}
"""


def measure() -> list[Result]:
    return [*speed_results(), memory_result()]


def run_process(what: str) -> Any:
    """What a process prints that measures it."""
    return in_one_thread("bench.gpt2", what, python=str(REFERENCES) if REFERENCES.exists() else sys.executable)


def speed_results() -> list[Result]:
    found, results = run_process("speed"), []
    for context, took in found["seconds"].items():
        what = f"a decode step of GPT-2 124M, context {int(context):,}"
        middle = {name: median(seconds) for name, seconds in took.items()}
        milli = {name: f"{one * 1e3:.1f} ms ({one / middle['read']:.2f} x reading)" for name, one in middle.items()}
        scale = f"{middle['ours'] * 1e3:.1f} ms, {middle['read'] * 1e3:.1f} ms"
        yardstick = f"reading the same bytes once ({found['reads']})"
        results.append(at_most(what, ratios(took["ours"], took["read"]), READ_GOAL, yardstick, scale))
        if "transformers" in took:
            yardstick, times = "transformers on PyTorch, with its cache = 1", ratios(took["transformers"], took["ours"])
            goal = at_least(what, times, TRANSFORMERS_GOAL, f"{yardstick}, times faster", milli["transformers"], ".2f")
            results.append(goal)
        else:
            results.append(Result(what, "not measured: transformers is not installed, `make references` installs it"))
        times = [seconds / middle["ours"] for seconds in took["picogpt"]]
        yardstick = f"picoGPT's way in float32, {len(times)} runs = 1, times faster"
        if int(context) == 1000:
            results.append(at_least(what, times, PICOGPT_GOAL, yardstick, milli["picogpt"]))
        else:
            results.append(Result(what, f"{median(times):.1f}", yardstick, scale=milli["picogpt"]))
    return results


def memory_result() -> Result:
    what = "memory of GPT-2 124M, a prompt of 1,000 tokens and a full cache"
    if not Path("/proc/self/status").exists():
        return Result(what, "not measured: only Linux says how much a process held at most")
    found = run_process("memory")
    needed, taken = found["weights"] + found["cache"], found["peak"] - found["base"]
    scale = f"{taken / MB:.0f} MB; weights {found['weights'] / MB:.0f}, cache {found['cache'] / MB:.0f}"
    return at_most(what, [taken / needed], MEMORY_GOAL, "weights + cache", scale)


def random_params() -> Params:
    """Views of one vector, as our own models have them: matrices of 0.02, gains of about 1, biases of about 0."""
    vector = np.empty(n_params(GPT2), np.float32)
    np.random.default_rng(0).standard_normal(out=vector, dtype=np.float32)
    vector *= np.float32(0.02)
    params = split(vector, GPT2)
    for name, array in params.items():
        if name.endswith("_norm"):
            array += np.float32(1)
    return params


def reader(folder: Path) -> tuple[str, Callable[[list[Array]], Work]]:
    """The quickest reading at hand: a C loop where there is a compiler, else NumPy's sum of whole numbers."""
    compiler = shutil.which("cc")
    library = folder / "reader.so"
    (folder / "reader.c").write_text(READER, "utf-8")
    for machine in (["-march=native"], []):  # not every compiler knows it
        command = [str(compiler), "-O3", *machine, "-shared", "-fPIC", "-o", str(library), str(folder / "reader.c")]
        if compiler and subprocess.run(command, capture_output=True).returncode == 0:
            return "a C loop", lambda pieces: c_loop(ctypes.CDLL(str(library)), pieces)
    return "NumPy's sum", lambda pieces: lambda: [np.add.reduce(p.reshape(-1).view(np.uint64)) for p in pieces]


def c_loop(library: ctypes.CDLL, pieces: list[Array]) -> Work:
    n = len(pieces)
    addresses = (ctypes.c_void_p * n)(*[piece.ctypes.data for piece in pieces])
    words = (ctypes.c_size_t * n)(*[piece.nbytes // 8 for piece in pieces])
    library.read_once.restype = ctypes.c_uint64
    return lambda: library.read_once(addresses, words, ctypes.c_size_t(n))


def read_by_a_step(params: Params, cache: KVCache) -> list[Array]:
    """Pieces without gaps; a head's rows of the cache are one."""
    rows = [head for layer in cache.layers for kind in (layer.keys, layer.values) for head in kind]
    return [array for name, array in params.items() if name != "wpe"] + rows


def in_out(params: Params) -> Params:
    """The same weights as GPT-2's own files have them: matrices [in, out], and q, k and v side by side."""
    names = {"wo": "attn.c_proj", "fc1": "mlp.c_fc", "fc2": "mlp.c_proj", "attn_norm": "ln_1", "mlp_norm": "ln_2"}
    theirs = {"wte.weight": params["wte"], "wpe.weight": params["wpe"]}
    theirs |= {"ln_f.weight": params["final_norm"], "ln_f.bias": params["final_norm.bias"]}
    for layer in range(GPT2.n_layer):
        here, there = f"layer{layer}.", f"h.{layer}."
        for our, their in names.items():
            theirs[there + their + ".weight"] = np.ascontiguousarray(params[here + our].T)
            theirs[there + their + ".bias"] = params[here + our + ".bias"]
        for kind, ending in (("weight", ""), ("bias", ".bias")):
            qkv = [params[here + name + ending].T for name in ("wq", "wk", "wv")]
            theirs[f"{there}attn.c_attn.{kind}"] = np.ascontiguousarray(np.concatenate(qkv, axis=-1))
    return theirs


class Transformers:
    """GPT2LMHeadModel with our weights, its cache filled with `ids`; `step` runs one token and takes it back."""

    def __init__(self, theirs: Params) -> None:
        self.torch, library = import_module("torch"), import_module("transformers")
        self.torch.set_num_threads(1)
        self.library = library
        self.model = library.GPT2LMHeadModel(library.GPT2Config()).eval()
        tensors = {"transformer." + name: self.torch.from_numpy(array) for name, array in theirs.items()}
        tensors["lm_head.weight"] = tensors["transformer.wte.weight"]
        missing, unknown = self.model.load_state_dict(tensors, strict=False)
        assert not missing and not unknown, (missing, unknown)

    def run(self, ids: list[int], cache: Any) -> Array:
        with self.torch.inference_mode():
            out = self.model(self.torch.tensor([ids]), past_key_values=cache, use_cache=True, logits_to_keep=1)
        return out.logits[0, -1].numpy()  # type: ignore[no-any-return]

    def fill(self, ids: list[int]) -> Any:
        cache = self.library.DynamicCache()
        self.run(ids, cache)
        return cache


def picogpt(weights: Params, ids: list[int]) -> Array:
    """Logits [n, vocab_size] of the whole text. Every number is float32: Python's own floats do not widen it."""

    def norm(x: Array, name: str) -> Array:
        mean, variance = np.mean(x, axis=-1, keepdims=True), np.var(x, axis=-1, keepdims=True)
        return weights[name + ".weight"] * (x - mean) / np.sqrt(variance + 1e-5) + weights[name + ".bias"]  # type: ignore[no-any-return]

    def linear(x: Array, name: str) -> Array:
        return x @ weights[name + ".weight"] + weights[name + ".bias"]

    def gelu(x: Array) -> Array:
        return 0.5 * x * (1 + np.tanh((2 / 3.141592653589793) ** 0.5 * (x + 0.044715 * x**3)))  # type: ignore[no-any-return]

    def attention(q: Array, k: Array, v: Array) -> Array:
        scores = q @ k.T / GPT2.head_dim**0.5 + mask
        e = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
        return e / np.sum(e, axis=-1, keepdims=True) @ v  # type: ignore[no-any-return]

    mask = (1 - np.tri(len(ids), dtype=np.float32)) * -1e10
    x = weights["wte.weight"][ids] + weights["wpe.weight"][: len(ids)]
    for layer in range(GPT2.n_layer):
        here = f"h.{layer}."
        q, k, v = (
            np.split(part, GPT2.n_head, axis=-1)
            for part in np.split(linear(norm(x, here + "ln_1"), here + "attn.c_attn"), 3, axis=-1)
        )
        heads = [attention(*one) for one in zip(q, k, v, strict=True)]
        x = x + linear(np.hstack(heads), here + "attn.c_proj")
        x = x + linear(gelu(linear(norm(x, here + "ln_2"), here + "mlp.c_fc")), here + "mlp.c_proj")
    return norm(x, "ln_f") @ weights["wte.weight"].T


# ---- the measures ----------------------------------------------------------------------------------


def speed() -> dict[str, Any]:
    """Seconds by context and job, round by round."""
    params = random_params()
    theirs = in_out(params)
    others = Transformers(theirs) if find_spec("torch") and find_spec("transformers") else None
    with tempfile.TemporaryDirectory() as folder:
        reads, read = reader(Path(folder))
        seconds = {n: at_context(n, params, theirs, others, read) for n in CONTEXTS}
    return {"reads": reads, "seconds": seconds}


def at_context(
    context: int, params: Params, theirs: Params, others: Transformers | None, read: Callable[[list[Array]], Work]
) -> dict[str, list[float]]:
    """The jobs take turns; picoGPT runs by itself, twice: a run of 1,000 tokens takes as long as hundreds of steps."""
    *before, token = ids = np.random.default_rng(1).integers(GPT2.vocab_size, size=context).tolist()
    cache = KVCache(GPT2, np.float32)
    prefill(params, GPT2, before, cache, chunk=CHUNK)
    logits = decode_step(params, GPT2, token, cache)
    jobs = {"read": cpu_job(read(read_by_a_step(params, cache)))}  # the step reads its own row too
    cache.crop(context - 1)
    jobs["ours"] = cpu_job(lambda: decode_step(params, GPT2, token, cache), lambda: cache.crop(context - 1))
    if others:
        held = others.fill(before)
        same(others.run([token], held), logits)
        held.crop(-1)
        jobs["transformers"] = cpu_job(lambda: others.run([token], held), lambda: held.crop(-1))
    whole: list[Array] = []
    took = interleave(ROUNDS, jobs)
    took["picogpt"] = [cpu_job(lambda: whole.append(picogpt(theirs, ids)[-1].copy()))() for _ in range(2)]
    same(whole[-1], logits)
    return took


def same(theirs: Array, ours: Array) -> None:
    """All sides computed the same thing, and in float32."""
    assert theirs.dtype == ours.dtype == np.float32, (theirs.dtype, ours.dtype)
    assert np.abs(theirs - ours).max() < CLOSE, np.abs(theirs - ours).max()


def cpu_job(work: Work, after: Work = lambda: None) -> Callable[[], float]:
    """A job for `interleave`; what comes after the work is on no clock."""

    def job() -> float:
        start = time.process_time()
        work()
        took = time.process_time() - start
        after()
        return took

    return job


def memory() -> dict[str, int]:
    """Bytes: what the process held with its imports done, the weights, the cache, and the most it ever held.

    The whole context is used: `generate` from a prompt of 1,000 tokens up to the last row.
    """
    base = resident_bytes("VmRSS")
    params = random_params()
    assert len(list(generate(params, GPT2, [0] * CONTEXTS[-1], GPT2.n_ctx))) == GPT2.n_ctx - CONTEXTS[-1] + 1
    weights = sum(array.nbytes for array in params.values())
    full = KVCache(GPT2, np.float32).nbytes_reserved
    return {"base": base, "weights": weights, "cache": full, "peak": resident_bytes("VmHWM")}


def resident_bytes(field: str) -> int:
    """Resident bytes of this process as Linux counts them: now (VmRSS), or the most so far (VmHWM)."""
    found = re.search(rf"{field}:\s+(\d+) kB", Path("/proc/self/status").read_text("utf-8"))
    assert found
    return int(found[1]) * 1024


if __name__ == "__main__":
    print(json.dumps({"speed": speed, "memory": memory}[sys.argv[1]]()))
