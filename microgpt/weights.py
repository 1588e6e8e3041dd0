"""Weights in and out of .npz files: the arrays, the config and the vocabulary, nothing executable.

All parameters of a model are views of one flat vector (config.split), so that an optimiser can treat them as
one. Every array that comes from a file is checked against `param_shapes` before anything uses it.
Knows files and shapes; does not know what the parameters mean.
"""

from __future__ import annotations

import io
import json
import math
import textwrap
import zipfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from random import Random
from typing import IO, Any

import numpy as np

from microgpt.config import Array, Config, Params, n_params, param_shapes, split
from microgpt.errors import N_, UserError
from microgpt.files import open_file, parse_json
from microgpt.model import MLPS, NORMS
from microgpt.rope import ROTATIONS, SCALINGS
from microgpt.tokenizer import TOKENIZERS, Tokenizer

# a number of a config beyond these measures nothing, and would overflow in 32 bits
SMALLEST_NUMBER, LARGEST_NUMBER = (1e-30, 1e30)
MOST_BYTES = 500_000_000  # bytes of a file of ours, unpacked
SHIPPED = ("names", "names-deep", "stories")
TRAINED = (*SHIPPED, "stories-mla", "cuentos", "cuentos-mla")  # of one lesson alone; of the Spanish pages
OWN_MODEL = "own"  # how the model is called that a reader has trained


@dataclass(frozen=True)
class Model:
    """What runs: a name, the architecture, its parameters, and the tokenizer that they were trained with."""

    name: str
    config: Config
    params: Params
    tokenizer: Tokenizer
    prompt: str = ""  # a text that it knows; of a model that ships, the pages have one


KEPT: dict[str, Model] = {}  # models of the reader's, by the names that a page or a command has for them


def is_own(model: Model) -> bool:
    """Whether it is one of the reader's: for it, no page has texts or measures of its own."""
    return any(model is one for one in KEPT.values())


def init(config: Config, rng: Random, scale: float = 0.08) -> Array:
    """The flat vector of fresh parameters: matrices drawn from gauss(0, scale), gains 1, biases 0."""
    vector = np.zeros(n_params(config))
    for name, array in split(vector, config).items():
        if array.ndim == 2:
            array[:] = [[rng.gauss(0, scale) for _ in row] for row in array]
        elif not name.endswith(".bias"):
            array[:] = 1.0
    return vector


def describe(model: Model) -> str:
    """What a file says of a model beside its numbers: config and vocabulary, as JSON."""
    kind = next(name for name, cls in TOKENIZERS.items() if type(model.tokenizer) is cls)
    about = {"config": asdict(model.config), "tokenizer": kind, "vocabulary": model.tokenizer.vocabulary}
    return json.dumps(about | ({"prompt": model.prompt} if model.prompt else {}))


def save(path: Path, model: Model) -> None:
    """Write `model` as an .npz: config and vocabulary as JSON, then the arrays."""
    arrays = {"about": np.array(describe(model)), **model.params}
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        for key, array in arrays.items():  # as np.savez does, but with a fixed date: the same model, the same bytes
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, array, allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{key}.npy"), buffer.getvalue(), zipfile.ZIP_DEFLATED)
    try:
        path.write_bytes(whole.getvalue())
    except OSError as error:
        raise UserError("%(path)s cannot be written (%(why)s).", path=path, why=error.strerror) from None


def shipped(name: str) -> Model:
    """One of the models that come with the package, or one that the reader has brought under that name."""
    if name in KEPT:
        return KEPT[name]
    if name not in TRAINED:
        raise UserError("There is no model “%(name)s”. Choose one of: %(known)s.", name=name, known=", ".join(SHIPPED))
    path = Path(__file__).parent / "data" / f"{name}.npz"
    if not path.exists():  # in a browser it may be on its way
        raise FileNotFoundError(path)
    kept = of_package(path, name)
    vector = np.concatenate([array.ravel() for array in kept.params.values()])
    return replace(kept, params=split(vector, kept.config))


@cache
def of_package(path: Path, name: str) -> Model:
    """A model that ships, unpacked once: a page asks for it with every press. Each who asks gets numbers of its own."""
    return load(path, name)


def load(path: Path, name: str | None = None) -> Model:
    """Read a model that `save` wrote. Raises UserError for a file that is broken or does not fit its config."""
    try:
        with open_file(path) as file, zipfile.ZipFile(file) as archive:
            if sum(info.file_size for info in archive.infolist()) > MOST_BYTES:
                raise ValueError(f"it unpacks to more than {MOST_BYTES:,} bytes")
            arrays = {name.removesuffix(".npy"): array_in(archive.read(name)) for name in archive.namelist()}
        about = str(arrays.pop("about"))
    except FileNotFoundError:
        raise UserError("There is no weights file %(path)s.", path=path) from None
    except Exception as error:  # a damaged file makes zipfile, zlib, NumPy and json raise nearly anything
        raise damage(path, error) from None
    return build_model(path, about, arrays, name or Path(path).stem)


def build_model(path: Path | str, about: str, arrays: Params, name: str) -> Model:
    """A model of what its file has: the text of `describe`, and arrays. Raises UserError for what does not fit."""
    try:
        told = parse_json(about)
        config, vocabulary, prompt = Config(**told["config"]), told["vocabulary"], told.get("prompt", "")
        tokenizer = TOKENIZERS[told["tokenizer"]](vocabulary)
        "".join([prompt, *map(str, vocabulary)]).encode()  # of whole characters
    except Exception as error:  # what is not as it should be can be anything in JSON
        raise damage(path, error) from None
    check_config(path, config, tokenizer.vocabulary, len(arrays))
    check_arrays(path, config, arrays)
    vector = np.concatenate([arrays[key].astype(np.float64).ravel() for key in param_shapes(config)])
    return Model(name, config, split(vector, config), tokenizer, prompt)


def damage(path: Path | str, error: Exception) -> UserError:
    """What is said of a file that cannot be read."""
    return UserError(
        "%(path)s is not a weights file of ours, or it is damaged (%(why)s). Train it again or fetch it anew.",
        path=path,
        why=textwrap.shorten(str(error) or type(error).__name__, 100),
    )


def array_in(data: bytes) -> Array:
    """The array that `data` is in NumPy's own format. One that is said to be larger than that gets no room."""
    file = io.BytesIO(data)
    shape, dtype = array_header(file)
    if math.prod(shape) * dtype.itemsize != len(data) - file.tell():
        raise ValueError(f"an array of the shape {shape} needs other bytes than there are")
    file.seek(0)
    return np.lib.format.read_array(file, allow_pickle=False)


def array_header(file: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Shape and type of an array in a file of NumPy's; the file then stands before its numbers."""
    np.lib.format.read_magic(file)
    shape, _, dtype = np.lib.format.read_array_header_1_0(file)
    if min(shape, default=0) < 0:
        raise ValueError(f"an array of the shape {shape}")
    return shape, dtype


def check_config(path: Path | str, config: Config, vocabulary: list[str], n_arrays: int) -> None:
    """Raise UserError unless `config` describes a model that can run with `vocabulary` and so many arrays."""
    check_fields(path, config)
    fits = {
        "n_layer": config.n_layer <= n_arrays,
        "vocab_size": config.vocab_size == len(vocabulary) == len({one for one in vocabulary if isinstance(one, str)}),
    }
    check_fits(path, config, fits)


def check_fields(path: Path | str, config: Config) -> None:
    """Raise UserError unless each field of `config` is one that `forward` can use, and goes with the others."""
    names: dict[str, dict[str, Any]] = {"position": ROTATIONS, "rope_scaling": SCALINGS, "norm": NORMS, "mlp": MLPS}
    for key, value in asdict(config).items():
        default = getattr(Config(), key)
        right = type(value) is type(default)
        if right and not isinstance(value, bool):
            right = value in names[key] if key in names else min(default, SMALLEST_NUMBER) <= value <= LARGEST_NUMBER
        if not right:
            sentence = N_("%(path)s: its config gives %(key)s as %(value)s; no model here can have that.")
            raise UserError(sentence, path=path, key=key, value=textwrap.shorten(repr(value), 40))
    fits = {
        "n_kv_head": config.n_head % config.n_kv_head == 0,  # query heads share key heads in equal groups
        "head_dim": config.position != "rope" or config.head_dim % 2 == 0,  # which turns pairs
        "rope_high_freq": config.rope_high_freq > config.rope_low_freq,
        "rope_dim": config.rope_dim % 2 == 0 and config.rope_dim <= config.head_dim,
        "kv_lora_rank": not config.kv_lora_rank or latent_fits(config),
        "q_lora_rank": not config.q_lora_rank or bool(config.kv_lora_rank),
        "absorbed": not config.absorbed or bool(config.kv_lora_rank),
        "cross": not config.cross,  # a file has one text
    }
    check_fits(path, config, fits)


def latent_fits(config: Config) -> bool:
    """Latent rows need one short key that turns, beside what each head's keys have of their own."""
    turns = config.position == "rope" and 0 < config.rope_dim < config.head_dim
    return turns and config.n_kv_head == 1 and not (config.qk_norm or config.bias or config.qkv_bias)


def check_fits(path: Path | str, config: Config, fits: Mapping[str, bool]) -> None:
    for key in (key for key, right in fits.items() if not right):
        sentence = N_("%(path)s: %(key)s is %(value)s in its config, which does not fit the rest of the file.")
        raise UserError(sentence, path=path, key=key, value=getattr(config, key))


def check_arrays(path: Path | str, config: Config, arrays: Params) -> None:
    """Raise UserError unless `arrays` are exactly the parameters of `config`, all of them finite numbers."""
    expected = param_shapes(config)
    for key in sorted(expected.keys() ^ arrays.keys()):
        missing, extra = N_("%(path)s lacks the array %(key)s."), N_("%(path)s has an extra array %(key)s.")
        raise UserError(missing if key in expected else extra, path=path, key=key)
    for key, shape in expected.items():
        if arrays[key].shape != shape:
            sentence = N_("%(path)s: %(key)s has shape %(shape)s; its config says %(expected)s.")
            raise UserError(sentence, path=path, key=key, shape=arrays[key].shape, expected=shape)
        if arrays[key].dtype.kind != "f":
            sentence = N_("%(path)s: %(key)s is of type %(dtype)s; weights are real numbers.")
            raise UserError(sentence, path=path, key=key, dtype=arrays[key].dtype)
        if not np.isfinite(arrays[key]).all():
            raise UserError("%(path)s: %(key)s holds NaN or infinity; the training went wrong.", path=path, key=key)
