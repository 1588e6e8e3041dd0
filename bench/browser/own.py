"""A checkpoint in the page: how fast its files are read, how long the first picture takes, and a token after it.

The files are written here: random numbers in bfloat16, of the shapes of SmolLM2-135M and of GPT-2 medium, and a
tokenizer of bytes. The clock of the first picture starts when the last number has been read, which the page says; a
token's is from the press to the painted picture. Nothing is thrown away: the first token, for which all is drawn anew,
is among them.

Where a token's time goes: Python is what passes between the message to its worker and the answer, the page all else;
products are measured alone, the same ones by the same library, once over all matrices, and taken off Python's.
"""

from __future__ import annotations

import base64
import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np
from playwright.sync_api import Playwright
from tokenizers import Tokenizer, models, pre_tokenizers

from bench.browser.learning import press
from bench.browser.watch import seen, watch
from bench.measure import Result, at_least, at_most, spread
from microgpt import simd
from tools.browsers import Page, tab

Shapes = Mapping[str, tuple[int, ...]]
PROMPT = "A bright day."  # 13 bytes, a token each
PROGRESS = 'document.querySelector("#progress").textContent'
READING = f'{PROGRESS}.startsWith("Reading")'
ALL_READ = rf"/(?<!\d)([\d.]+) of \1 MB/.test({PROGRESS})"
# When each message went to Python, and when its answer came. Python's worker is born later.
LISTEN = """(() => {
  const { postMessage } = Worker.prototype, heard = new WeakSet();
  window.asked = [];
  Worker.prototype.postMessage = function (data, ...rest) {
    if (data.message) asked.push([performance.now()]);
    const answered = ({ data }) => data.answer && asked.at(-1).push(performance.now());
    if (!heard.has(this)) this.addEventListener("message", answered);
    heard.add(this);
    return postMessage.call(this, data, ...rest);
  };
})()"""
# One row through all matrices, one after the other, as often as `rounds` says: milliseconds each time.
PRODUCTS = """(async ({ library, shapes, rounds }) => {
  const bytes = shapes.reduce((sum, [out, width]) => sum + 2 * out * width, 0), room = 1 << 20; // for x and y
  const memory = new WebAssembly.Memory({ initial: Math.ceil((bytes + room) / 65536) });
  const code = Uint8Array.from(atob(library), (c) => c.charCodeAt(0));
  const { times } = (await WebAssembly.instantiate(code, { env: { memory } })).instance.exports;
  const numbers = new Uint16Array(memory.buffer);
  for (let i = 0; i < numbers.length; i++) numbers[i] = 0x3c00 + (i & 127); // about 0.01
  return Array.from({ length: rounds }, () => {
    const begin = performance.now();
    let at = room;
    for (const [out, width] of shapes) times(0, at, room / 2, 1, out, width, 1), (at += 2 * out * width);
    return performance.now() - begin;
  });
})"""


class Shape(NamedTuple):
    """A model by its config.json and its tensors, and how many tokens of it are timed."""

    name: str
    config: dict[str, object]
    tensors: Shapes
    products: list[tuple[int, int]]  # [out, in] of each matrix that a token goes through
    tokens: int
    first: float | None  # goals, in seconds: of the first picture,
    token: float  # and of a token


def smollm2() -> Shape:
    d, inner, kv, vocabulary, layers = 576, 1536, 192, 49152, 30
    config = {
        "model_type": "llama", "hidden_size": d, "num_hidden_layers": layers, "num_attention_heads": 9,
        "num_key_value_heads": 3, "intermediate_size": inner, "vocab_size": vocabulary, "max_position_embeddings": 2048,
        "tie_word_embeddings": True, "rope_theta": 100000, "rms_norm_eps": 1e-5, "bos_token_id": 0, "eos_token_id": 0,
    }  # fmt: skip
    found: dict[str, tuple[int, ...]] = {"model.embed_tokens.weight": (vocabulary, d), "model.norm.weight": (d,)}
    for layer in range(layers):
        here = f"model.layers.{layer}."
        found |= {here + name + ".weight": (d,) for name in ("input_layernorm", "post_attention_layernorm")}
        found |= {here + f"self_attn.{name}_proj.weight": (d, d) for name in "qo"}
        found |= {here + f"self_attn.{name}_proj.weight": (kv, d) for name in "kv"}
        found |= {here + f"mlp.{name}_proj.weight": (inner, d) for name in ("gate", "up")}
        found[here + "mlp.down_proj.weight"] = (d, inner)
    products = [(shape[0], shape[1]) for shape in found.values() if len(shape) == 2]
    return Shape("SmolLM2-135M", config, found, products, 6, 3, 0.25)


def gpt2_medium() -> Shape:
    d, vocabulary, positions, layers = 1024, 50257, 1024, 24
    config: dict[str, object] = {
        "model_type": "gpt2", "n_embd": d, "n_layer": layers, "n_head": 16, "n_positions": positions,
        "vocab_size": vocabulary, "activation_function": "gelu_new", "bos_token_id": 0, "eos_token_id": 0,
    }  # fmt: skip
    matrices = {"attn.c_attn": (d, 3 * d), "attn.c_proj": (d, d), "mlp.c_fc": (d, 4 * d), "mlp.c_proj": (4 * d, d)}
    found: dict[str, tuple[int, ...]] = {"wte.weight": (vocabulary, d), "wpe.weight": (positions, d)}
    norms = [f"h.{layer}.{name}" for layer in range(layers) for name in ("ln_1", "ln_2")] + ["ln_f"]
    found |= {f"{name}.{part}": (d,) for name in norms for part in ("weight", "bias")}
    for layer in range(layers):
        found |= {f"h.{layer}.{name}.weight": shape for name, shape in matrices.items()}
        found |= {f"h.{layer}.{name}.bias": shape[1:] for name, shape in matrices.items()}
    products = [(out, width) for width, out in matrices.values()] * layers + [(vocabulary, d)]  # they lie as [in, out]
    return Shape("GPT-2 medium", config, found, products, 5, None, 0.7)


def write(folder: Path, shape: Shape) -> int:
    """The files of the checkpoint; the bytes of its numbers."""
    rng, header, at = np.random.default_rng(0), dict[str, object](), 0
    for name, sides in shape.tensors.items():
        size = 2 * int(np.prod(sides))
        header[name] = {"dtype": "BF16", "shape": sides, "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with (folder / "model.safetensors").open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for sides in shape.tensors.values():
            values = np.ones(sides, np.float32) if len(sides) == 1 else rng.standard_normal(sides, np.float32) / 30
            file.write((values.view(np.uint32) >> 16).astype("<u2").tobytes())
    (folder / "config.json").write_text(json.dumps(shape.config), "utf-8")
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({piece: i for i, piece in enumerate(alphabet)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.save(str(folder / "tokenizer.json"))
    return at


def measure(playwright: Playwright, url: str) -> list[Result]:
    return [result for shape in (smollm2(), gpt2_medium()) for result in measured(playwright, url, shape)]


def measured(playwright: Playwright, url: str, shape: Shape) -> list[Result]:
    with tempfile.TemporaryDirectory() as name, tab(playwright, "chromium") as page:
        size = write(Path(name), shape)
        page.open(f"{url}own-model.html")
        watch(page)
        page.run(f"{LISTEN}, 0")
        page.fill("#prompt", PROMPT)
        read, first = chosen(page, sorted(Path(name).iterdir()))
        tokens, python = [], []
        for _ in range(shape.tokens):
            begin, end = press(page, "next")
            sent, answered = page.run("asked.at(-1)")
            tokens.append((end - begin) / 1000)
            python.append((answered - sent) / 1000)
        products = median(page.run(f"{PRODUCTS}({asked_for(shape)})")) / 1000
    here, whole = f"{shape.name}'s shape in the page", median(tokens)
    parts = {"products": products, "the rest of Python": median(python) - products, "the page": whole - median(python)}
    goes = ", ".join(f"{what} {seconds:.2f} s" for what, seconds in parts.items())
    first_picture = f"{here}: the first picture, of 13 tokens, s"
    after = "after the numbers are read"
    return [
        at_least(f"{here}: reading, MB/s", [size / 1e6 / read], 150, "", f"{size / 1e6:.0f} MB in {read:.1f} s"),
        at_most(first_picture, [first], shape.first, after)
        if shape.first
        else Result(first_picture, spread([first]), after),
        at_most(f"{here}: a token, s", tokens, shape.token, "", f"at most {max(tokens):.2f} s; in the middle: {goes}"),
    ]


def asked_for(shape: Shape) -> str:
    library = base64.b64encode((Path(simd.__file__).parent / "times.so").read_bytes()).decode()
    return json.dumps({"library": library, "shapes": shape.products, "rounds": 5})


def chosen(page: Page, files: list[Path]) -> tuple[float, float]:
    """Choose the files; seconds from the first word of reading to the last, and from there to the painted picture."""
    page.choose("input[type=file]", *files)
    page.wait(READING)
    began = page.run("performance.now()")
    page.wait(f"{ALL_READ} || !{READING}", 120)
    ended = page.run("performance.now()")
    page.wait('(window.bench.painted["boot-ready"] ?? []).length > 0', 120)
    return (ended - began) / 1000, (seen(page).painted["boot-ready"][-1][1] - ended) / 1000
