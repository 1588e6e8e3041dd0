"""What a checkpoint's config.json says of the arithmetic, beyond the shapes that `config_json` reads from it.

What our `forward` cannot compute is refused here, by the name of its field. Of generation_config.json it knows what
ends a text. Knows fields; reads no file.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from microgpt.architectures.config_json import from_fields
from microgpt.architectures.fields import Fields, fields_of, json_start
from microgpt.architectures.names import FAMILY_OF
from microgpt.config import Config
from microgpt.errors import N_, UserError, printable
from microgpt.files import parse_json

GENERATION = "generation_config.json"  # its name
LONGEST_CONFIG = 1_000_000  # bytes of either file; those in use have a few thousand
EPS = {"gpt2": ("layer_norm_epsilon", 1e-5)}  # others: rms_norm_eps
GELUS = {"gelu_new": "gelu", "gelu_pytorch_tanh": "gelu", "gelu": "gelu_exact", "relu": "relu"}
SILUS = {"silu": "swiglu", "swish": "swiglu"}
DYNAMIC = "dynamic"  # no other than the default until a text outgrows the context, which none does here
SCALINGS = {"default": "none", "linear": "linear", "llama3": "llama3", DYNAMIC: "none"}
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
    name: str = ""  # what the file calls the model; else its type


def facts_of(text: str, generation: str | None = None) -> Facts:
    """What config.json says, and generation_config.json, if there is one.

    Raises UserError for what cannot be read, or of a model that cannot be run here.
    """
    fields = fields_of(text)
    kind = fields.kind
    check_kind(fields)
    architecture = from_fields(fields)
    config = architecture.config
    if architecture.layer_windows:
        raise UserError(
            "“layer_types” gives a window to layers that come before others without one, which cannot be run here: "
            "those with a window must be the last."
        )
    config = replace(config, **(gpt2_arithmetic(fields) if kind == "gpt2" else llama_arithmetic(fields)))
    name, default = EPS.get(kind, ("rms_norm_eps", 1e-6))
    config = replace(config, norm_eps=fields.number(name, default))
    start = min(fields.token_ids("bos_token_id", config.vocab_size, BOS.get(kind)), default=-1)
    stops = fields.token_ids("eos_token_id", config.vocab_size, EOS.get(kind))
    if generation is not None:
        stops = stops_of(generation, config.vocab_size)
    called = str(fields.get("_name_or_path") or kind).rstrip("/").split("/")[-1]
    return Facts(kind, config, start, stops, printable(called[-60:]))


def stops_of(generation: str, vocab_size: int) -> frozenset[int]:
    """What ends a text by generation_config.json. Where there is one, transformers goes by it alone."""
    try:
        found = parse_json(generation)
        if not isinstance(found, dict):
            raise ValueError("it is not an object in braces")
    except ValueError as error:
        raise UserError(
            "%(path)s cannot be read (%(why)s). Fetch it anew.", path=GENERATION, why=str(error)[:80]
        ) from None
    try:
        return Fields(found).token_ids("eos_token_id", vocab_size)
    except UserError as error:
        raise UserError("%(path)s: %(said)s", path=GENERATION, said=error) from None


def check_kind(fields: Fields) -> None:
    """Raise UserError for a model that is not of a family known here, or whose numbers are not as they were trained."""
    kind, known = fields.kind, ", ".join(FAMILY_OF)
    if fields.get("quantization_config") is not None:
        raise UserError(
            "This checkpoint is quantised (“quantization_config”). Read here are float32, float16 and bfloat16: use "
            "the original that it was made from."
        )
    experts = [name for name in EXPERTS if fields.get(name)]
    if experts or kind == "mixtral":
        raise UserError(
            "This is a mixture of experts (“%(name)s”), which cannot be run here. Use a model of one of these types "
            "with one MLP a layer: %(known)s.",
            name=(*experts, kind)[0],
            known=known,
        )
    if kind not in FAMILY_OF:
        sentence = N_("“model_type” is “%(kind)s”, which cannot be run here. What can: %(known)s.")
        raise UserError(sentence, kind=printable(kind[:40]), known=known)


def gpt2_arithmetic(fields: Fields) -> dict[str, Any]:
    for name in ("scale_attn_by_inverse_layer_idx", "add_cross_attention"):
        if fields.flag(name):
            raise UserError("“%(name)s” is true, which cannot be run here; it must be false.", name=name)
    scaled = fields.flag("scale_attn_weights", True)
    return {"mlp": fields.one_of(GELUS, "activation_function", "gelu_new"), "attn_scale": 0.0 if scaled else 1.0}


def llama_arithmetic(fields: Fields) -> dict[str, Any]:
    """The MLP, and how positions turn q and k: what transformers makes of the fields of its version 5 and of those
    before."""
    rope = rope_of(fields)
    turned = fields.get("partial_rotary_factor") or rope.get("partial_rotary_factor") or 1
    if turned != 1:
        raise UserError(
            "“partial_rotary_factor” is %(value)s; only whole heads can be turned here: 1.", value=json_start(turned)
        )
    found: dict[str, Any] = {"mlp": fields.one_of(SILUS, "hidden_act", "silu"), "rope_theta": rope.number("rope_theta")}
    scaling = found["rope_scaling"] = rope.one_of(SCALINGS, "rope_type", "default")
    if rope.get("rope_type") == DYNAMIC:
        rope.number("factor")  # not used, but a file without it is not whole
    if scaling != "none":
        found["rope_factor"] = rope.number("factor")
    if scaling == "llama3":
        found["rope_low_freq"] = rope.number("low_freq_factor")
        found["rope_high_freq"] = rope.number("high_freq_factor")
        context = Fields({OLD_CONTEXT: fields.integer("max_position_embeddings")})
        found["rope_old_ctx"] = next(of for of in (fields, rope, context) if OLD_CONTEXT in of).integer(OLD_CONTEXT)
    return found


def rope_of(fields: Fields) -> Fields:
    """The one object that counts, where there may be two: `rope_scaling`, unless it is empty. With its rope_theta."""
    objects = {name: fields.get(name) for name in ("rope_scaling", "rope_parameters")}
    for name, rope in objects.items():
        if rope is not None and not isinstance(rope, dict):
            raise UserError("“%(name)s” is %(value)s; it must be an object.", name=name, value=json_start(rope))
        for key, value in (rope or {}).items():
            if isinstance(value, dict) or key.endswith("_attention"):
                raise UserError(
                    "“%(name)s” has an object for each type of layer, such as “%(key)s”, which cannot be run here; "
                    "it must be one for all layers.",
                    name=name,
                    key=printable(key[:40]),
                )
    rope = objects["rope_scaling"] or objects["rope_parameters"] or {}
    kind = rope.get("rope_type", rope.get("type", "default"))
    theta = {"rope_theta": fields.get("rope_theta", THETA)}
    return Fields({**theta, **rope, "rope_type": "null" if kind is None else kind})  # which is none
