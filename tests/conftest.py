"""What several tests share."""

from __future__ import annotations

import pytest
from hypothesis import settings

from microgpt.record import Recording
from microgpt.trace import Trace
from microgpt.viz.course import LESSONS
from microgpt.weights import shipped

settings.register_profile("steady", deadline=None)  # a busy machine is no failure
settings.load_profile("steady")

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
