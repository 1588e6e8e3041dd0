"""What does your server's log say about its cache?"""

from microgpt.errors import N_
from microgpt.viz.page import Page

PAGE = Page(
    "on-your-server",
    label=N_("On your server"),
    title=N_("What does your server’s log say about its cache?"),
    summary=N_(
        "An engine such as vLLM says as it starts how many tokens its KV cache holds, and every few seconds how full "
        "it is. Here each number of such a log is computed from the model, the GPU and the settings."
    ),
    model="names",
    prompt="emma",
    try_=N_("go through the log line by line, and look for the moment at which the cache is full."),
    notice=N_("the server holds fewer than two texts of the longest kind, and runs twenty times as many at once."),
    needs=("shared-prefixes", "many-at-once"),
    sources=("vllm-log", "vllm-tuning", "llama3.1", "a10", "distserve"),
    live="",
    models=("names",),
    figures=("settings",),
)
