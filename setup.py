"""The packages of a wheel, which pyproject.toml cannot find: what lies beside the package lies inside it there."""

from setuptools import find_packages, setup

BESIDE = {f"microgpt.{name}": name for name in ("templates", "site", "locale")}  # no Python

setup(packages=[*find_packages(include=["microgpt", "microgpt.*"]), *BESIDE], package_dir=BESIDE)
