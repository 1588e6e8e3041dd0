"""Files out of a package of the npm registry, by the npm client and its own settings. Knows no package."""

from __future__ import annotations

import shutil
import subprocess
import tarfile
import tempfile
import zlib
from collections.abc import Iterable
from pathlib import Path

from tools.runtime.process import run_to_end

FETCH_SECONDS = 900  # for one package


class Unavailable(Exception):
    """This source does not answer; the next one may."""


def fetch(package: str, members: Iterable[str], out: Path) -> None:
    """Put these files of `package`, as name@version, into the folder `out`. Raises Unavailable, with the reason."""
    npm = shutil.which("npm")
    if npm is None:
        raise Unavailable("npm is not installed")
    box = Path(tempfile.mkdtemp(dir=out))  # whatever is in it afterwards has come from npm
    try:
        command = [npm, "pack", package, "--silent", "--pack-destination", str(box)]
        if run_to_end(command, FETCH_SECONDS, box).returncode:
            raise Unavailable(f"npm pack {package} failed")
        (archive,) = box.glob("*.tgz")
        with tarfile.open(archive) as tar:
            for member in members:
                data = tar.extractfile(f"package/{member}")
                if data is None:
                    raise tarfile.TarError(f"{member} is no file in it")
                (out / Path(member).name).write_bytes(data.read())
    except subprocess.TimeoutExpired:
        raise Unavailable(f"npm pack {package} came to no end in {FETCH_SECONDS} seconds") from None
    except (OSError, EOFError, tarfile.TarError, zlib.error, LookupError, ValueError) as error:
        raise Unavailable(f"npm pack {package} gave nothing that can be used ({error})") from None
    finally:
        shutil.rmtree(box, ignore_errors=True)
