"""compute -> record -> show, one direction: who may import whom, and how large a module may grow."""

from __future__ import annotations

import ast
import re
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
MODULES = sorted((ROOT / "microgpt").rglob("*.py"))


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {str(node.module)}
    return found


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


# From below to above: a module imports from its own package and from those in the lines before. "" is the top of
# microgpt/, what a student reads; of viz/, where everything comes together, each module at the top stands for itself.
LAYERS = (
    {"simd"},
    {""},
    {"architectures", "tokenizers", "caches"},
    {"experiments"},
    {"attention"},
    {"serving"},
    {"checkpoints"},
    {"huggingface"},
    {"viz.text", "viz.patches", "viz.given_files"},
    {"viz.controls"},
    {"viz.settings"},
    {"viz.drawing", "viz.course"},
    {"viz.lesson"},
    {"viz.request"},
    {"viz.rendering"},
    {"viz.large"},
    {"viz.lessons"},
    {"viz.views"},
    {"viz.apps", "viz.figures"},
    {"viz.notebook"},
    {"viz.session"},
    {"viz.browser", "viz.check", "viz"},
    {"microgpt", "__main__"},  # the public names, and the command
)


def package_of(module: str) -> str:
    parts = module.split(".")[1:]
    if parts in ([], ["__main__"]):
        return module.rpartition(".")[2]
    if parts[:1] == ["viz"]:
        return ".".join(parts[:2])
    return parts[0] if parts and (ROOT / "microgpt" / parts[0]).is_dir() else ""


def ours(path: Path) -> set[str]:
    """The modules of microgpt/ that a module imports, wherever in it."""
    known = {name_of(module) for module in MODULES}
    packages = {name.rpartition(".")[0] for name in imports(path) if name in known}
    return {name for name in imports(path) if name in known and name not in packages} - {"microgpt", name_of(path)}


def test_layers_name_every_package() -> None:
    assert set().union(*LAYERS) == {package_of(name_of(path)) for path in MODULES}


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_package_imports_only_what_lies_below_it(path: Path) -> None:
    package = package_of(name_of(path))
    level = next(i for i, layer in enumerate(LAYERS) if package in layer)
    below = set().union(*LAYERS[:level]) | {package}
    assert {name for name in ours(path) if package_of(name) not in below} == set()


def test_no_module_imports_what_imports_it() -> None:
    graph = {name_of(path): ours(path) for path in MODULES}
    assert list(TopologicalSorter(graph).static_order())  # raises CycleError, with the circle


ENGINE = ("microgpt.huggingface.watch", "microgpt.huggingface.recorder")  # where another one computes


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_each_library_has_its_place(path: Path) -> None:
    used, name = {module.split(".")[0] for module in imports(path)}, name_of(path)
    assert not used & {"tools", "build", "tests", "bench", "pickle", "requests"}
    assert not used & {"torch", "transformers"} or name in ("microgpt.__main__", *ENGINE)
    assert not used & {"js", "pyodide", "pyodide_js"} or name == "microgpt.viz.browser"
    assert "jinja2" not in used or name.startswith("microgpt.viz.")


@pytest.mark.parametrize("folder", ["tools", "bench"])
def test_what_is_around_the_package_needs_no_tests(folder: str) -> None:
    """tools/ imports the package alone; bench/ imports tools too."""
    allowed = {"tools": {"microgpt", "tools"}, "bench": {"microgpt", "tools", "bench", "build"}}[folder]
    for path in (ROOT / folder).rglob("*.py"):
        used = {module.split(".")[0] for module in imports(path)}
        assert used & {"microgpt", "tools", "tests", "bench", "build"} <= allowed, path.name


TOPS = {ROOT / "microgpt", ROOT / "tests"}  # fifteen at the top: a module of tests for each that a student reads
WIDE = [path for folder in ("tools", "tests", "bench") for path in (ROOT / folder).rglob("*.py")]
FOLDERS = sorted({path.parent for path in [*MODULES, *WIDE]} - TOPS)


@pytest.mark.parametrize("folder", ["templates", "site/css"])
def test_templates_and_styles_lie_in_folders_of_a_dozen(folder: str) -> None:
    for place in [ROOT / folder, *(path for path in (ROOT / folder).rglob("*") if path.is_dir())]:
        assert len([path for path in place.iterdir() if path.is_file()]) <= 12, place


def test_the_top_is_what_a_student_reads() -> None:
    """At most 15 modules, in reading order in the docstring of the package."""
    top = {path.stem for path in (ROOT / "microgpt").glob("*.py")} - {"__init__", "__main__"}
    read = re.findall(
        r"^    (\w+)\.py", ast.get_docstring(ast.parse((ROOT / "microgpt/__init__.py").read_text())) or "", re.M
    )
    assert len(top) <= 15 and set(read) == top and len(read) == len(top)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.relative_to(ROOT).as_posix())
def test_a_folder_holds_at_most_a_dozen_modules(folder: Path) -> None:
    assert len(list(folder.glob("*.py"))) <= 12


def test_the_top_of_the_tests_is_no_longer() -> None:
    assert len(list((ROOT / "tests").glob("test_*.py"))) <= 15


WRITES = (
    r"write_text|write_bytes|open\([^)]*[\"'][wax]b?[\"']|\bnp\.save|tofile\(|mkdir|makedirs|unlink|rmtree|\.rename\("
    r"|os\.(replace|remove|link|symlink|truncate)\b|\.touch\(|symlink_to|copyfile|copytree|shutil\.(copy|move)"
)
TUPLES = {"_asdict", "_fields", "_make", "_replace"}  # what a NamedTuple has, and says to all
OUTSIDE = [path for folder in ("tests", "bench") for path in sorted((ROOT / folder).rglob("*.py"))]


def private(path: Path) -> set[str]:
    """The names with an underscore that a module takes out of one of ours."""
    tree = ast.parse(path.read_text("utf-8"))
    froms = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    ours_ = [node for node in froms if str(node.module).split(".")[0] in {"microgpt", "tools", "build"}]
    names = {alias.asname or alias.name for node in ours_ for alias in node.names} | {"build"}
    hidden = {alias.name for node in ours_ for alias in node.names if re.match("_[a-z]", alias.name)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in names:
            hidden |= {f"{node.value.id}.{node.attr}"} if re.match("_[a-z]", node.attr) else set()
    return {name for name in hidden if name.rpartition(".")[2] not in TUPLES}


@pytest.mark.parametrize("path", OUTSIDE, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_nothing_reaches_into_the_private_state_of_a_module(path: Path) -> None:
    """Tests ask as a page does; what they need and cannot ask for is public."""
    assert private(path) == set()


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_only_the_build_and_training_write_files(path: Path) -> None:
    writers = {"microgpt.weights", "microgpt.files"}  # the last: what a notebook saves
    text = path.read_text("utf-8")
    if name_of(path) not in writers:
        assert not re.search(WRITES, text)


@pytest.mark.parametrize(
    "line",
    ['open(path, "w")', 'path.open("xb")', "path.rename(to)", "os.replace(a, b)", "shutil.move(a, b)", "np.savez(a)"],
)
def test_what_writes_is_found(line: str) -> None:
    assert re.search(WRITES, line)
    assert not re.search(WRITES, 'open(path, "rb").read(); text.replace("w", ""); os.stat(path)')


NEIGHBOURS = (
    r"(\b(i|j|t|view\.n|step\.rows|LEVELS)|\|length) [-+] 1\b|\bview\.width \+ [23]\b"  # the next, the last, columns
)


def arithmetic(template: str) -> list[str]:
    """The expressions of a template that add, multiply or round more than a neighbour's number."""
    found = re.findall(r"\{[{%](.*?)[}%]\}", template, re.S)
    bare = [re.sub(NEIGHBOURS, "", re.sub(r"\"[^\"]*\"|'[^']*'", "", expression)) for expression in found]
    return [one for one in bare if re.search(r"[\w)\]] ?[-+*/%] ?[\w(\[]|\|round|\|sum", one.strip("-+ "))]


def test_templates_do_no_arithmetic_on_values() -> None:
    """Sums, products and rounding belong to the views; figures compute places alone, in their own helpers."""
    for path in (ROOT / "templates").rglob("*.html"):
        assert arithmetic(path.read_text("utf-8")) == [], path.name


@pytest.mark.parametrize(
    "expression", ["a + b", "a - 2", "view.rows|length - at", "x * 2", "x / 2", "a|sum", "f(a) - b", "2 - a"]
)
def test_arithmetic_is_found(expression: str) -> None:
    assert arithmetic("<p>{{ " + expression + " }}</p>")


OURS = [*MODULES, ROOT / "build.py", *sorted((ROOT / "tools").rglob("*.py"))]
LONG = {  # one thing from top to bottom, and lists of all that a lesson shows
    "microgpt.model.forward", "microgpt.backward.backward", "microgpt.viz.notebook.show",
    *(f"microgpt.viz.lessons.{name}.view" for name in ("attention", "heads", "loop", "memory", "prefill", "training")),
    "microgpt.viz.lessons.compare.view_of", "microgpt.viz.lessons.in_your_code.view",
}  # fmt: skip


@pytest.mark.parametrize("path", OURS, ids=name_of)
def test_modules_say_what_they_are_and_functions_are_short(path: Path) -> None:
    """What a cap on the length of modules was for: one idea, said in the docstring, in functions to be read."""
    tree = ast.parse(path.read_text("utf-8"))
    assert ast.get_docstring(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            long = (node.end_lineno or 0) - node.lineno >= 45
            assert not long or f"{name_of(path)}.{node.name}" in LONG, node.name


def test_scripts_are_four_and_small_enough_to_be_read() -> None:
    """boot.js and worker.js carry messages, host.js reads the address and talks to a frame's host, offline.js keeps."""
    scripts = {p.name: p.read_text("utf-8").splitlines() for p in (ROOT / "site").rglob("*.js")}
    assert scripts.keys() == {"boot.js", "worker.js", "host.js", "offline.js"}
    assert sum(map(len, scripts.values())) <= 400
    assert max(len(line) for lines in scripts.values() for line in lines) <= 110
    assert {p.suffix for p in (ROOT / "site").rglob("*") if p.is_file()} <= {
        ".js",
        ".css",
        ".svg",
        ".png",
        ".py",
        ".json",
    }


SIGHT = {  # what a docstring may say that its module does not know -> what the module then does not import
    "page": r"microgpt\.viz\.(course|lesson|lessons|request|views|apps|session)\b",
    "widget": r"microgpt\.viz\.lessons\b",
    "HTML": r"microgpt\.viz\.rendering\b|jinja2|markupsafe|html\b",
    "trace": r"microgpt\.trace\b",
    "model": r"microgpt\.(model|weights|record|decode)\b",
    "run of a model": r"microgpt\.(model|record|decode)\b",
    "file": r"(pathlib|os|io|shutil|tempfile|zipfile)\b",
    "browser": r"(js|pyodide|pyodide_js)\b",
    "notebook program": r"(IPython|ipykernel)\b",
    "command line": r"argparse\b",
    "loss": r"microgpt\.train\b",
    "optimiser": r"microgpt\.train\b",
    "token": r"microgpt\.(tokenizer|tokenizers\.(tokenizer_json|models|added_tokens))\b",
    "tokens": r"microgpt\.(tokenizer|tokenizers\.(tokenizer_json|models|added_tokens))\b",
    "ids": r"microgpt\.(tokenizer|tokenizers\.(tokenizer_json|models|added_tokens))\b",
    "pattern": r"microgpt\.tokenizers\.oniguruma\.patterns\b",
    "text": r"microgpt\.tokenizers\.(normalizers|pre_tokenizers|tokenizer_json)\b",
    "figure": r"microgpt\.viz\.figures$",
    "package": r"tools\.runtime\.(fetch|packing|pinned)\b",
    "config": r"microgpt\.config\b",
    "form": r"microgpt\.viz\.(session|apps)\b",
    "shapes": r"microgpt\.(architectures|config)\b",
    "number": r"(numpy|microgpt\.trace)\b",
    "numbers of a tensor": r"numpy\b",
}


def unknown(path: Path) -> set[str]:
    """What the docstring of a module says that it does not know."""
    said = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
    sentences = re.findall(r"\b[Kk]nows? ([^.;]*)", " ".join(said.split()))
    return {name for one in sentences for name in re.findall(r"\bno ([\w ]*?)(?=,|$| and\b)", one)}


@pytest.mark.parametrize("path", [path for path in OURS if unknown(path)], ids=name_of)
def test_a_module_does_not_import_what_it_says_it_does_not_know(path: Path) -> None:
    for name in unknown(path):
        assert not [found for found in imports(path) if re.match(SIGHT[name], found)], name
