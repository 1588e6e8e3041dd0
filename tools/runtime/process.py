"""Run another program to its end, but not for ever. Knows nothing of what it does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path


def finished(command: Sequence[str], seconds: float, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """What it said. It and all that it has started are ended when it takes longer, or when somebody presses Ctrl-C.

    Raises subprocess.TimeoutExpired.
    """
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, cwd=cwd, start_new_session=True) as process:
        try:
            out, err = process.communicate(timeout=seconds)
        except BaseException:
            if sys.platform == "win32":
                process.kill()
            else:  # its children hold the pipes open, and would be waited for
                os.killpg(process.pid, signal.SIGKILL)
            raise
    return subprocess.CompletedProcess(command, process.returncode, out, err)
