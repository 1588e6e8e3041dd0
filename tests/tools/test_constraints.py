"""The tests install one version of each package: what is released tomorrow fails no fresh machine."""

import re
from importlib.metadata import distribution, version

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tools.output.sources import ROOT

OURS, WITHOUT = "microgpt-kv", {"pip", "setuptools"}  # which Python itself brings


def pinned(environment: str) -> dict[str, str]:
    lines = (ROOT / "tests" / "constraints" / f"{environment}.txt").read_text("utf-8").splitlines()
    return {canonicalize_name(name): number for name, number in (line.split("==") for line in lines)}


def needed(name: str, extras: frozenset[str], seen: set[tuple[str, frozenset[str]]]) -> set[str]:
    """The names of what `name[extras]` needs on this machine, at any remove."""
    if (name, extras) in seen:
        return set()
    seen.add((name, extras))
    found = {name}
    for requirement in map(Requirement, distribution(name).requires or []):
        if requirement.marker is None or any(requirement.marker.evaluate({"extra": e}) for e in {"", *extras}):
            found |= needed(canonicalize_name(requirement.name), frozenset(requirement.extras), seen)
    return found


def test_every_package_that_the_tests_need_is_pinned_and_installed_so() -> None:
    names = needed(OURS, frozenset({"test"}), set()) - {OURS} - WITHOUT
    assert len(names) > 60
    table = pinned("test")
    assert {name: version(name) for name in names} == {name: table.get(name) for name in names}


@pytest.mark.parametrize("environment", ["test", "references"])
def test_what_pyproject_asks_for_by_name_is_pinned_within_its_limits(environment: str) -> None:
    wanted = [Requirement(text) for text in distribution(OURS).requires or []]
    asked = [r for r in wanted if r.marker is None or r.marker.evaluate({"extra": environment})]
    table = pinned(environment)
    named = [r for r in asked if canonicalize_name(r.name) != OURS]
    assert len(named) > 5
    for requirement in named:
        assert table[canonicalize_name(requirement.name)] in requirement.specifier, requirement


@pytest.mark.parametrize("environment", ["test", "references"])
def test_a_pin_is_good_on_every_machine(environment: str) -> None:
    """No build of one platform alone, such as 2.13.0+cpu, and no file of this one."""
    assert all(re.fullmatch(r"[\d.]+(post\d+|a\d+|b\d+|rc\d+)?", number) for number in pinned(environment).values())
