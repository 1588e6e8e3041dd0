"""See that there is a browser to test with: python -m tests.browser.install

What is installed is used. Where there is none, Playwright fetches its own; where it cannot and this is
Debian, the packages are taken from there. In CI (CI=true) all three engines must come out of it.
"""

import os
import shutil
import subprocess
import sys

from playwright.sync_api import sync_playwright

from tools.browsers import ENGINES, own, which

DEBIAN = {"chromium": ["chromium-headless-shell"], "firefox": ["firefox-esr"], "webkit": ["webkit2gtk-driver", "xvfb"]}


def main() -> int:
    with sync_playwright() as playwright:
        missing = [engine for engine in ENGINES if not which(engine) and not own(playwright, engine)]
    in_ci = bool(os.environ.get("CI"))
    if not missing or (len(missing) < len(ENGINES) and not in_ci):
        return 0
    if "chromium" in missing and not in_ci:
        if subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"]).returncode == 0:
            return 0
    if shutil.which("apt-get") and getattr(os, "geteuid", int)() == 0:
        packages = [name for engine in (missing if in_ci else ["chromium"]) for name in DEBIAN[engine]]
        quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(["apt-get", "update", "-qq"], env=quiet)
        if (
            subprocess.run(
                ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages], env=quiet
            ).returncode
            == 0
        ):
            return 0
    print("No browser was found. Install Chromium or Firefox, then run this again.", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
