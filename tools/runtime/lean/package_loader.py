"""In place of `pyodide._package_loader`: where packages lie. None is loaded: all that is needed is in the archives."""

from pathlib import Path
from site import getsitepackages

import pyodide_js

SITE_PACKAGES = Path(getsitepackages()[0])
DSO_DIR = Path("/usr/lib")
LOADED = pyodide_js.loadedPackages  # held, since a memory of Python must hold it


def init_loaded_packages() -> None:
    """Tell of the packages that are there: of none."""
