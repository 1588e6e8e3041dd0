"""Faults of what a reader copies or believes."""

from tests.faults.fault import Fault

DOCUMENTS = [
    Fault(
        "listing-that-does-not-run", "documents", "docs/own-widget.md",
        "length = np.linalg.norm(keys, axis=-1)", "length = np.linalg.norm(keys, axis=-2)",
        ("tests/docs/test_own_widget.py",),
    ),
    Fault(
        "command-that-is-none", "documents", "README.md",
        "python build.py --trace trace.json --out lesson", "python build.py --traces trace.json --out lesson",
        ("tests/docs/test_readme.py",),
    ),
    Fault(
        "number-typed-wrong", "documents", "README.md",
        "4 heads, 4,192 parameters", "4 heads, 4,912 parameters",
        ("tests/docs/test_readme.py",),
    ),
    Fault(
        "word-that-is-not-used", "documents", "locale/es/LC_MESSAGES/messages.po",
        "msgid \"bytes per token\"", "msgid \"bytes a token\"",
        ("tests/test_words.py",),
    ),
]  # fmt: skip
