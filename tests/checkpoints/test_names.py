"""Names of tensors: each family's are known, in every layer, with its bias; a name that is not in the table is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from microgpt.apps.look_inside.examples import EXAMPLES, example_file
from microgpt.architectures.inventory import PARTS, totals
from microgpt.architectures.known import PRESETS
from microgpt.architectures.names import FAMILIES, look_up
from microgpt.architectures.roles import ROLES
from microgpt.checkpoints.contents import contents, spans
from microgpt.checkpoints.safetensors import Tensor
from microgpt.config import param_shapes
from microgpt.cost import kv_bytes
from microgpt.viz.text.glossary import GLOSSARY
from microgpt.weights import SHIPPED, shipped

LLAMA = "model.layers.7."


@pytest.mark.parametrize(
    ("name", "role", "kind", "layer", "family"),
    [
        ("wte.weight", "wte", "weight", -1, "GPT-2"),
        ("transformer.wpe.weight", "wpe", "weight", -1, "GPT-2"),
        ("h.11.attn.c_attn.weight", "wqkv", "weight", 11, "GPT-2"),
        ("transformer.h.0.attn.c_proj.bias", "wo", "bias", 0, "GPT-2"),
        ("h.3.attn.bias", "mask", "weight", 3, "GPT-2"),  # not a bias: the mask, as older files keep it
        ("h.3.mlp.c_proj.weight", "fc2", "weight", 3, "GPT-2"),
        ("ln_f.bias", "final_norm", "bias", -1, "GPT-2"),
        (LLAMA + "self_attn.q_proj.weight", "wq", "weight", 7, "Llama"),
        (LLAMA + "self_attn.k_proj.bias", "wk", "bias", 7, "Llama"),
        (LLAMA + "self_attn.k_norm.weight", "k_norm", "weight", 7, "Llama"),
        (LLAMA + "self_attn.kv_a_proj_with_mqa.weight", "wkv_down", "weight", 7, "Llama"),
        (LLAMA + "mlp.up_proj.weight_scale_inv", "fc1", "scale", 7, "Llama"),
        (LLAMA + "mlp.experts.255.down_proj.weight", "fc2", "weight", 7, "Llama"),
        (LLAMA + "block_sparse_moe.experts.3.w3.weight", "fc1", "weight", 7, "Llama"),
        ("language_model.model.layers.2.input_layernorm.weight", "attn_norm", "weight", 2, "Llama"),
        ("model.norm.weight", "final_norm", "weight", -1, "Llama"),
        ("layer0.wo", "wo", "weight", 0, "microgpt"),
        ("layer12.fc1.bias", "fc1", "bias", 12, "microgpt"),
    ],
)
def test_a_known_name_says_what_the_tensor_is(name: str, role: str, kind: str, layer: int, family: str) -> None:
    assert look_up(name, family) == (role, kind, layer, family)


NONE = (
    "weight h.0 h.x.ln_1.weight vision_tower.encoder.layers.0.self_attn.q_proj.weight wq "
    "model.layers.0.self_attn.q_proj.qweight model.layers.0.weird.weight layers.0.self_attn.q_proj.weight.x"
)


@pytest.mark.parametrize("name", ["", *NONE.split()])
def test_nothing_is_guessed(name: str) -> None:
    assert look_up(name) is None


@given(st.text(max_size=60))
def test_any_text_may_be_a_name(name: str) -> None:
    found = look_up(name)
    assert found is None or found.role in ROLES
    assert contents([Tensor(name, "U8", (1,), 0, 1)]).size == 1


def test_every_role_of_every_table_is_described_in_words_of_the_glossary() -> None:
    used = {role for family in FAMILIES for table in (family.inside, family.outside) for role in table.values()}
    assert used == set(ROLES)
    assert {role.term for role in ROLES.values()} <= GLOSSARY.keys()
    assert {role.part for role in ROLES.values()} == {*PARTS, "other"}


@pytest.mark.parametrize("model", SHIPPED)
def test_our_own_models_are_told_by_their_names(model: str) -> None:
    config = shipped(model).config
    shapes = param_shapes(config)
    found = contents(Tensor(name, "F64", shape, 0, 0) for name, shape in shapes.items())
    assert found.family == "microgpt" and found.whole and found.tied == config.tied
    assert len(found.layers) == config.n_layer
    assert len([group for group in found.groups if group.where == "layers"]) == 1
    assert 2 * found.shape.cached == kv_bytes(config, 1, 2)


@pytest.mark.parametrize("model", EXAMPLES)
def test_a_published_file_says_what_the_architecture_says(model: str) -> None:
    """Header -> shapes -> figures comes out where the closed forms are, without a config."""
    architecture, (header, text) = PRESETS[model], example_file(model)
    found, config = contents(header.tensors), architecture.config
    assert found.size == architecture.n_params
    assert (len(found.layers), found.shape.n_embd, found.shape.n_vocab, found.shape.n_mlp) == (
        config.n_layer,
        config.n_embd,
        config.vocab_size,
        config.n_mlp,
    )
    assert 2 * found.shape.cached == architecture.bytes_per_token(2)
    assert found.tied and found.whole
    assert len(text) == header.length
    by_part = dict.fromkeys(PARTS, 0)
    for group in found.groups:
        for row in group.rows:
            by_part[ROLES[row.role].part] += row.size * row.times * max(1, len(group.layers))
    assert by_part == totals(config)
    assert sum(sum(column.values()) for column in found.columns) == found.nbytes


def llama(layer: int, **shapes: tuple[int, ...]) -> list[Tensor]:
    return [
        Tensor(f"model.layers.{layer}.{name.replace('__', '.')}.weight", "BF16", shape, 0, 0)
        for name, shape in shapes.items()
    ]


ATTENTION = {"self_attn__q_proj": (64, 64), "self_attn__k_proj": (32, 64), "self_attn__v_proj": (32, 64)}


def test_layers_that_are_alike_are_one_and_exceptions_stand_apart() -> None:
    tensors = [t for i in (0, 1, 2, 4) for t in llama(i, **ATTENTION)] + llama(3, mlp__up_proj=(9, 64), **ATTENTION)
    found = contents(tensors)
    assert [(g.where, g.layers, len(g.rows)) for g in found.groups] == [
        ("layers", (0, 1, 2, 4), 3),
        ("layers", (3,), 4),
    ]
    assert not found.whole and not found.tied  # no embedding: a part of a model
    assert found.shape.kv_width == 32 and found.shape.row == 64 and found.shape.cached == 5 * 64


def test_experts_are_counted_not_listed() -> None:
    experts = {f"mlp__experts__{i}__up_proj": (8, 64) for i in range(256)}
    (group,) = contents(llama(0, **experts)).groups
    assert [(row.name, row.times) for row in group.rows] == [("mlp.experts.*.up_proj.weight", 256)]


def test_the_width_of_a_head_is_said_only_where_a_norm_tells_it() -> None:
    norms = {"self_attn__q_norm": (16,), "self_attn__k_norm": (16,)}
    wide = {"self_attn__q_norm": (64,), "self_attn__k_norm": (64,)}  # one gain for all heads, as OLMo has it
    assert contents(llama(0, **ATTENTION)).shape.head_dim == 0
    assert contents(llama(0, **ATTENTION, **norms)).shape.head_dim == 16
    assert contents(llama(0, **{**ATTENTION, "self_attn__k_proj": (64, 64)}, **wide)).shape.head_dim == 0


def test_packed_numbers_say_nothing_of_the_model() -> None:
    packed = [t._replace(dtype="I32") for t in llama(0, **ATTENTION)]
    assert contents(packed).shape.cached == 0


def test_a_head_of_another_family_is_the_models_own() -> None:
    tensors = [*llama(0, **ATTENTION), Tensor("lm_head.weight", "BF16", (9, 64), 0, 0)]
    assert [g.where for g in contents(tensors).groups] == ["layers", "after"]
    stray = Tensor("wte.weight", "BF16", (9, 64), 0, 0)  # GPT-2's name, in a file of the other family
    assert [g.where for g in contents([*tensors, stray]).groups] == ["layers", "after", "other"]


def test_runs_of_layers() -> None:
    assert spans([0, 1, 2, 5, 7, 8]) == [(0, 2), (5, 5), (7, 8)]
    assert spans([]) == []
