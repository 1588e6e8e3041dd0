"""The W3C's validator of HTML and CSS, once, into the environment: python -m tests.browser.validator

It is a Java program in a package of npm. Where one of the two is missing, or npm gets nothing, the tests that use it
say so and are left out; in CI, where Java is there, it must come out of this.
"""

import os
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tools.output.folder import digest
from tools.runtime import npm

PACKAGE = "vnu-jar@26.9.27"
SHA256 = "22f15dd39a33bed929d2a5c0cddf5946849a647eca9272bf4d5d00bc7e7a4d47"  # of the program itself
JAR = Path(sys.prefix) / "vnu.jar"


def missing() -> str:
    """Why nothing can be validated here, or nothing."""
    if not shutil.which("java"):
        return "java is not installed"
    if not JAR.is_file() or digest(JAR) != SHA256:
        return f"{JAR.name} is not there: python -m tests.browser.validator"
    return ""


def fetch() -> str:
    """Why it could not be fetched, or nothing. It is there whole, or not at all."""
    with TemporaryDirectory(dir=JAR.parent) as folder:
        new = Path(folder, JAR.name)
        try:
            npm.fetch(PACKAGE, ["build/dist/vnu.jar"], Path(folder))
        except npm.Unavailable as reason:
            return str(reason)
        if digest(new) != SHA256:
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
