"""Faults of bytes and multiply-adds."""

from tests.faults.fault import Fault

COST = [
    Fault(
        "bytes-of-k-alone", "cost", "microgpt/cost.py",
        "config.n_kv_head * sum(row_dims(config)) * n * bytes_per_value",
        "config.n_kv_head * row_dims(config)[0] * n * bytes_per_value",
        ("tests/test_cost.py",),
    ),
    Fault(
        "bytes-by-1024", "cost", "microgpt/viz/text/formats.py",
        "number(n_bytes / 1000**power,", "number(n_bytes / 1024**power,",
        ("tests/viz/test_formats.py",),
    ),
    Fault(
        "heads-for-key-heads", "cost", "microgpt/cost.py",
        "n * (query + c.n_embd * c.n_kv_head *", "n * (query + c.n_embd * c.n_head *",
        ("tests/test_cost.py",),
    ),
]  # fmt: skip
