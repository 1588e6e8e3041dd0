"""Faults of weights and tokenizers of others."""

from tests.faults.fault import Fault

CHECKPOINTS = [
    Fault(
        "square-matrix-not-turned", "checkpoints", "microgpt/architectures/names.py",
        'transposed=("attn.c_attn", "attn.c_proj", "mlp.c_fc", "mlp.c_proj")',
        'transposed=("attn.c_attn", "mlp.c_fc", "mlp.c_proj")',
        ("tests/checkpoints/test_folder.py::test_gpt2s_fused_matrix_is_cut_and_turned",),
    ),
    Fault(
        "merges-in-the-order-of-the-alphabet", "checkpoints", "microgpt/tokenizers/models.py",
        'enumerate(merges(model["merges"], vocab))', 'enumerate(sorted(merges(model["merges"], vocab)))',
        ("tests/tokenizers/test_tokenizer_json.py", "tests/tokenizers/test_tokenizer_json_files.py"),
    ),
    Fault(
        "shorter-of-two-special-tokens", "checkpoints", "microgpt/tokenizers/added_tokens.py",
        "for text in ids}, reverse=True)", "for text in ids})",
        ("tests/tokenizers/test_tokenizer_json.py", "tests/tokenizers/test_tokenizer_json_files.py"),
    ),
    Fault(
        "special-tokens-split", "checkpoints", "microgpt/tokenizers/added_tokens.py",
        "self.raw, self.normal = Finder(raw), Finder(normal)", "self.raw, self.normal = Finder({}), Finder(normal)",
        ("tests/tokenizers/test_tokenizer_json.py", "tests/tokenizers/test_tokenizer_json_files.py"),
    ),
    Fault(
        "bfloat16-half-a-step-too-large", "checkpoints", "microgpt/simd/__init__.py",
        "    wide <<= 16\n", "    wide = (wide << 16) | 0x8000\n",
        ("tests/checkpoints/test_folder.py::test_bfloat16_by_its_definition",),
    ),
    Fault(
        "header-length-not-held-to-the-file", "checkpoints", "microgpt/checkpoints/safetensors.py",
        "if length > size - PREFIX:", "if length > max(size, ALLOWED) - PREFIX:",
        ("tests/checkpoints/test_safetensors.py",),
    ),
]  # fmt: skip
