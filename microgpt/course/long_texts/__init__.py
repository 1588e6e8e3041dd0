"""What do 128k and 1M tokens cost?"""

from microgpt.errors import N_
from microgpt.viz.page import Page

PAGE = Page(
    "long-texts",
    label=N_("Long texts"),
    title=N_("What do 128k and 1M tokens cost?"),
    summary=N_(
        "The KV cache of models in use in bytes, and their milliseconds per token, from 8k to 1M tokens of context. "
        "What layers with a window, shared rows and sparse attention change about it."
    ),
    model="names-deep",
    prompt="juliann",
    try_=N_("make the text longer, step by step, with one model and then with another."),
    notice=N_("layers that see everything grow with the text; layers with a window stop."),
    needs=("fewer-heads",),
    sources=("h100", "llama3", "gemma3", "gpt-oss", "llama4", "deepseek-v3.2", "cla", "yoco", "gemma3n", "qwen3"),
    models=("names-deep", "stories"),
    own_layers=2,
    figures=("table", "rows", "ways"),
)
