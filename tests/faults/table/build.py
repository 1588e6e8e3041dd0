"""Faults of the folder that a build fills, and of what a package holds."""

from tests.faults.fault import Fault

FOLDER = "tools/output/folder.py"

BUILD = [
    Fault(
        "changed-file-of-the-user-deleted", "build", FOLDER,
        "not in LITTER] + changed", "not in LITTER]",
        ("tests/tools/output/test_folder.py",),
    ),
    Fault(
        "what-comes-while-it-is-built-deleted", "build", FOLDER,
        "            refuse_others(place)  # what has come meanwhile\n", "",
        ("tests/tools/output/test_folder.py",),
    ),
    Fault(
        "hash-not-compared", "build", "tools/output/compare.py",
        "there != sha and close(fresh / name, out / name):", "there != sha:",
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
        '"cards/*.png", "traces/*.json"]', '"cards/*.png"]',
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
