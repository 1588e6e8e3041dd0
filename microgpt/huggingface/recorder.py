"""A text run through a model of transformers, token by token, as a trace: what `Recording` is for our own models.

    trace = record(model, tokenizer, "The next day is bright", new=8)

Each step runs one token with the cache, and the whole text again without it. Of the model only its own arithmetic is
used: greedy choice, its type of numbers, its devices. Knows no page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from microgpt import cost
from microgpt.checkpoints.facts import Facts, facts_of
from microgpt.checkpoints.tokenizer import tokenizer_of
from microgpt.errors import N_, UserError
from microgpt.huggingface.watch import numbers, watched
from microgpt.trace import Trace


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


def facts_in(model: Any) -> Facts:
    """What a model's own config says, in our fields. Raises UserError for a family that our counts do not know."""
    return facts_of(model.config.to_json_string(use_diff=False))


def record(model: Any, tokenizer: Any, prompt: str, new: int = 8, compares: bool = True) -> Trace:
    """Run `prompt` and up to `new` greedy tokens. Raises UserError for what cannot be recorded."""
    import torch
    import transformers

    facts = facts_in(model)
    config = facts.config
    ids: list[int] = tokenizer(prompt)["input_ids"]
    if not ids:
        raise UserError(N_("The prompt is empty; give at least one token."))
    limit = len(ids) + new
    if limit > config.n_ctx:
        raise UserError(
            N_("%(n)s tokens and %(new)s new ones are more than the %(n_ctx)s that this model sees."),
            n=len(ids), new=new, n_ctx=config.n_ctx,
        )  # fmt: skip
    vocabulary, stops = vocabulary_of(tokenizer, facts), stops_of(model)
    device, dtype = str(model.device), str(model.dtype).removeprefix("torch.")
    spread = dict.fromkeys(map(str, getattr(model, "hf_device_map", {}).values()))
    trace = Trace({
        "model": str(model.config.name_or_path or type(model).__name__).rstrip("/").rpartition("/")[2],
        "config": asdict(config), "prompt": prompt, "n_prompt": len(ids), "temperature": 0.0, "top_k": 0, "seed": 0,
        "nbytes_reserved": cost.kv_bytes(config, limit, model.dtype.itemsize), "tokens": [], "vocabulary": vocabulary,
        "dtype": dtype, "stops": sorted(stops), "started": ids[0] == tokenizer.bos_token_id, "ids": ids,
        "engine": f"transformers {transformers.__version__}", "device": ", ".join(spread) or device,
    })  # fmt: skip
    cache = transformers.DynamicCache(config=model.config)
    with torch.no_grad():
        for pos in range(limit):
            with watched(model, trace.keep):
                out = model(input_ids=torch.tensor([ids[pos : pos + 1]], device=device), past_key_values=cache)
            if compares:
                whole = torch.tensor([ids[: pos + 1]], device=device)
                trace(("recompute_logits", numbers(model(input_ids=whole, use_cache=False).logits[0, -1]), pos, -1))
                trace(("recompute_macs", cost.naive(config, pos + 1), pos, -1))
            trace.about["tokens"].append(vocabulary[ids[pos]])
            if pos + 1 >= trace.about["n_prompt"]:
                choice = int(out.logits[0, -1].argmax())
                trace(("sample", choice, pos, -1))
                if choice in stops or pos + 1 == limit:
                    break
                ids.append(choice)
    return trace


def stops_of(model: Any) -> set[int]:
    """The tokens that end a text."""
    found = getattr(model.generation_config, "eos_token_id", None)
    return set(found) if isinstance(found, list) else set() if found is None else {found}
