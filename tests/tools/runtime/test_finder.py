"""A module that is left for later is a stand-in until something of it is used."""

import marshal
import sys
from collections.abc import Iterator

import pytest

from tools.runtime.finder import Finder

MODULES = {
    "stood": "LOADED.append(1)\nvalue = 3\ndef double(x):\n    return 2 * x\n",
    "user": "import stood\n",
}
LOADED: list[int] = []


@pytest.fixture
def finder() -> Iterator[Finder]:
    """Python with two modules in an archive, one of them left for later."""
    found = Finder()
    LOADED.clear()
    for name, source in MODULES.items():
        source = f"from {__name__} import LOADED\n{source}"
        found.modules[name] = (False, marshal.dumps(compile(source, name, "exec")))
    found.late.add("stood")
    sys.meta_path.insert(0, found)
    yield found
    sys.meta_path.remove(found)
    for name in MODULES:
        sys.modules.pop(name, None)


def test_a_module_left_for_later_is_loaded_when_something_of_it_is_used(finder: Finder) -> None:
    user = __import__("user")
    assert not LOADED and finder.late
    assert user.stood.value == 3
    assert len(LOADED) == 1 and not finder.late
    assert user.stood.double(4) == 8 and len(LOADED) == 1
    assert vars(user.stood)["value"] == 3  # those who hold the stand-in hold all of the module from now on


def test_while_its_archive_is_not_there_it_fails_and_is_tried_again(finder: Finder) -> None:
    user = __import__("user")
    code = finder.modules.pop("stood")
    for _ in range(2):
        with pytest.raises(ImportError):
            user.stood.double(1)
    finder.modules["stood"] = code
    assert user.stood.double(1) == 2
