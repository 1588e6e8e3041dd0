"""compute -> record -> show, one direction: who may import whom, and how large a module may grow.

A law is one case, which lists all that break it.
"""

import ast
import re
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

from tests.support.templates import templates

ROOT = Path(__file__).resolve().parents[1]
MODULES = [path for path in sorted((ROOT / "microgpt").rglob("*.py")) if path.parent.name != "listings"]
OURS = [*MODULES, ROOT / "build.py", *sorted((ROOT / "tools").rglob("*.py"))]
OUTSIDE = [path for folder in ("tests", "bench") for path in sorted((ROOT / folder).rglob("*.py"))]


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


@cache
def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {str(node.module)}
    return found


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


KNOWN = {*map(name_of, MODULES)}


# From below to above: a module imports from its own package and from those in the lines before. "" is the top of
# microgpt/, what a student reads; of viz/, where everything comes together, each module at the top stands for itself.
LAYERS = (
    {"simd", "data"},
    {""},
    {"architectures", "tokenizers", "caches"},
    {"experiments", "workbench"},
    {"attention"},
    {"serving"},
    {"checkpoints"},
    {"huggingface"},
    {"viz.text", "viz.patches", "viz.local_files"},
    {"viz.controls"},
    {"viz.settings"},
    {"viz.drawing", "viz.page"},
    {"apps"},
    {"course"},
    {"viz.lesson"},
    {"viz.request"},
    {"viz.rendering"},
    {"viz.large"},
    {"lessons"},
    {"viz.views"},
    {"pages", "viz.figures"},
    {"viz.notebook"},
    {"viz.session"},
    {"viz.browser", "viz.check", "viz"},
    {"microgpt", "__main__"},  # the public names, and the command
)


@cache
def package_of(module: str) -> str:
    parts = module.split(".")[1:]
    if parts in ([], ["__main__"]):
        return module.rpartition(".")[2]
    if parts[:1] == ["viz"]:
        return ".".join(parts[:2])
    if parts[:1] in (["course"], ["apps"]):  # what pages say of themselves lies below the frame, what they show above
        shows = "lessons" if parts[0] == "course" else "pages"
        return shows if len(parts) > 2 else parts[0]
    return parts[0] if parts and (ROOT / "microgpt" / parts[0]).is_dir() else ""


@cache
def ours(path: Path) -> set[str]:
    known = imports(path) & KNOWN
    return known - {name.rpartition(".")[0] for name in known} - {"microgpt", name_of(path)}


def test_layers_name_every_package() -> None:
    assert set().union(*LAYERS) == {package_of(name_of(path)) for path in MODULES}


def test_a_package_imports_only_what_lies_below_it() -> None:
    wrong = []
    for path in MODULES:
        package = package_of(name_of(path))
        level = next(i for i, layer in enumerate(LAYERS) if package in layer)
        below = set().union(*LAYERS[:level]) | {package}
        wrong += [f"{name_of(path)} imports {name}" for name in ours(path) if package_of(name) not in below]
    assert wrong == []


def test_no_module_imports_what_imports_it() -> None:
    graph = {name_of(path): ours(path) for path in MODULES}
    assert list(TopologicalSorter(graph).static_order())  # raises CycleError, with the circle


LIBRARIES = {  # -> the modules that may import them, of the package and of what is around it
    ("tests",): r"(?!)",
    ("bench", "build"): r"bench\b.*",
    ("tools",): r"(tools|bench|build)\b.*",
    ("pickle", "requests"): r"(?!microgpt\b).*",
    ("torch", "transformers"): r"(?!microgpt\b).*|microgpt\.(__main__|huggingface\.(engine|watch|recorder))",
    ("js", "pyodide", "pyodide_js"): r"(?!microgpt\b).*|microgpt\.viz\.browser",
    ("jinja2",): r"(?!microgpt\b).*|microgpt\.viz\..+",
}


def test_each_library_has_its_place() -> None:
    assert [
        f"{name_of(path)} imports {found}"
        for path in [*OURS, *(ROOT / "bench").rglob("*.py")]
        for names, places in LIBRARIES.items()
        if (found := {module.split(".")[0] for module in imports(path)} & {*names})
        and not re.fullmatch(places, name_of(path))
    ] == []


def test_a_folder_holds_at_most_a_dozen_files() -> None:
    """At the top of microgpt/ and tests/ fifteen modules: one of tests for each that a student reads. What tests share
    lies in one folder, a module for each thing that it is of.
    """
    tops = {ROOT / "microgpt", ROOT / "tests"}
    most = {ROOT / "tests/support": 24}
    modules = {path.parent: "*.py" for path in [*OURS, *OUTSIDE] if path.parent not in {ROOT, *tops}}
    others = {path.parent: "*" for name in ("templates", "site/css") for path in (ROOT / name).rglob("*")}
    held = {folder: sum(path.is_file() for path in folder.glob(kind)) for folder, kind in (modules | others).items()}
    assert len(held) > 50 and {folder.name: n for folder, n in held.items() if n > most.get(folder, 12)} == {}
    assert len(list((ROOT / "tests").glob("test_*.py"))) <= 15


def test_the_top_is_what_a_student_reads() -> None:
    """At most 15 modules, in reading order in the docstring of the package."""
    top = {path.stem for path in (ROOT / "microgpt").glob("*.py")} - {"__init__", "__main__"}
    read = re.findall(r"^    (\w+)\.py", ast.get_docstring(tree_of(ROOT / "microgpt/__init__.py")) or "", re.M)
    assert len(top) <= 15 and set(read) == top and len(read) == len(top)


FRAME = ("controls", "drawing", "patches", "rendering", "request", "session", "settings", "text", "views")  # of viz/


def test_the_frame_knows_no_lesson() -> None:
    """No lesson is named in it, nor its style: what is one lesson's lies in its folder. Lessons do not know one another
    but by what they say to a reader."""
    lessons = {path.name for path in (ROOT / "microgpt" / "course").iterdir() if path.is_dir() and path.name[0] != "_"}
    named = re.compile(rf"\bcourse[./]({'|'.join(lessons)})\b")
    frame = [path for name in FRAME for path in MODULES if f"viz/{name}" in path.with_suffix("").as_posix()]
    wrong = [f"{path.name}: {m[0]}" for path in frame for m in named.finditer(path.read_text("utf-8"))]
    for path in (ROOT / "site" / "css").glob("*.css"):
        classes = set(re.findall(r"\.([a-z][\w-]*)", path.read_text("utf-8")))
        wrong += [f"{path.name}: .{name}" for name in classes & {lesson.replace("_", "-") for lesson in lessons}]
    for path in MODULES:
        own = path.parent.name
        if own in lessons:
            wrong += [f"{name_of(path)}: {m[0]}" for m in named.finditer("\n".join(imports(path))) if m[1] != own]
    assert wrong == []


WING = {"checkpoints", "tokenizers", "huggingface", "viz.large"}  # what other people's models need


def test_the_course_does_without_other_peoples_models() -> None:
    """They are a wing that no lesson imports: a reader of the course loads none of it."""
    lessons = [path for path in MODULES if package_of(name_of(path)) in ("course", "lessons")]
    assert len(lessons) > 50
    assert [f"{name_of(path)}: {name}" for path in lessons for name in ours(path) if package_of(name) in WING] == []


WRITES = (
    r"write_text|write_bytes|open\([^)]*[\"'][wax]b?[\"']|\bnp\.save|tofile\(|mkdir|makedirs|unlink|rmtree|\.rename\("
    r"|os\.(replace|remove|link|symlink|truncate)\b|\.touch\(|symlink_to|copyfile|copytree|shutil\.(copy|move)"
)
TUPLES = {"_asdict", "_fields", "_make", "_replace"}  # what a NamedTuple has, and says to all


def private(path: Path) -> set[str]:
    """The names with an underscore that a module takes out of one of ours."""
    if not re.search(r"[.\s(]_[a-z]", path.read_text("utf-8")):
        return set()
    nodes = [*ast.walk(tree_of(path))]
    froms = [node for node in nodes if isinstance(node, ast.ImportFrom)]
    ours_ = [node for node in froms if str(node.module).split(".")[0] in {"microgpt", "tools", "build"}]
    names = {alias.asname or alias.name for node in ours_ for alias in node.names} | {"build"}
    hidden = {alias.name for node in ours_ for alias in node.names if re.match("_[a-z]", alias.name)}
    for node in nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in names:
            hidden |= {f"{node.value.id}.{node.attr}"} if re.match("_[a-z]", node.attr) else set()
    return {name for name in hidden if name.rpartition(".")[2] not in TUPLES}


def test_nothing_reaches_into_the_private_state_of_a_module() -> None:
    """Tests ask as a page does; what they need and cannot ask for is public."""
    assert [f"{name_of(path)}: {found}" for path in OUTSIDE if (found := private(path))] == []


def test_no_test_module_imports_another() -> None:
    """What two of them need lies in tests/support/, beside them in a module that is none, or in their conftest.py."""
    found = {name_of(path): {n for n in imports(path) if re.match(r"(\w+\.)*test_", n)} for path in OUTSIDE}
    assert {name: imported for name, imported in found.items() if imported} == {}


def test_only_the_build_and_training_write_files() -> None:
    writers = {"microgpt.weights", "microgpt.files", "microgpt.workbench.hooks"}  # a notebook saves; a hook of readers
    writing = {name_of(path) for path in MODULES if re.search(WRITES, path.read_text("utf-8"))}
    assert writing - writers == set()
    for line in (
        'open(path, "w")',
        'path.open("xb")',
        "path.rename(to)",
        "os.replace(a, b)",
        "shutil.move(a, b)",
        "np.savez(a)",
    ):
        assert re.search(WRITES, line), line
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
    texts = {path: path.read_text("utf-8") for path in templates("html")}
    assert [f"{path.name}: {found}" for path, text in texts.items() if (found := arithmetic(text))] == []
    for one in ("a + b", "a - 2", "view.rows|length - at", "x * 2", "x / 2", "a|sum", "f(a) - b", "2 - a"):
        assert arithmetic("<p>{{ " + one + " }}</p>"), one


LONG = {  # one thing from top to bottom, and lists of all that a lesson shows
    "microgpt.model.forward",
    "microgpt.backward.backward",
    "microgpt.viz.notebook.show",
    *(f"microgpt.course.{name}.lesson.__init__" for name in ("fewer_heads", "guess_and_check", "memory", "next_token")),
    *(f"microgpt.course.{name}.lesson.__init__" for name in ("prefill_and_decode", "training", "with_and_without")),
}


def test_modules_say_what_they_are_and_functions_are_short() -> None:
    """What a cap on the length of modules was for: one idea, said in the docstring, in functions to be read."""
    assert [name_of(path) for path in OURS if not ast.get_docstring(tree_of(path))] == []
    functions = [
        (f"{name_of(path)}.{node.name}", (node.end_lineno or 0) - node.lineno)
        for path in OURS
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.FunctionDef)
    ]
    assert {name: lines for name, lines in functions if lines >= 45 and name not in LONG} == {}


def test_scripts_are_four_and_small_enough_to_be_read() -> None:
    """boot.js and worker.js carry messages, host.js reads the address and talks to a frame's host, offline.js keeps.

    editor.js is none of them: it goes with CodeMirror, to the pages alone that ask for an editor.
    """
    scripts = {p.name: p.read_text("utf-8").splitlines() for p in (ROOT / "site").rglob("*.js")}
    assert max(len(line) for lines in scripts.values() for line in lines) <= 110
    assert len(scripts.pop("editor.js")) <= 130  # ten of them open an editor when it is seen, and keep ticks
    assert scripts.keys() == {"boot.js", "worker.js", "host.js", "offline.js"}
    assert sum(map(len, scripts.values())) <= 400
    assert {p.suffix for p in (ROOT / "site").rglob("*") if p.is_file()} <= {*".js .css .svg .png .json".split()}


SIGHT = {  # what a docstring may say that its module does not know -> what the module then does not import
    "page": r"microgpt\.(course|apps|viz\.(page|lesson|request|views|session))\b",
    "widget": r"microgpt\.course\.\w+\.\w",
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
    "package": r"tools\.runtime\.(fetch|packing|pins)\b",
    "config": r"microgpt\.config\b",
    "form": r"microgpt\.(viz\.session|apps)\b",
    "shapes": r"microgpt\.(architectures|config)\b",
    "number": r"(numpy|microgpt\.trace)\b",
    "numbers of a tensor": r"numpy\b",
}


def unknown(path: Path) -> set[str]:
    """What the docstring of a module says that it does not know."""
    said = ast.get_docstring(tree_of(path)) or ""
    sentences = re.findall(r"\b[Kk]nows? ([^.;]*)", " ".join(said.split()))
    return {name for one in sentences for name in re.findall(r"\bno ([\w ]*?)(?=,|$| and\b)", one)}


def test_a_module_does_not_import_what_it_says_it_does_not_know() -> None:
    assert [
        f"{name_of(path)} knows no {name}, and imports {found}"
        for path in OURS
        for name in sorted(unknown(path))
        if (found := [one for one in imports(path) if re.match(SIGHT[name], one)])
    ] == []
