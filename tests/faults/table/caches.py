"""Faults of rows that are kept, shared and given up."""

from tests.faults.fault import Fault

CACHES = [
    Fault(
        "shared-row-overwritten", "caches", "microgpt/caches/paged.py",
        "self.pool.ref_count[self.table[at]] > 1", "self.pool.ref_count[self.table[at]] > 2",
        ("tests/caches/test_paged.py",),
    ),
    Fault(
        "forked-block-freed-twice", "caches", "microgpt/caches/paged.py",
        "        self.pool.share(other.table)\n", "",
        ("tests/caches/test_paged.py",),
    ),
    Fault(
        "ring-keeps-one-too-many", "caches", "microgpt/caches/ring.py",
        "self._size = window - 1", "self._size = window",
        ("tests/caches/test_ring.py",),
    ),
    Fault(
        "crop-leaves-a-row-in-a-layer", "caches", "microgpt/cache.py",
        "for layer in self.layers:\n            layer.crop(n)",
        "for layer in self.layers[-1:]:\n            layer.crop(n)",
        ("tests/test_cache.py", "tests/test_model.py::test_going_back_and_on_is_as_if_nothing_had_happened"),
    ),
    Fault(
        "value-of-a-sink-evicted", "caches", "microgpt/caches/sinks.py",
        "        self._values[:, places] = self._sink_values\n", "",
        ("tests/caches/test_sinks.py",),
    ),
    Fault(
        "codes-rounded-down", "caches", "microgpt/caches/codes.py",
        "np.rint((x - first) / divisor)", "np.floor((x - first) / divisor)",
        ("tests/caches/test_codes.py",),
    ),
    Fault(
        "prefix-key-without-its-parent", "caches", "microgpt/caches/prefix.py",
        "hashlib.sha256(before + tokens.encode())", "hashlib.sha256(salt.encode() + tokens.encode())",
        ("tests/caches/test_prefix.py",),
    ),
    Fault(
        "split-edge-loses-its-children", "caches", "microgpt/caches/radix.py",
        "parent, {child.tokens[n]: child}, child.locks", "parent, {}, child.locks",
        ("tests/caches/test_radix.py",),
    ),
]  # fmt: skip
