"""What config.json says of memory, against transformers: parameters of a model without numbers, and its own cache."""

import json

import pytest

from microgpt.architectures.config_json import from_config_json
from tests.references.pytorch import torch, transformers
from tests.support.given.configs import FILES

pytestmark = pytest.mark.references


@pytest.mark.parametrize("name", [name for name, fields in FILES.items() if fields["model_type"] != "gpt2"])
def test_parameters_and_rows_are_those_of_theirs(name: str) -> None:
    """Windows layer by layer; a cache of theirs keeps a window's rows but the one that comes next."""
    ours, fields = from_config_json(json.dumps(FILES[name])), dict(FILES[name])
    config = transformers.AutoConfig.for_model(fields.pop("model_type"), **fields).get_text_config()
    with torch.device("meta"):
        model = transformers.AutoModelForCausalLM.from_config(config)
    # of DeepSeek's routers
    corrections = [one for key, one in model.named_buffers() if key.endswith("correction_bias")]
    assert sum(one.numel() for one in [*model.parameters(), *corrections]) == ours.n_params
    layers = transformers.DynamicCache(config=config).layers
    assert [getattr(layer, "sliding_window", 0) for layer in layers] == list(ours.windows)
