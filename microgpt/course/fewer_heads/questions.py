"""Questions about shared heads: a shape, what sharing saves, one short row, and heads that read each other's keys."""

from __future__ import annotations

from types import SimpleNamespace as Numbers

from microgpt.architectures import Architecture
from microgpt.errors import N_
from microgpt.viz.text.answers import answers
from microgpt.viz.text.tasks import Task, unlike
from microgpt.weights import shipped


def asks(model: Architecture, latent: Architecture, mixed_up: float) -> Numbers:
    """The shape of the model's matrix of k, how much smaller its cache is than without sharing, and what a model with
    one short row keeps per token and layer; `mixed_up` is how far answers are off that read the key heads in turn."""
    c = model.config
    return Numbers(
        model=model,
        shape=answers(
            (c.n_kv_head * c.head_dim, c.n_embd), each=(c.n_head * c.head_dim, c.n_embd), one=(c.head_dim, c.n_embd)
        ),
        times=answers(c.n_head // c.n_kv_head, kept=c.n_kv_head, asking=c.n_head),
        rows=answers(latent.row, both=2 * latent.row, each=latent.config.n_head * latent.row),
        mixed_up=mixed_up,
    )


def groups() -> Numbers:
    """The key heads that query heads read, those that they should, and the heads that are wrong."""
    c = shipped("stories").config
    read = [head % c.n_kv_head for head in range(c.n_head)]
    right = [head // (c.n_head // c.n_kv_head) for head in range(c.n_head)]
    unlike(tuple(read), tuple(right))
    wrong = [head for head in range(c.n_head) if read[head] != right[head]]
    return Numbers(n_head=c.n_head, n_kv_head=c.n_kv_head, read=read, right=right, wrong=wrong)


TASKS = (Task("groups", N_("Find the bug: heads that read each other’s keys"), 6, "bug", 10, 7, groups),)
