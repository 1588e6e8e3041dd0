"""The hand-written gradients against complex-step derivatives, which need no backward code at all.

With f analytic, Im f(x + ih u) / h is the derivative along u, exact to rounding, since nothing is subtracted.
"""

import ast
import inspect
from types import ModuleType
from typing import Any

import numpy as np
from hypothesis import given, settings

from microgpt import backward as backward_module
from microgpt import model as model_module
from microgpt.backward import Tape, backward
from microgpt.cache import KVCache, KVLayer
from microgpt.config import Array, Params, Report, param_shapes, row_dims
from microgpt.model import forward
from microgpt.train import loss_and_grads
from tests.support.examples import examples
from tests.support.strategies import Case, cases, normal_like, parallel, unwritten

TINY = 1e-40  # the step h; its square vanishes beside 1
TOLERANCE = 1e-11


def along(params: Params, case: Case, direction: Params, weigh: Array) -> float:
    """The derivative of (weigh * logits).sum() along `direction`, by a complex step."""
    moved = {name: value + 0j for name, value in params.items()}
    for name, step in direction.items():
        moved[name] += 1j * TINY * step
    return float((weigh * parallel(moved, case.config, case.token_ids)).sum().imag / TINY)


def gradients(case: Case, weigh: Array, hook: Any = None) -> Params:
    tape = Tape()
    parallel(case.params, case.config, case.token_ids, tape.keep)
    grads = unwritten(case.params)
    backward(case.params, case.config, case.token_ids, tape, weigh, grads, hook)
    return grads


def weights_for(case: Case) -> Array:
    return case.rng.normal(size=(len(case.token_ids), case.config.vocab_size))


def assert_derivative(grad: Array, direction: Array, expected: float, scale: float) -> None:
    """`scale` is the size of what was summed: an entry that is 0 by cancellation is 0 up to rounding of that."""
    assert abs(float((grad * direction).sum()) - expected) <= TOLERANCE * max(scale, abs(expected))


@given(cases() | cases(latent=True))
@settings(max_examples=examples(300))
def test_every_gradient_is_the_complex_step_derivative(case: Case) -> None:
    params, weigh, rng = case.params, weights_for(case), np.random.default_rng(1)
    grads = gradients(case, weigh)
    assert {name: grad.shape for name, grad in grads.items()} == param_shapes(case.config)
    size = max(1.0, *(float(np.abs(grad).max()) for grad in grads.values()))
    for name, grad in grads.items():
        direction = normal_like(grad, rng)
        expected = along(params, case, {name: direction}, weigh)
        assert_derivative(grad, direction, expected, size * float(np.abs(direction).sum()))


class Nudged(KVLayer):
    """A cache whose rows move a complex step as they arrive."""

    def nudge(self, dk: Array, dv: Array) -> "Nudged":
        self.step_k, self.step_v = 1j * TINY * dk, 1j * TINY * dv
        return self

    def append(self, k: Array, v: Array) -> tuple[Array, Array, range]:
        return super().append(k + self.step_k, v + self.step_v)


@given(cases() | cases(latent=True))
@settings(max_examples=examples(150))
def test_what_arrives_at_the_cached_rows_is_reported(case: Case) -> None:
    config, weigh, rng, n = case.config, weights_for(case), np.random.default_rng(2), len(case.token_ids)
    reported: dict[tuple[str, int], Array] = {}

    def keep(report: Report) -> None:
        name, value, _, layer = report
        reported[name, layer] = value

    gradients(case, weigh, keep)
    assert {name for name, _ in reported} == {"dq", "dk", "dv"}
    g, dims = config.n_kv_head, row_dims(config)
    for layer in range(config.n_layer):
        for name in ("dk", "dv"):
            steps = [
                rng.normal(size=(n, g, d)) if name == which else np.zeros((n, g, d))
                for which, d in zip(("dk", "dv"), dims, strict=True)
            ]
            direction = steps[name == "dv"]
            cache = KVCache(config, complex)
            cache.layers[layer] = Nudged(g, config.n_ctx, dims[0], complex, dims[1]).nudge(*steps)
            moved = (weigh * forward(case.params, config, case.token_ids, cache)).sum().imag / TINY
            grad = reported[name, layer]
            assert grad.shape == direction.shape
            assert_derivative(grad, direction, moved, 1.0 + float(np.abs(grad).max() * np.abs(direction).sum()))


@given(cases(min_tokens=2))
@settings(max_examples=examples(100))
def test_the_loss_and_its_gradient_agree(case: Case) -> None:
    rng = np.random.default_rng(3)
    grads = unwritten(case.params)
    loss = loss_and_grads(case.params, case.config, case.token_ids, grads)
    direction = {name: normal_like(grad, rng) for name, grad in grads.items()}
    moved = {name: value + 1j * TINY * direction[name] for name, value in case.params.items()}
    logits = parallel(moved, case.config, case.token_ids[:-1])
    targets = logits[np.arange(len(logits)), case.token_ids[1:]]
    expected = (np.log(np.exp(logits).sum(axis=-1)) - targets).mean()
    size = max(1.0, *(float(np.abs(grad).max()) for grad in grads.values()))
    assert abs(loss - expected.real) < 1e-12 * max(1.0, loss)
    total = sum(float((grads[name] * direction[name]).sum()) for name in grads)
    scale = size * sum(float(np.abs(d).sum()) for d in direction.values())
    assert abs(total - expected.imag / TINY) <= TOLERANCE * scale


@given(cases())
@settings(max_examples=examples(50))
def test_a_pass_leaves_parameters_tape_and_dlogits_alone(case: Case) -> None:
    params, weigh, tape = case.params, weights_for(case), Tape()
    parallel(params, case.config, case.token_ids, tape.keep)
    before = [array.copy() for array in (*params.values(), weigh)]
    kept = {key: np.copy(value) for key, value in tape.items()}
    backward(params, case.config, case.token_ids, tape, weigh, unwritten(params))
    for one, other in zip((*params.values(), weigh), before, strict=True):
        assert np.array_equal(one, other)
    for key, value in tape.items():
        assert np.array_equal(value, kept[key])


def functions(module: ModuleType) -> list[str]:
    return [node.name for node in ast.parse(inspect.getsource(module)).body if isinstance(node, ast.FunctionDef)]


def test_every_part_of_the_forward_pass_has_its_backward_in_the_same_order() -> None:
    """Masks and places have no gradient.

    `absorb` is `expand` in another order, and none trains with cross-attention.
    """
    without = {
        *(
            "forward as_kept as_mixed absorb of_latents remember cross param_shapes window_of causal_mask triangle "
            "tree_mask place_tree batch_texts split_texts"
        ).split()
    }
    parts = [name for name in functions(model_module) if name not in without]
    assert functions(backward_module) == ["backward", *(f"{name}_backward" for name in parts)]
