"""Forward pass, cache rows and every gradient against PyTorch, on random weights: `make references`.

The reference is written with PyTorch's own parts (attention, norms, activations, autograd), and turns q
and k as complex numbers. It shares no line with model.py. Both compute in float64.
"""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from microgpt.architectures.known import GPT2, LLAMA
from microgpt.backward import Tape, backward
from microgpt.cache import KVCache
from microgpt.config import Array, Config, Report
from microgpt.decode import decode_step
from microgpt.model import forward
from microgpt.train import loss_and_grads
from tests.references.pytorch import torch
from tests.support.examples import examples
from tests.support.strategies import REAL, Case, assert_close, cases, unwritten

F = torch.nn.functional
pytestmark = pytest.mark.references


class Reference:
    """The same architecture over torch tensors; keeps each layer's queries, keys and values."""

    def __init__(self, case: Case) -> None:
        self.c = case.config
        self.p = {name: torch.tensor(value, requires_grad=True) for name, value in case.params.items()}
        self.q: list[Any] = []
        self.k: list[Any] = []
        self.v: list[Any] = []

    def linear(self, x: Any, name: str) -> Any:
        return F.linear(x, self.p[name], self.p.get(f"{name}.bias"))

    def norm(self, x: Any, name: str) -> Any:
        shape, eps = (self.c.n_embd,), self.c.norm_eps
        if self.c.norm == "layer":
            return F.layer_norm(x, shape, self.p[name], self.p[f"{name}.bias"], eps)
        return F.rms_norm(x, shape, self.p.get(name), eps)

    def heads(self, x: Any, turn: bool) -> Any:
        """[n, heads * head_dim] -> [heads, n, head_dim], turned by position if the model does that."""
        x = x.unflatten(-1, (-1, self.c.head_dim)).transpose(0, 1)
        if not turn or self.c.position != "rope":
            return x
        half = self.c.head_dim // 2
        frequencies = torch.tensor([self.frequency(i / half) for i in range(half)], dtype=torch.float64)
        angles = torch.arange(x.shape[1], dtype=torch.float64)[:, None] * frequencies
        turned = torch.complex(x[..., :half], x[..., half:]) * torch.polar(torch.ones_like(angles), angles)
        return torch.cat([turned.real, turned.imag], dim=-1)

    def frequency(self, share: float) -> float:
        """One pair's, stretched by cases, as Llama 3.1 says it."""
        c, plain = self.c, self.c.rope_theta**-share
        if c.rope_scaling == "none":
            return float(plain)
        wavelength, slow = 2 * math.pi / plain, plain / c.rope_factor
        if c.rope_scaling == "linear" or wavelength > c.rope_old_ctx / c.rope_low_freq:
            return float(slow)
        if wavelength < c.rope_old_ctx / c.rope_high_freq:
            return float(plain)
        smooth = (c.rope_old_ctx / wavelength - c.rope_low_freq) / (c.rope_high_freq - c.rope_low_freq)
        return float((1 - smooth) * slow + smooth * plain)

    def projected(self, x: Any, name: str, turn: bool) -> Any:
        x = self.linear(x, name).unflatten(-1, (-1, self.c.head_dim))
        if name + ".norm" in self.p:
            x = F.rms_norm(x, (self.c.head_dim,), self.p[name + ".norm"], self.c.norm_eps)
        return self.heads(x.flatten(-2), turn)

    def mask(self, n: int, layer: int) -> Any:
        """True where a query may look: not ahead, and not further back than the window."""
        back = torch.arange(n)[:, None] - torch.arange(n)
        windowed = self.c.window and layer >= self.c.window_from
        return (back >= 0) & (back < self.c.window if windowed else True)

    def attention(self, x: Any, here: str) -> Any:
        q = self.projected(x, here + "wq", turn=True)
        k = self.projected(x, here + "wk", turn=True)
        v = self.projected(x, here + "wv", turn=False)
        for kept, row in ((self.q, q), (self.k, k), (self.v, v)):
            row.retain_grad()
            kept.append(row)
        shared = self.c.n_head // self.c.n_kv_head
        k, v = k.repeat_interleave(shared, dim=0), v.repeat_interleave(shared, dim=0)
        mask, scale = self.mask(len(x), len(self.q) - 1), self.c.attn_scale or None
        mixed = F.scaled_dot_product_attention(q[None], k[None], v[None], attn_mask=mask, scale=scale)[0]
        return self.linear(mixed.transpose(0, 1).flatten(1), here + "wo")

    def mlp(self, x: Any, here: str) -> Any:
        up = self.linear(x, here + "fc1")
        hidden = {
            "relu": lambda: F.relu(up),
            "gelu": lambda: F.gelu(up, approximate="tanh"),
            "gelu_exact": lambda: F.gelu(up),
            "swiglu": lambda: F.silu(self.linear(x, here + "gate")) * up,
        }[self.c.mlp]()
        return self.linear(hidden, here + "fc2")

    def __call__(self, token_ids: list[int]) -> Any:
        x = F.embedding(torch.tensor(token_ids), self.p["wte"])
        if self.c.position == "learned":
            x = x + self.p["wpe"][: len(token_ids)]
        if self.c.embd_norm:
            x = self.norm(x, "embd_norm")
        for layer in range(self.c.n_layer):
            here = f"layer{layer}."
            x = x + self.attention(self.norm(x, here + "attn_norm"), here)
            x = x + self.mlp(self.norm(x, here + "mlp_norm"), here)
        if self.c.final_norm:
            x = self.norm(x, "final_norm")
        return F.linear(x, self.p["wte" if self.c.tied else "lm_head"])


def rows(tensor: Any) -> Array:
    """[heads, n, head_dim] of torch -> [n, heads, head_dim] of NumPy, as hooks report them."""
    return np.asarray(tensor.detach().numpy().swapaxes(0, 1))


def assert_gradients_agree(grads: dict[str, Array], reference: Reference) -> None:
    assert set(grads) == set(reference.p)
    for name, grad in grads.items():
        assert_close(grad, reference.p[name].grad.numpy())


def assert_loss_agrees(case: Case) -> None:
    reference = Reference(case)
    expected = F.cross_entropy(reference(case.token_ids[:-1]), torch.tensor(case.token_ids[1:]))
    expected.backward()
    grads = unwritten(case.params)
    loss = loss_and_grads(case.params, case.config, case.token_ids, grads)
    assert_close(np.array(loss), expected.detach().numpy())
    assert_gradients_agree(grads, reference)


@given(cases(mlps=REAL))
@settings(max_examples=examples(400))
def test_logits_and_cache_rows_agree(case: Case) -> None:
    reference = Reference(case)
    expected = reference(case.token_ids).detach().numpy()
    at_once, stepwise = KVCache(case.config), KVCache(case.config)
    assert_close(forward(case.params, case.config, case.token_ids, at_once), expected)
    steps = [decode_step(case.params, case.config, token, stepwise) for token in case.token_ids]
    assert_close(np.array(steps), expected)
    for cache in (at_once, stepwise):
        for layer, ours in enumerate(cache.layers):
            assert_close(ours.keys, reference.k[layer].detach().numpy())
            assert_close(ours.values, reference.v[layer].detach().numpy())


@given(cases(mlps=REAL))
@settings(max_examples=examples(400))
def test_every_gradient_agrees(case: Case) -> None:
    """Of every parameter, and what arrives at each row of q, k and v."""
    dlogits = case.rng.normal(size=(len(case.token_ids), case.config.vocab_size))
    reference = Reference(case)
    reference(case.token_ids).backward(torch.tensor(dlogits))
    tape, arrived = Tape(), {}

    def keep(report: Report) -> None:
        name, value, _, layer = report
        arrived[name, layer] = value

    forward(case.params, case.config, case.token_ids, KVCache(case.config), tape.keep)
    grads = unwritten(case.params)
    backward(case.params, case.config, case.token_ids, tape, dlogits, grads, keep)
    assert_gradients_agree(grads, reference)
    for layer in range(case.config.n_layer):
        assert_close(arrived["dq", layer], rows(reference.q[layer].grad))
        assert_close(arrived["dk", layer], rows(reference.k[layer].grad))
        assert_close(arrived["dv", layer], rows(reference.v[layer].grad))


@given(cases(min_tokens=2, mlps=REAL))
@settings(max_examples=examples(150))
def test_the_loss_and_its_gradients_agree(case: Case) -> None:
    assert_loss_agrees(case)


@pytest.mark.parametrize(
    "config",
    [Config(2, 96, 6, 6, 16, 384, 48, 80, **GPT2), Config(2, 96, 6, 2, 24, 200, 48, 80, **LLAMA)],
    ids=["gpt2", "llama"],
)
def test_wider_models_agree_too(config: Config) -> None:
    """Where BLAS takes other paths than for a handful of numbers."""
    assert_loss_agrees(Scaled(config, 5, [(7 * i) % config.vocab_size for i in range(config.n_ctx)]))


class Scaled(Case):
    """A case with weights as small as a trained model's: wide layers of large ones saturate every softmax."""

    @property
    def vector(self) -> Array:
        return 0.3 * super().vector
