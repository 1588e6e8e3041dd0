"""A checkpoint in the page: how fast its files are read, how long the first picture takes, and a token after it.

The files are written here: random numbers in bfloat16, of SmolLM2-135M's shape, and a tokenizer of bytes. The clock of
the first picture starts when the last number has been read, which the page says; a token's is from the press to the
painted picture. Nothing is thrown away: the first token is among them.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from statistics import median

import numpy as np
from playwright.sync_api import Playwright
from tokenizers import Tokenizer, models, pre_tokenizers

from bench.browser.learning import press
from bench.browser.watch import seen, watch
from bench.measure import Result, at_least, at_most
from tools.browsers import Page, tab

CONFIG = {
    "model_type": "llama", "hidden_size": 576, "num_hidden_layers": 30, "num_attention_heads": 9,
    "num_key_value_heads": 3, "intermediate_size": 1536, "vocab_size": 49152, "max_position_embeddings": 2048,
    "tie_word_embeddings": True, "rope_theta": 100000, "rms_norm_eps": 1e-5, "bos_token_id": 0, "eos_token_id": 0,
}  # fmt: skip
PROMPT = "A bright day."  # 13 bytes, a token each
TOKENS = 6
PROGRESS = 'document.querySelector("#progress").textContent'
READING = f'{PROGRESS}.startsWith("Reading")'
ALL_READ = rf"/(?<!\d)([\d.]+) of \1 MB/.test({PROGRESS})"


def shapes() -> dict[str, tuple[int, ...]]:
    d, inner, kv = 576, 1536, 192
    found: dict[str, tuple[int, ...]] = {"model.embed_tokens.weight": (49152, d), "model.norm.weight": (d,)}
    for layer in range(30):
        here = f"model.layers.{layer}."
        found |= {here + name + ".weight": (d,) for name in ("input_layernorm", "post_attention_layernorm")}
        found |= {here + f"self_attn.{name}_proj.weight": (d, d) for name in "qo"}
        found |= {here + f"self_attn.{name}_proj.weight": (kv, d) for name in "kv"}
        found |= {here + f"mlp.{name}_proj.weight": (inner, d) for name in ("gate", "up")}
        found[here + "mlp.down_proj.weight"] = (d, inner)
    return found


def write(folder: Path) -> int:
    """The files of the checkpoint; the bytes of its numbers."""
    rng, header, at = np.random.default_rng(0), dict[str, object](), 0
    for name, shape in shapes().items():
        size = 2 * int(np.prod(shape))
        header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with (folder / "model.safetensors").open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for name, shape in shapes().items():
            values = np.ones(shape, np.float32) if "norm" in name else rng.standard_normal(shape, np.float32) / 30
            file.write((values.view(np.uint32) >> 16).astype("<u2").tobytes())
    (folder / "config.json").write_text(json.dumps(CONFIG), "utf-8")
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({piece: i for i, piece in enumerate(alphabet)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.save(str(folder / "tokenizer.json"))
    return at


def measure(playwright: Playwright, url: str) -> list[Result]:
    with tempfile.TemporaryDirectory() as name, tab(playwright, "chromium") as page:
        size = write(Path(name))
        page.open(f"{url}own-model.html")
        watch(page)
        page.fill("#prompt", PROMPT)
        read, first = chosen(page, sorted(Path(name).iterdir()))
        tokens = []
        for _ in range(TOKENS):
            begin, end = press(page, "next")
            tokens.append((end - begin) / 1000)
    shape = "SmolLM2-135M's shape in the page"
    return [
        at_least(f"{shape}: reading, MB/s", [size / 1e6 / read], 150, "", f"{size / 1e6:.0f} MB in {read:.1f} s"),
        at_most(f"{shape}: the first picture, of 13 tokens, s", [first], 3, "after the numbers are read"),
        at_most(f"{shape}: a token, s", tokens, 0.25, "", f"at most {max(tokens):.2f} s, median {median(tokens):.2f}"),
    ]


def chosen(page: Page, files: list[Path]) -> tuple[float, float]:
    """Choose the files; seconds from the first word of reading to the last, and from there to the painted picture."""
    page.choose("input[type=file]", *files)
    page.wait(READING)
    began = page.run("performance.now()")
    page.wait(f"{ALL_READ} || !{READING}", 120)
    ended = page.run("performance.now()")
    page.wait('(window.bench.painted["boot-ready"] ?? []).length > 0', 120)
    return (ended - began) / 1000, (seen(page).painted["boot-ready"][-1][1] - ended) / 1000
