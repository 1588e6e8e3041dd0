import torch
from transformers import LlamaConfig, LlamaForCausalLM

from microgpt.architectures.names import FAMILIES, source_of
from microgpt.weights import shipped

ours = shipped("stories")
tokenizer, c = ours.tokenizer, ours.config
config = LlamaConfig(
    vocab_size=c.vocab_size,
    hidden_size=c.n_embd,
    intermediate_size=c.n_mlp,
    num_hidden_layers=c.n_layer,
    num_attention_heads=c.n_head,
    num_key_value_heads=c.n_kv_head,
    max_position_embeddings=c.n_ctx,
    rms_norm_eps=c.norm_eps,
    tie_word_embeddings=c.tied,
)
llama = next(family for family in FAMILIES if family.name == "Llama")
model = LlamaForCausalLM(config).eval()
for name, weight in ours.params.items():
    theirs = model.get_parameter("model." + source_of(name, llama).name)
    theirs.data.copy_(torch.tensor(weight))
