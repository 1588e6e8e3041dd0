"""A checkpoint folder as Hugging Face lays it out, as a Model: config.json, .safetensors files and tokenizer.json.

    model = load_checkpoint(Path("SmolLM2-135M"))

What ends a text is read from generation_config.json, where there is one. files.py opens the weights, facts.py reads
config.json, names.py has the table of names, and assemble.py makes our parameters of it all.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import get_args

from microgpt.architectures.facts import GENERATION, LONGEST_CONFIG, Facts, facts_of
from microgpt.checkpoints.assemble import Precision, assemble
from microgpt.checkpoints.files import open_tensors
from microgpt.checkpoints.tokenizer import read_tokenizer
from microgpt.config import Params
from microgpt.errors import UserError
from microgpt.files import read_text
from microgpt.tokenizers.checkpoint_tokenizer import CheckpointTokenizer
from microgpt.weights import Model

REPOSITORY = "models--"  # begins the name of a repository's folder: models--ORG--NAME/snapshots/COMMIT


def load_checkpoint(folder: Path, dtype: Precision = "float32") -> Model:
    """The model in `folder`. Raises UserError, one sentence, for whatever cannot be read or run here."""
    facts, params = load_params(folder, dtype)
    tokenizer: CheckpointTokenizer = read_tokenizer(folder, facts)
    return Model(name_of(folder), facts.config, params, tokenizer)


def name_of(folder: Path) -> str:
    """What a model is called by the folder that it lies in: the folder's name, or in the hub's cache, where that is a
    commit's, the repository's."""
    place = folder.resolve()
    repository = place.parent.parent.name
    if place.parent.name == "snapshots" and repository.startswith(REPOSITORY):
        return repository.removeprefix(REPOSITORY).rpartition("--")[2]
    return place.name


def load_params(folder: Path, dtype: Precision = "float32") -> tuple[Facts, Params]:
    """The same without a tokenizer: what config.json says, and the parameters.

    Numbers that are stored in `dtype`, and in one piece, are views of the mapped files. Others are copied, one tensor
    at a time.
    """
    if dtype not in get_args(Precision):
        known = ", ".join(get_args(Precision))
        raise UserError("The model computes in %(known)s; not in “%(dtype)s”.", known=known, dtype=dtype)
    if not os.path.isdir(folder):  # unlike the method of Path, it takes any text: there is no folder of that name
        raise UserError("There is no folder %(folder)s.", folder=folder)
    text = text_in(folder / "config.json")
    if text is None:
        raise UserError(
            "%(folder)s has no config.json. Give the folder of a checkpoint, as Hugging Face lays it out.",
            folder=folder,
        )
    facts = facts_of(text, text_in(folder / GENERATION))
    tensors = open_tensors(folder)
    return facts, assemble(tensors, facts, dtype, str(folder), tensors.release)


def text_in(path: Path) -> str | None:
    """The text of a file; None where there is none."""
    try:
        return read_text(path, LONGEST_CONFIG)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UserError("%(path)s cannot be read (%(why)s).", path=path, why=error.strerror) from None
