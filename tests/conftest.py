"""What several tests share."""

import gc
import hashlib
import os
import subprocess
import sys
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TypeAlias

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy: a core has a test of its own, and threads would wait

import pytest
from filelock import FileLock
from hypothesis import settings

from microgpt.course import LESSONS
from microgpt.record import Recording
from microgpt.trace import Trace
from microgpt.weights import shipped
from tests.support import proved
from tests.support.examples import examples
from tests.support.given.compiled import keep_templates

settings.register_profile("steady", deadline=None, max_examples=examples(100))  # a busy machine is no failure
settings.load_profile("steady")


def pytest_configure(config: pytest.Config) -> None:
    gc.disable()  # until all is collected: what is loaded stays
    keep_templates()
    config.pluginmanager.register(proved.Modules(config), "proved modules")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What is `thorough` runs in `make everything` alone. Several processes have the same order again."""
    if os.environ.get("PYTEST_XDIST_WORKER"):
        items.sort(key=lambda item: item.path)
    for item in items:
        where = item.path.relative_to(ROOT).as_posix()
        reasons = [why for place, why in SLOW.items() if where.startswith(f"tests/{place}")]
        if "site" in getattr(item, "fixturenames", ()):
            reasons.append("needs the site to be built")
        for why in reasons:
            item.add_marker(pytest.mark.slow(why))
    if not os.environ.get("EVERYTHING"):
        config.hook.pytest_deselected(items=[item for item in items if item.get_closest_marker("thorough")])
        items[:] = [item for item in items if not item.get_closest_marker("thorough")]


ROOT = Path(__file__).resolve().parents[1]
SLOW = {  # modules and folders of which `make check` runs nothing -> why
    "apps/test_bugs.py": "runs every bug of the shelf",
    "apps/test_workbench.py": "runs all checks at each press",
    "attack": "puts hostile cases before every reader",
    "checkpoints/test_hostile": "reads files that were made to harm",
    "checkpoints/test_loading.py": "loads and draws a model at each press",
    "checkpoints/test_ours.py": "trains small models",
    "course/test_questions.py": "renders the questions of every lesson",
    "course/with_and_without/test_race.py": "runs texts by the clock",
    "serving/test_simulate.py": "lets services run for hours of their clock",
    "tokenizers/test_hostile_tokenizers.py": "reads files that were made to harm",
    "tokenizers/test_tokenizer_json": "asks the library too",
    "tools/test_bake.py": "bakes lessons",
    "tools/test_checkpoint.py": "bakes lessons of checkpoints",
    "tools/test_editor.py": "builds a part of the site",
    "tools/test_figure.py": "starts other programs",
    "viz/figures": "draws figures of every lesson",
    "viz/large": "draws large models",
    "viz/notebook": "renders pages as a notebook does",
    "viz/test_markup.py": "renders every page",
    "viz/test_pages.py": "renders every page",
    "viz/test_session.py": "runs every lesson",
    "viz/test_untranslated.py": "renders every page",
    "workbench": "runs programs of readers many times",
}
Collecting: TypeAlias = Generator[None, pytest.CollectReport, pytest.CollectReport]


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Collecting:
    """Each process begins at another folder. On a first run, what one has compiled the others find compiled."""
    report = yield
    if collector.nodeid == "tests" and (worker := os.environ.get("PYTEST_XDIST_WORKER")):
        begin = int(worker[2:]) * len(report.result) // int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
        report.result = [*report.result[begin:], *report.result[:begin]]
    return report


@pytest.hookimpl(optionalhook=True)  # not where xdist is none, as with PyTorch
def pytest_xdist_auto_num_workers() -> int:
    """One process more than cores: some always wait, for a browser or for what must come late."""
    return (os.cpu_count() or 1) + 1


def pytest_collection_finish() -> None:
    """What is loaded by now stays. The garbage collector need not look through thousands of tests again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    gc.enable()


NAMES_SHA256 = "0a30b5557f192f32ab962680889aac5f6fda0f4cecf40a6d0b5694f58ea8cc4d"
HOW_TO_GET_IT = (
    "The golden values need names.txt of Karpathy's makemore (32,033 names, github.com/karpathy/makemore): "
    "put it at ../shared/data/names.txt beside this folder, or set NAMES_TXT to its path."
)
STEPPERS = [page for page in LESSONS if page.widget == "kv_cache"]


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The real site, built once for all processes in one of its own: what tests have computed is not in it."""
    run = tmp_path_factory.getbasetemp()
    out = (run.parent if os.environ.get("PYTEST_XDIST_WORKER") else run) / "built" / "site"
    out.parent.mkdir(exist_ok=True)
    with FileLock(f"{out.parent}.lock", timeout=600):
        if not out.is_dir():
            command = [sys.executable, "build.py", "--out", str(out)]
            done = subprocess.run(command, cwd=ROOT, capture_output=True, timeout=600)
            Path(f"{out.parent}.said").write_bytes(done.stderr)
            assert done.returncode == 0, done.stderr.decode()
    return out


@pytest.fixture(scope="session", params=STEPPERS, ids=[page.model for page in STEPPERS])
def recording(request: pytest.FixtureRequest) -> Recording:
    made = Recording(shipped(request.param.model), request.param.prompt)
    made.run()
    return made


@pytest.fixture(scope="session")
def trace(recording: Recording) -> Trace:
    return recording.trace


@pytest.fixture
def npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """An npm client of our own first in the PATH; what it runs, with its command as $1 and what follows it as $2."""
    if os.name == "nt":
        pytest.skip("the stand-in for npm is a shell script")

    def install(script: str) -> None:
        client = tmp_path / "bin" / "npm"
        client.parent.mkdir(exist_ok=True)
        client.write_text(f"#!/bin/sh\nset -e\n{script}\n")
        client.chmod(0o755)
        monkeypatch.setenv("PATH", str(client.parent), prepend=os.pathsep)

    return install


@pytest.fixture(scope="session")
def names_txt() -> Path:
    path = Path(os.environ.get("NAMES_TXT") or ROOT.parent / "shared" / "data" / "names.txt")
    if not path.is_file():
        assert not os.environ.get("NAMES_TXT"), f"NAMES_TXT is {path}, and there is no such file. {HOW_TO_GET_IT}"
        pytest.skip(HOW_TO_GET_IT)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert digest == NAMES_SHA256, f"{path} is another list of names. {HOW_TO_GET_IT}"
    return path
