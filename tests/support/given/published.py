"""What others have published: shapes of models; what microgpt prints when it is trained on names.txt, and writes."""

from microgpt.architectures.known import PRESETS
from microgpt.config import Array, Config, row_dims
from microgpt.cost import PARTS, formula_macs

GPT2, LLAMA3 = PRESETS["GPT-2 124M"].config, PRESETS["Llama-3-8B"].config
LOSSES = "3.3660 3.4243 3.1778 3.0664 3.2209 2.9452 3.2894 3.3245 2.8990 3.2229 2.7964 2.9345 3.0544".split()
NAMES = (
    "kamon ann karai jaire vialan karia yeran anna areli kaina konna keylen liole alerin earan lenne kana lara "
    "alela anton"
).split()


def least_macs(config: Config, t: int) -> Array:
    """Multiply-adds over PARTS of step t without a cache, leaving out what the last token does not need.

    In the last layer old tokens are needed for their k and v alone; in the layers before, for all.
    """
    last = config.n_layer - 1
    found = formula_macs(config, t, t, range(last)) + formula_macs(config, 1, t, range(last, last + 1), 1)
    found[PARTS.index("qkv")] += (t - 1) * config.n_embd * config.n_kv_head * sum(row_dims(config))
    return found
