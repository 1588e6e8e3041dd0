"""The tokenizer of a checkpoint: tokenizer.json, read by the library at home and in plain Python in a page."""

from __future__ import annotations

from pathlib import Path

from microgpt.architectures.facts import Facts
from microgpt.errors import UserError
from microgpt.files import read_text
from microgpt.tokenizers.checkpoint_tokenizer import CheckpointTokenizer
from microgpt.tokenizers.library import Failed, Library, shortly
from microgpt.tokenizers.limits import LARGEST_FILE, parse_object
from microgpt.tokenizers.tokenizer_json import PlainTokenizer

TOKENIZER = "tokenizer.json"


def read_tokenizer(folder: Path, facts: Facts) -> CheckpointTokenizer:
    """The tokenizer of a folder. Raises UserError where the library is not there, or the file cannot be read."""
    path = folder / TOKENIZER
    try:
        import tokenizers
    except ImportError:
        raise UserError("To read %(path)s, install tokenizers: pip install '.[checkpoints]'", path=path) from None
    try:
        text = read_text(path, LARGEST_FILE)
        about = parse_object(text)
        library = Library(tokenizers, text, about)
    except FileNotFoundError:
        raise UserError(
            "%(folder)s has no tokenizer.json. Fetch it too, or make it: load the tokenizer with transformers and "
            "save it with save_pretrained.",
            folder=folder,
        ) from None
    except UserError:
        raise
    except (OSError, ValueError, TypeError, LookupError, Failed) as error:
        raise UserError("%(path)s cannot be read (%(why)s). Fetch it anew.", path=path, why=shortly(error)) from None
    return CheckpointTokenizer(library, about, facts.config.vocab_size, facts.start, facts.stops)


def tokenizer_of(text: str, facts: Facts) -> CheckpointTokenizer:
    """The tokenizer of a file that was handed over, without the library."""
    library = PlainTokenizer(text)
    try:
        return CheckpointTokenizer(library, library.about, facts.config.vocab_size, facts.start, facts.stops)
    except (TypeError, ValueError, LookupError, AttributeError):
        raise UserError("%(name)s cannot be read. Fetch it anew.", name=TOKENIZER) from None
