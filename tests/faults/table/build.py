"""Faults of the folder that a build fills, and of what a package holds."""

from tests.faults.fault import Fault

RENEW = "tools/output/renew.py"

BUILD = [
    Fault(
        "changed-file-of-the-user-deleted", "build", RENEW,
        "if n not in new and there[n] in old[n]]\n        coming", "if n not in new and there[n]]\n        coming",
        ("tests/tools/output/test_renew.py",),
    ),
    Fault(
        "stale-file-left", "build", RENEW,
        "            for name in stale:\n                changes.remove(name)\n", "",
        ("tests/tools/output/test_renew.py",),
    ),
    Fault(
        "hash-not-compared", "build", "tools/output/compare.py",
        'if there == sha or (there not in ("", OTHER) and close(fresh / name, out / name)):',
        'if there not in ("", OTHER):',
        ("tests/tools/output/test_compare.py",),
    ),
    Fault(
        "weights-with-a-time-stamp", "build", "microgpt/weights.py",
        'archive.writestr(zipfile.ZipInfo(f"{key}.npy"), buffer', 'archive.writestr(f"{key}.npy", buffer',
        ("tests/test_weights.py",),
    ),
    Fault(
        "modules-in-the-order-of-a-set", "build", "tools/runtime/packing.py",
        "for name in sorted(names):", "for name in {*names}:",
        ("tests/test_build.py::test_two_builds_are_the_same_bytes",),
    ),
    Fault(
        "traces-left-out-of-the-package", "build", "pyproject.toml",
        '"exercises/*.py", "traces/*.json"]', '"exercises/*.py"]',
        ("tests/tools/output/test_sources.py",),
    ),
    Fault(
        "device-written-over", "build", "microgpt/files.py",
        "not stat.S_ISREG(os.lstat(place).st_mode)", "stat.S_ISDIR(os.lstat(place).st_mode)",
        ("tests/test_files.py",),
    ),
    Fault(
        "watcher-follows-links", "build", "tools/watch.py",
        ' and not entry.is_symlink()', "",
        ("tests/docs/test_own_widget.py::test_no_link_is_followed_and_nothing_is_built_into_the_lesson_itself",),
    ),
    Fault(
        "output-taken-along", "build", "build.py",
        "        check_apart(out, options)\n", "",
        ("tests/docs/test_own_widget.py::test_no_link_is_followed_and_nothing_is_built_into_the_lesson_itself",),
    ),
]  # fmt: skip
