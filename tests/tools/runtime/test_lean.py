"""What comes later is a stand-in until it is used; what stands in place of Pyodide's own does what its start asks."""

import marshal
import sys
from collections.abc import Iterator

import pytest

from tools.runtime.finder import Finder
from tools.runtime.lean import INSTEAD, LINES, base, docstring, lean

MODULES = {
    "stood": "LOADED.append(1)\nvalue = 3\ndef double(x):\n    return 2 * x\nclass Kind(int): pass\n",
    "user": "import stood\nfrom stood import double, Kind\n",
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
    found.late["stood"] = (False, ("double", "Kind"))
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
    assert user.double(4) == 8 and user.stood.double(4) == 8 and len(LOADED) == 1


def test_what_is_only_called_is_there_before_its_module(finder: Finder) -> None:
    user = __import__("user")
    assert user.double(21) == 42 and len(LOADED) == 1
    assert vars(user.stood)["value"] == 3  # those who hold the stand-in hold all of the module from now on


def test_a_value_is_of_the_kind_that_was_left_for_later(finder: Finder) -> None:
    user = __import__("user")
    assert not LOADED and not isinstance(3, user.Kind) and len(LOADED) == 1
    assert isinstance(user.Kind(3), user.Kind) and isinstance(user.Kind(3), user.stood.Kind)


def test_while_its_archive_is_not_there_it_fails_and_is_tried_again(finder: Finder) -> None:
    user = __import__("user")
    code = finder.modules.pop("stood")
    for _ in range(2):
        with pytest.raises(ImportError):
            user.double(1)
    finder.modules["stood"] = code
    assert user.double(1) == 2


def test_a_stand_in_is_a_package_only_where_the_module_is_one(finder: Finder) -> None:
    stood = __import__("stood")
    with pytest.raises(AttributeError):
        _ = stood.__path__
    assert not LOADED


def test_a_file_that_is_no_longer_as_it_was_is_said() -> None:
    files = {name: "\n".join(["", *lines]).encode() for name, lines in LINES.items()}
    changed = lean(files)
    assert {*changed} == {*files, *INSTEAD}
    for name, lines in LINES.items():
        for old in lines:
            assert old.encode() not in changed[name]
            with pytest.raises(ValueError, match="has no line"):
                lean({**files, name: files[name].replace(old.encode(), b"")})


def test_the_value_of_a_text_is_that_of_its_last_expression() -> None:
    names: dict[str, object] = {"b": 2}
    assert base.eval_code("a = 3\na * b", names) == 6 and names["a"] == 3
    assert base.eval_code("{}") == {} and base.eval_code("c = 1", names) is None and base.eval_code("") is None


def test_a_name_is_a_module_or_a_part_of_one() -> None:
    import os.path

    assert base.pyimport_impl("os") is os and base.pyimport_impl("os.path") is os.path
    assert base.pyimport_impl("os.sep") == os.sep
    assert base.pyimport_impl("tools.runtime.lean.base") is base
    with pytest.raises(ImportError):
        base.pyimport_impl("os.no_such_name")


def test_what_help_would_say_of_a_method_is_its_name() -> None:
    assert docstring.get_cmeth_docstring(sum) == "sum()\n--\n\n"
