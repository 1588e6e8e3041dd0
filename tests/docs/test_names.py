"""What things are called: a function by a verb or by a noun of what it returns, and by a name of its own."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
# Past participles that do not end in -ed, but for those that are the verb itself as well: cut, put, read, set, split.
IRREGULAR = set(
    """
    bound brought broken built caught chosen done drawn fallen fed forgotten found given gone grown held hidden kept
    known laid left lost made met paid said seen sent shown spent taken taught thought told torn thrown won worn wound
    written
    """.split()
)
NO_PARTICIPLES = {"embed", "exceed", "feed", "need", "proceed", "red", "seed", "shed", "speed"}
PUBLIC = {"shipped", "watched"}  # names that docs/ and README.md promise
COMMON = {  # names that may stand in more than three modules, and why
    "PAGE": "what a page says of itself",
    "view": "what runs a page, by its name",
    "View": "what it gives",
    "HOOKS": "what can be pressed on it, by its name",
    "FILE_HOOKS": "those that take files",
    "load": "the public name, of any file of ours, and what reads one kind",
    "save": "the public name, of any file of ours, and what writes one kind",
    "states": "the numbers that a states.css is written with, and a filter that writes classes of states",
    "can_be_asked": "what of a lesson can be asked where it comes from, for the rules of the lens",
    "asks": "the questions of a lesson",
    "TASKS": "the exercises of a lesson",
    "ASKED": "what can be asked where it comes from, on a page",
    "drawing": "the picture of a lesson",
    "Drawing": "its parts",
    "main": "what a command runs",
    "measure": "what makes a file of results, or a table, anew",
    "ROOT": "the folder of the project, for what runs in it alone",
    "__all__": "Python's own",
}


@cache
def modules() -> dict[str, ast.Module]:
    """Path -> what stands there; without the programs that are shown to readers."""
    folders = [path for name in ("microgpt", "tools", "bench") for path in sorted((ROOT / name).rglob("*.py"))]
    paths = [path for path in (ROOT / "build.py", *folders) if "listings" not in path.parts]
    return {path.relative_to(ROOT).as_posix(): ast.parse(path.read_text("utf-8")) for path in paths}


def is_participle(name: str) -> bool:
    word = name.strip("_").split("_")[0]
    return word in IRREGULAR or (word.endswith("ed") and word not in NO_PARTICIPLES)


def top_names(module: ast.Module) -> Iterator[str]:
    """What a module defines at its top; what it imports is at home elsewhere."""
    for node in module.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name))


def test_a_function_is_a_verb_or_a_noun_and_no_past_participle() -> None:
    words = ["kept", "told_apart", "_checked", "keep", "seed_of", "split"]
    assert [word for word in words if is_participle(word)] == words[:3]
    found = [
        f"{path}:{node.lineno}: {node.name}"
        for path, module in modules().items()
        for node in ast.walk(module)
        if isinstance(node, ast.FunctionDef) and is_participle(node.name) and node.name not in PUBLIC
    ]
    assert not found, "\n".join(["Call them by a verb, or by a noun of what they return:", *found])


def test_no_name_stands_in_more_than_three_modules() -> None:
    homes = defaultdict(list)
    for path, module in modules().items():
        for name in {*top_names(module)} - COMMON.keys():
            homes[name].append(path)
    found = [f"{name}: {', '.join(paths)}" for name, paths in homes.items() if len(paths) > 3]
    assert not found, "\n".join(["Call them by what they are where they are:", *found])
