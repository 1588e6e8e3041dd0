"""Faults of what a hook is told and a file keeps."""

from tests.faults.fault import Fault

TRACE = [
    Fault(
        "position-of-another-text", "trace", "microgpt/serving/engine.py",
        "rows[i]], starts[i], layer))", "rows[i]], starts[0], layer))",
        ("tests/serving/test_engine.py",),
    ),
    Fault(
        "shared-rows-at-the-last-texts-position", "trace", "microgpt/model.py",
        'hook(("attn_out", attn_out, start, layer))', 'hook(("attn_out", attn_out, first, layer))',
        ("tests/attention/test_batch.py",),
    ),
    Fault(
        "report-missing", "trace", "microgpt/model.py",
        '        hook and hook(("mlp_norm", m, start, layer))\n', "",
        ("tests/test_trace.py",),
    ),
    Fault(
        "name-of-a-report-changed", "trace", "microgpt/model.py",
        'hook(("resid_mid", x, start, layer))', 'hook(("resid_middle", x, start, layer))',
        ("tests/test_trace.py",),
    ),
    Fault(
        "json-loses-digits", "trace", "microgpt/trace.py",
        "values = [x if math.isfinite(x)", "values = [float(f\"{x:.15g}\") if math.isfinite(x)",
        ("tests/test_trace.py",),
    ),
    Fault(
        "changed-values-not-compared", "trace", "microgpt/cache.py",
        "(k, v), (keys, values), strict=True)", "(k, k), (keys, keys), strict=True)",
        ("tests/viz/drawing/test_as_read.py",),
    ),
    Fault(
        "changed-row-a-step-late", "trace", "microgpt/trace.py",
        "row = changed if at <= step else row", "row = changed if at < step else row",
        ("tests/viz/drawing/test_as_read.py",),
    ),
    Fault(
        "cache-drawn-as-it-was-filled", "trace", "microgpt/viz/drawing/picture.py",
        'self.per_head("k", i, at), self.per_head("v", i, at)', 'self.per_head("k", i), self.per_head("v", i)',
        ("tests/viz/drawing/test_as_read.py",),
    ),
    Fault(
        "choice-told-a-position-late", "trace", "microgpt/record.py",
        'self.trace(("sample", choice, pos, -1))', 'self.trace(("sample", choice, pos + 1, -1))',
        ("tests/viz/test_pages.py::test_the_guesses_are_the_models",),
    ),
    Fault(
        "event-of-a-layer-that-there-is-not", "trace", "microgpt/viz/large/checks.py",
        "if event.name in INSIDE and not 0 <= event.layer < n_layer:", "if event.name in INSIDE and event.layer < 0:",
        ("tests/viz/large/test_hostile_traces.py",),
    ),
    Fault(
        "numbers-below-all-that-can-be-drawn", "trace", "microgpt/viz/large/checks.py",
        " and value.min(initial=0) >= least:", ":",
        ("tests/viz/large/test_hostile_traces.py",),
    ),
]  # fmt: skip
