"""Run another program to its end, but not for ever. Knows nothing of what it does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path


def run_to_end(command: Sequence[str], seconds: float, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """What it said. It and all that it has started are ended when it takes longer, or when somebody presses Ctrl-C.

    Raises subprocess.TimeoutExpired.
    """
    return finish(start(command, cwd), seconds)


def start(command: Sequence[str], cwd: Path | None = None) -> subprocess.Popen[str]:
    """It runs, and may wait for what it is told; when we end, there is nothing left to read for it."""
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, cwd=cwd, start_new_session=True)


def finish(process: subprocess.Popen[str], seconds: float, told: str = "") -> subprocess.CompletedProcess[str]:
    """As `run_to_end`, of what has been started; `told` is all that it reads."""
    with process:
        try:
            out, err = process.communicate(told, timeout=seconds)
        except BaseException:
            if sys.platform == "win32":
                process.kill()
            else:  # its children hold the pipes open, and would be waited for
                os.killpg(process.pid, signal.SIGKILL)
            raise
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)
