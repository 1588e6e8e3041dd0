"""A text run through a model of transformers, token by token, as a trace: what `Recording` is for our own models.

    trace = record(model, tokenizer, "The next day is bright", new=8)

Each step runs one token with the cache as `generate` does (engine.py), and afterwards the whole text is run again
without it; of a long text, only the last tokens are told, and the last step alone is run again. Of the model only its
own arithmetic is used: greedy choice, its type of numbers, its devices. Knows no page.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from ctypes import CDLL
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from microgpt.architectures.facts import Facts
from microgpt.checkpoints.folder import name_of
from microgpt.checkpoints.tokenizer import tokenizer_of
from microgpt.config import Array, Report
from microgpt.errors import N_, UserError
from microgpt.huggingface.engine import Engine
from microgpt.huggingface.reads import numbers
from microgpt.huggingface.shape import Macs, Shape, chunk_layers, config_fields, counter, shape_of
from microgpt.huggingface.watch import watched
from microgpt.trace import OVER_KEYS, READ, Trace

Keeps: TypeAlias = Callable[[str, int], bool]  # whether an event of that name and layer is kept
M_MMAP_THRESHOLD = -3  # of malloc.h
CHUNK = 256  # tokens in a pass, of those that are not told
SINK = 0.02  # of all weight, that rests on no row; numbers of 16 bits are this exact


class Vocabulary(Sequence[str]):
    """The text of each token id, made when it is asked for: a model may have a quarter of a million."""

    def __init__(self, tokenizer: Any, size: int) -> None:
        self.tokenizer, self.size = tokenizer, size

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, token: Any) -> Any:
        text: str = self.tokenizer.decode([token])
        piece = self.tokenizer.convert_ids_to_tokens(token)
        begins = isinstance(piece, str) and piece.startswith("▁") and not text.startswith(" ")
        return f" {text}" if begins else text  # SentencePiece leaves out the space before a word that stands alone


def vocabulary_of(tokenizer: Any, facts: Facts) -> Sequence[str]:
    """The texts of all tokens, as our own code names them if it can read the tokenizer; else as transformers does."""
    try:
        return tokenizer_of(tokenizer.backend_tokenizer.to_str(), facts).vocabulary
    except (AttributeError, UserError):
        return Vocabulary(tokenizer, facts.config.vocab_size)


def record(
    model: Any,
    tokenizer: Any,
    prompt: str,
    new: int = 8,
    compares: bool = True,
    last: int = 0,
    keeps: Callable[[Mapping[str, Any]], Keeps] | None = None,
    cache: Any = None,
) -> Trace:
    """Run `prompt` and up to `new` greedy tokens. Raises UserError for what cannot be recorded.

    With `last`, the trace is that of the last so many tokens. Those before them run first; the trace says how many they
    are, as `about["before"]`, and counts its positions from there. What the trace keeps after its first step, `keeps`
    says, by what the trace then says of its model: a large one would fill the memory with what no page shows.
    `cache` is an empty one, to be used in place of transformers' own.
    """
    shape, ids = shape_of(model), list[int](tokenizer(prompt)["input_ids"])
    limit = check_length(len(ids), new, shape.config.n_ctx)
    before = max(0, min(limit - last, len(ids) - 1)) if last else 0
    trace, stops = begun(model, tokenizer, shape, prompt, ids, before), stops_of(model)
    engine, telling = Engine(model, cache), Telling(trace, before)
    for at in range(0, before, CHUNK):
        engine.run(ids[: min(at + CHUNK, before)], min(CHUNK, before - at))
    with watched(model, telling, last=True):
        for i, pos in enumerate(range(before, limit)):
            telling.begin(i)
            logits = engine.run(ids[: pos + 1], 1, counts=i + 1 == trace.about["n_prompt"])
            if i == 0:
                macs = start_counting(trace, model, shape, engine)
                telling.keeps = keeps and keeps(trace.about)
            note(trace, macs, engine, telling)
            choice, newest = int(logits.argmax()), pos + 1 >= len(ids)
            ends = pos + 1 == limit or (newest and choice in stops)
            trace.about["tokens"].append(trace.about["vocabulary"][ids[pos]])
            if newest:
                trace(("sample", choice, i, -1))
                ids += [] if ends else [choice]
            if ends:
                break
    finish(trace, engine, telling)
    if compares:  # afterwards: some models keep their state in themselves, where such a pass would change it
        compare_without_cache(trace, macs, engine, ids[: pos + 1], before)
    trace.about["ids"] = ids[before : pos + 1]
    return trace


def begun(model: Any, tokenizer: Any, shape: Shape, prompt: str, ids: list[int], before: int) -> Trace:
    """An empty trace that says what is run; `before` of the tokens are not told."""
    import transformers

    return Trace(
        about(model, shape)
        | {
            "prompt": prompt,
            "n_prompt": len(ids) - before,
            "vocabulary": vocabulary_of(tokenizer, shape.facts),
            "stops": sorted(stops_of(model)),
            "started": not before and ids[0] == tokenizer.bos_token_id,
            "engine": f"transformers {transformers.__version__}",
        }
        | ({"before": before} if before else {})
    )


class Telling:
    """The hook of one step after another. Of a pass it tells the last row, at its place among the tokens that are
    told; of scores, weights and rows that are read otherwise those of these tokens that the step reads."""

    def __init__(self, trace: Trace, before: int) -> None:
        self.trace, self.before, self.keeps = trace, before, None  # type: tuple[Trace, int, Keeps | None]
        self.earlier: list[dict[int, list[float]]] = []  # a step, by layer: what each head gives to rows before these
        self.least = 1.0  # the least sum of weights that a head has given out

    def begin(self, i: int) -> None:
        """Step i begins."""
        self.i, self.rows, self.pairs, self.scores = i, 1, 0, 0
        self.columns: dict[int, Array] = {}  # by layer, which of the rows that are read are told, where it is told
        self.earlier.append({})

    def __call__(self, report: Report) -> None:
        name, value, _, layer = report
        if name in OVER_KEYS:
            value = self.place(name, value, layer)
        elif name == "key_positions":
            told = self.columns[layer] = value >= self.before
            value = value[told] - self.before
        elif name not in READ and not isinstance(value, int):
            self.rows = max(self.rows, len(value))
            value = value[-1:]
        if not self.keeps or self.keeps(name, layer):
            self.trace((name, value, self.i, layer))

    def place(self, name: str, value: Array, layer: int) -> Array:
        """Of scores or weights [H, n, t] over the newest t rows, those of the last token over what is told of them."""
        if name == "attn_scores":
            self.pairs += int(np.isfinite(value).sum())
            self.scores += value.size  # which whoever watches has computed once more
        last, before, told = value[:, -1:], max(0, value.shape[-1] - self.i - 1), self.columns.get(layer)
        ours, others = (slice(before, None), slice(before)) if told is None else (told, ~told)
        if name == "attn_weights":
            self.least = min(self.least, float(last.sum(-1).min()))
            self.earlier[-1][layer] = [round(x, 6) for x in last[:, 0, others].sum(-1).tolist()]
        return last[..., ours]


def start_counting(trace: Trace, model: Any, shape: Shape, engine: Engine) -> Macs:
    """After the first step that is told: completes what the trace says of its model. What is returned gives the
    multiply-adds over cost.PARTS of a pass over the last n of t tokens."""
    kept = layers_with_rows(trace, shape, engine)
    trace.about |= describe(trace, shape, kept, engine)
    return counter(model, shape, kept, engine.windows(shape.config.n_layer), "row" in trace.about)


def note(trace: Trace, macs: Macs, engine: Engine, telling: Telling) -> None:
    """After each step: what the cache holds, and the multiply-adds where they cannot be counted from what is told, or
    where PyTorch has counted them."""
    t, held = telling.before + telling.i + 1, engine.measure()
    trace.about["held"].append([held.numbers, held.bytes])
    if "macs" in trace.about:
        trace.about["macs"].append(macs(telling.rows, t, telling.pairs).tolist())
        trace.about["macs_without"].append(macs(t, t).tolist())
    if engine.counted:
        own = telling.scores * trace.about["config"]["head_dim"]
        trace.about["counted"] = [telling.i, engine.counted - own]
    if telling.rows > 1:
        trace.about.setdefault("again", []).append(telling.i)
    _ = trace.events  # copied now, each array is as large as itself, and what it was a part of is free


def compare_without_cache(trace: Trace, macs: Macs, engine: Engine, ids: list[int], before: int) -> None:
    """Run all tokens up to each step again, without a cache; of a long text, up to the last step alone."""
    for n in range(len(ids) if before else 1, len(ids) + 1):
        trace(("recompute_logits", numbers(engine.again(ids[:n])), n - before - 1, -1))
        trace(("recompute_macs", macs(n, n), n - before - 1, -1))


def finish(trace: Trace, engine: Engine, telling: Telling) -> None:
    """After the last step. A cache that grows with its text has reserved what it holds."""
    about, n_layer = trace.about, trace.about["config"]["n_layer"]
    about["nbytes_reserved"] = about["held"][-1][1]
    if state := engine.measure().state:
        about["state"] = state
    if telling.before and telling.least < 1 - SINK:
        none = [0.0] * about["config"]["n_head"]
        about["earlier"] = [[step.get(layer, none) for layer in range(n_layer)] for step in telling.earlier]


def check_length(n: int, new: int, n_ctx: int) -> int:
    """How many tokens there will be. Raises UserError for none, or more than the model sees."""
    if not n:
        raise UserError("The prompt is empty; give at least one token.")
    if n + new > n_ctx:
        sentence = N_("%(n)s tokens and %(new)s new ones are more than the %(n_ctx)s that this model sees.")
        raise UserError(sentence, n=n, new=new, n_ctx=n_ctx)
    return n + new


def about(model: Any, shape: Shape) -> dict[str, Any]:
    """What a trace says of the model, before it has run."""
    spread = dict.fromkeys(map(str, getattr(model, "hf_device_map", {}).values()))
    packed = getattr(model.config, "quantization_config", None)
    method = packed.get("quant_method") if isinstance(packed, dict) else getattr(packed, "quant_method", None)
    return ({} if method is None else {"quantised": str(getattr(method, "value", method))}) | {
        "model": name_of(Path(str(model.config.name_or_path or type(model).__name__))),
        **{"config": config_fields(shape), "temperature": 0.0, "top_k": 0, "seed": 0, "tokens": []},
        "dtype": str(model.dtype).removeprefix("torch."),
        "device": ", ".join(spread) or str(model.device),
    }


def describe(trace: Trace, shape: Shape, kept: list[int], engine: Engine) -> dict[str, Any]:
    """What is known after its first step: which layers keep rows, and in what form."""
    c, found = shape.config, dict[str, Any](held=[])
    if shape.v_dim != c.head_dim:
        found["v_dim"] = shape.v_dim
    if shape.latent:
        found["latent"] = shape.latent
    if (row := engine.row(kept[0])) != c.n_kv_head * (c.head_dim + shape.v_dim):
        found["row"] = row
    if any(windows := engine.windows(c.n_layer)):
        found["windows"] = windows
    if chunks := chunk_layers(engine.model):
        found["chunked"] = chunks
    if not shape.ours:
        found["family"] = shape.facts.kind
    if not shape.ours or "before" in trace.about:  # then they cannot be counted from what is told
        found |= {"macs": [], "macs_without": []}
    if len(kept) < c.n_layer:
        found["no_rows"] = [layer for layer in range(c.n_layer) if layer not in kept]
    return found


def layers_with_rows(trace: Trace, shape: Shape, engine: Engine) -> list[int]:
    """The layers that have told of a row in the first step. Raises UserError for rows that a page does not draw."""
    c = shape.config
    kept = sorted({event.layer for event in trace if event.name == "cache_append"})
    if not kept and not engine.measure().numbers:
        raise UserError("No layer of this model keeps a row for each token, so there is nothing to tell.")
    if not kept:
        raise UserError(
            "The attention of this model (%(kind)s) cannot be watched: transformers calls it in a way of its own.",
            kind=shape.facts.kind,
        )
    wanted = {"q": (1, c.n_head, c.head_dim), "k": (1, c.n_kv_head, c.head_dim), "v": (1, c.n_kv_head, shape.v_dim)}
    for layer in kept:
        for name, size in wanted.items():
            if (found := np.shape(trace[name, 0, layer])) != size:
                sentence = N_(
                    "In layer %(layer)s of this model, %(name)s has the shape %(found)s; a page draws rows that are "
                    "of one shape in all layers, here %(size)s."
                )
                raise UserError(sentence, layer=layer, name=name, found=found, size=size)
    return kept


def give_back_blocks() -> None:
    """Ask glibc, where it is, to give each block of a megabyte and more back as soon as it is free.

    Else the small arrays that a trace keeps leave holes between the large ones that a pass needs for a moment: three
    times the memory. For a whole process, so it is for a command to call.
    """
    with suppress(OSError, AttributeError, TypeError):
        CDLL(None).mallopt(M_MMAP_THRESHOLD, 2**20)


def stops_of(model: Any) -> set[int]:
    """The tokens that end a text."""
    found = getattr(model.generation_config, "eos_token_id", None)
    return set(found) if isinstance(found, list) else set() if found is None else {found}
