"""What does the cache cost in memory?"""

from microgpt.errors import N_
from microgpt.viz.page import Page

PAGE = Page(
    "memory",
    label=N_("Cache memory"),
    title=N_("What does the cache cost in memory?"),
    summary=N_(
        "The work that a KV cache saves is paid for with memory. How much follows from a few numbers of the model, "
        "for this one and for the largest ones."
    ),
    model="names",
    prompt="emm",
    try_=N_("choose a model and see what its cache is multiplied from; compare two that differ in one factor."),
    notice=N_("weights are read once for all texts of a step, the cache of each text for itself."),
    needs=("kv-cache",),
    sources=("scaling", "paged", "gpt2", "smollm2", "llama2", "llama3", "deepseek-v3"),
    live="form",
    figures=("against",),
)
