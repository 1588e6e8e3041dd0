import torch
from transformers import DynamicCache, LlamaConfig, LlamaForCausalLM, StaticCache

torch.manual_seed(0)
config = LlamaConfig(
    vocab_size=50, hidden_size=32, intermediate_size=64,
    num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
)  # fmt: skip
tiny = LlamaForCausalLM(config).eval()


def write(past):
    graphs = []

    def count(graph, inputs):  # in place of a compiler
        graphs.append(graph)
        return graph

    torch.compiler.reset()
    step = torch.compile(tiny, backend=count, dynamic=False)
    ids, new = [], [3, 1, 4, 1, 5]
    for _ in range(6):
        with torch.no_grad():
            out = step(torch.tensor([new]), past_key_values=past)
        new = [int(out.logits[0, -1].argmax())]
        ids = ids + new
    shape = list(past.layers[0].keys.shape)
    print(type(past).__name__, "K:", shape, "graphs:", len(graphs))
    return ids


grown = write(DynamicCache(config=config))
fixed = write(StaticCache(config=config, max_cache_len=16))
assert fixed == grown
