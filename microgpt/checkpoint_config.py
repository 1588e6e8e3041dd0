"""What a checkpoint's config.json says of the arithmetic, beyond the shapes that configjson.py reads from it.

What our `forward` cannot compute is refused here, by the name of its field. Of generation_config.json it knows what
ends a text. Knows fields; reads no file.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

from microgpt.checkpoint_names import NAMES
from microgpt.configjson import Fields, fields_of, from_fields, kind_of, whole, yes
from microgpt.errors import N_, UserError
from microgpt.model import Config
from microgpt.nesting import parsed
from microgpt.safetensors_header import shown as printable
from microgpt.weights import LARGE, SMALL

GENERATION = "generation_config.json"  # its name
LONGEST_CONFIG = 1_000_000  # bytes of either file; those in use have a few thousand
EPS = {"gpt2": ("layer_norm_epsilon", 1e-5)}  # others: rms_norm_eps
GELUS = {"gelu_new": "gelu", "gelu_pytorch_tanh": "gelu", "gelu": "gelu_exact", "relu": "relu"}
SILUS = {"silu": "swiglu", "swish": "swiglu"}
SCALINGS = {"default": "none", "linear": "linear", "llama3": "llama3"}
DYNAMIC = "dynamic"  # no other than the default until a text outgrows the context, which none does here
THETA = 10_000.0
OLD_CONTEXT = "original_max_position_embeddings"
BOS = {"gpt2": 50256, "llama": 1, "mistral": 1}  # where config.json may leave them out; null says that there is none
EOS = {"gpt2": 50256, "llama": 2, "mistral": 2}
EXPERTS = ("num_local_experts", "num_experts", "n_routed_experts", "moe_intermediate_size")


@dataclass(frozen=True, slots=True)
class Facts:
    """What the files say: the family of names, the architecture, and the ids of special tokens."""

    kind: str
    config: Config
    start: int  # begins a text; -1: none
    stops: frozenset[int]  # any of these ends it


def facts_of(text: str, generation: str | None = None) -> Facts:
    """What config.json says, and generation_config.json, if there is one.

    Raises UserError for what cannot be read, or of a model that cannot be run here.
    """
    fields = fields_of(text)
    kind = kind_of(fields)
    check_kind(kind, fields)
    config = from_fields(fields).config
    config = replace(config, **(gpt2_arithmetic(fields) if kind == "gpt2" else llama_arithmetic(fields)))
    name, default = EPS.get(kind, ("rms_norm_eps", 1e-6))
    config = replace(config, norm_eps=real(fields, name, default))
    start = min(ids(fields, "bos_token_id", config.vocab_size, BOS.get(kind)), default=-1)
    stops = ids(fields, "eos_token_id", config.vocab_size, EOS.get(kind))
    return Facts(kind, config, start, stops if generation is None else stops_of(generation, config.vocab_size))


def stops_of(generation: str, vocab_size: int) -> frozenset[int]:
    """What ends a text by generation_config.json. Where there is one, transformers goes by it alone."""
    try:
        fields = parsed(generation)
        if not isinstance(fields, dict):
            raise ValueError("it is not an object in braces")
    except ValueError as error:
        raise UserError(
            N_("%(path)s cannot be read (%(why)s). Fetch it anew."), path=GENERATION, why=str(error)[:80]
        ) from None
    try:
        return ids(fields, "eos_token_id", vocab_size)
    except UserError as error:
        raise UserError("%(path)s: %(said)s", path=GENERATION, said=error) from None


def check_kind(kind: str, fields: Fields) -> None:
    """Raise UserError for a model that is not of a family known here, or whose numbers are not as they were trained."""
    known = ", ".join(NAMES)
    if fields.get("quantization_config") is not None:
        raise UserError(
            N_("This checkpoint is quantised (“quantization_config”). Read here are float32, float16 and bfloat16: use "
               "the original that it was made from.")
        )  # fmt: skip
    experts = [name for name in EXPERTS if fields.get(name)]
    if experts or kind == "mixtral":
        raise UserError(
            N_("This is a mixture of experts (“%(name)s”), which cannot be run here. Use a model of one of these types "
               "with one MLP a layer: %(known)s."),
            name=(*experts, kind)[0], known=known,
        )  # fmt: skip
    if kind not in NAMES:
        raise UserError(
            N_("“model_type” is “%(kind)s”, which cannot be run here. What can: %(known)s."),
            kind=printable(kind[:40]), known=known,
        )  # fmt: skip


def gpt2_arithmetic(fields: Fields) -> dict[str, Any]:
    for name in ("scale_attn_by_inverse_layer_idx", "add_cross_attention"):
        if yes(fields, name, False):
            raise UserError(N_("“%(name)s” is true, which cannot be run here; it must be false."), name=name)
    scaled = yes(fields, "scale_attn_weights", True)
    return {
        "mlp": choice(fields, "activation_function", "gelu_new", GELUS),
        "attn_scale": 0.0 if scaled else 1.0,
    }


def llama_arithmetic(fields: Fields) -> dict[str, Any]:
    return {"mlp": choice(fields, "hidden_act", "silu", SILUS), **rotation(fields)}


def rotation(fields: Fields) -> dict[str, Any]:
    """How positions turn q and k: what transformers makes of the fields of its version 5 and of those before."""
    rope = rope_of(fields)
    kind = rope.get("rope_type", rope.get("type", "default"))
    turned = fields.get("partial_rotary_factor") or rope.get("partial_rotary_factor") or 1
    if turned != 1:
        raise UserError(
            N_("“partial_rotary_factor” is %(value)s; only whole heads can be turned here: 1."), value=shown(turned)
        )
    found: dict[str, Any] = {"rope_theta": real(rope, "rope_theta")}
    if kind == DYNAMIC:
        real(rope, "factor")  # not used, but a file without it is not whole
        return found
    if not isinstance(kind, str) or kind not in SCALINGS:
        raise UserError(
            N_("“rope_type” is “%(kind)s”, which cannot be run here. What can: %(known)s."),
            kind=printable(kind[:40]) if isinstance(kind, str) else shown(kind), known=", ".join((*SCALINGS, DYNAMIC)),
        )  # fmt: skip
    found["rope_scaling"] = SCALINGS[kind]
    if kind != "default":
        found["rope_factor"] = real(rope, "factor")
    if kind == "llama3":
        found["rope_low_freq"] = real(rope, "low_freq_factor")
        found["rope_high_freq"] = real(rope, "high_freq_factor")
        context = {OLD_CONTEXT: whole(fields, "max_position_embeddings")}
        found["rope_old_ctx"] = whole(next(of for of in (fields, rope, context) if OLD_CONTEXT in of), OLD_CONTEXT)
    return found


def rope_of(fields: Fields) -> Fields:
    """The one object that counts, where there may be two: `rope_scaling`, unless it is empty. With its rope_theta."""
    objects = {name: fields.get(name) for name in ("rope_scaling", "rope_parameters")}
    for name, rope in objects.items():
        if rope is not None and not isinstance(rope, dict):
            raise UserError(N_("“%(name)s” is %(value)s; it must be an object."), name=name, value=shown(rope))
        for key, value in (rope or {}).items():
            if isinstance(value, dict) or key.endswith("_attention"):
                raise UserError(
                    N_("“%(name)s” has an object for each type of layer, such as “%(key)s”, which cannot be run here; "
                       "it must be one for all layers."),
                    name=name, key=printable(key[:40]),
                )  # fmt: skip
    rope = objects["rope_scaling"] or objects["rope_parameters"] or {}
    return {"rope_theta": fields.get("rope_theta", THETA), **rope}


# ---- one field ------------------------------------------------------------------------------------


def real(fields: Fields, name: str, default: float | None = None) -> float:
    """A number above 0, of a size that can be counted with."""
    value = fields.get(name)
    value = default if value is None else value
    if isinstance(value, bool) or not isinstance(value, int | float) or not SMALL <= value <= LARGE:
        raise UserError(
            N_("“%(name)s” is %(value)s; it must be a number from %(least)s to %(most)s."),
            name=name, value=shown(fields.get(name)), least=SMALL, most=LARGE,
        )  # fmt: skip
    return float(value)


def choice(fields: Fields, name: str, default: str, known: dict[str, str]) -> str:
    """What `known` says of a field's value."""
    value = fields.get(name)
    value = default if value is None else value
    if not isinstance(value, str) or value not in known:
        raise UserError(
            N_("“%(name)s” is %(value)s, which cannot be run here. What can: %(known)s."),
            name=name, value=shown(value), known=", ".join(known),
        )  # fmt: skip
    return known[value]


def ids(fields: Fields, name: str, vocab_size: int, absent: int | None = None) -> frozenset[int]:
    """Token ids: the field is one, or a list, or null. Those that the model does not have are left out."""
    value = fields.get(name, absent)
    found = value if isinstance(value, list) else [] if value is None else [value]
    if not all(isinstance(i, int) and not isinstance(i, bool) for i in found):
        raise UserError(
            N_("“%(name)s” is %(value)s; it must be a token's id or a list of some."), name=name, value=shown(value)
        )
    return frozenset(i for i in found if 0 <= i < vocab_size)


def shown(value: object) -> str:
    return json.dumps(value)[:40]
