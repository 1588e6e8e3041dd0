"""What several tests share."""

from __future__ import annotations

import gc
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy: a core has a test of its own, and threads would wait

import pytest
from hypothesis import settings

from microgpt.record import Recording
from microgpt.trace import Trace
from microgpt.viz.course import LESSONS
from microgpt.weights import shipped
from tests.support.examples import examples

settings.register_profile("steady", deadline=None, max_examples=examples(100))  # a busy machine is no failure
settings.load_profile("steady")


def pytest_collection_finish() -> None:
    """What is loaded by now stays. The garbage collector need not look through thousands of tests again and again."""
    gc.collect()
    gc.freeze()


STEPPERS = [page for page in LESSONS if page.widget == "stepper"]


@pytest.fixture(scope="session", params=STEPPERS, ids=[page.model for page in STEPPERS])
def recording(request: pytest.FixtureRequest) -> Recording:
    """The recording behind each stepper page, run to its end."""
    made = Recording(shipped(request.param.model), request.param.prompt)
    made.run()
    return made


@pytest.fixture(scope="session")
def trace(recording: Recording) -> Trace:
    return recording.trace
