"""How Python finds modules in the reader's browser: in archives that hold all of them, ready to run.

The build puts this file into the first archive as `sitecustomize`, which Python imports before anything of ours. The
second one comes later, and is added. Two entries of an archive are in marshal's format, MODULES and FILES:

    modules    name -> (whether it is a package, its code in marshal's format)
    late       names of modules that others import and a first step does not use: a stand-in, until something is used

and path below site-packages -> bytes, of all that is no module.

Python's own importer of archives is written in Python: it looks through a list of all files and takes twice as long.
Runs on its own, without the rest of tools/.
"""

from __future__ import annotations

import marshal
import os
import sys
import zipimport

TYPE_CHECKING = False
if TYPE_CHECKING:  # what comes with Python is not there yet
    from types import ModuleType
    from typing import Any

MODULES, FILES = "modules", "files"
PLACE = f"/lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
ModuleSpec: Any = type(sys.__spec__)


class Finder:
    """What of all archives has been added, as one of sys.meta_path."""

    def __init__(self) -> None:
        self.modules: dict[str, tuple[bool, bytes]] = {}
        self.late: set[str] = set()

    def add(self, archive: str) -> None:
        """Take what an archive holds, and write what is no module to where it is looked for."""
        part = marshal.loads(zipimport.zipimporter(archive).get_data(MODULES))
        self.modules |= part["modules"]
        self.late.update(part["late"])
        for name, data in marshal.loads(zipimport.zipimporter(archive).get_data(FILES)).items():
            path = f"{PLACE}/{name}"
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(data)
        sys.path_importer_cache.clear()  # folders have more in them now

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name not in self.modules and name not in self.late:
            return None
        package = name in self.modules and self.modules[name][0]
        place = f"{PLACE}/{name.replace('.', '/')}"
        spec = ModuleSpec(name, self, origin=f"{place}/__init__.py" if package else f"{place}.py", is_package=package)
        spec.has_location = True
        if package:
            spec.submodule_search_locations = [place]
        return spec

    def create_module(self, spec: Any) -> None:
        """Nothing of its own: Python makes the module."""

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__
        if name in self.late:
            vars(module)["__getattr__"] = lambda attribute: getattr(self.real(name), attribute)
        elif code := self.modules[name][1]:
            exec(marshal.loads(code), vars(module))

    def real(self, name: str) -> ModuleType:
        """The module that has been left for later. Raises ImportError while its archive is not there."""
        if name in self.late:
            self.late.remove(name)
            stand_in = sys.modules.pop(name)
            try:
                __import__(name)
            except ImportError:
                self.late.add(name)
                sys.modules[name] = stand_in
                raise
            vars(stand_in).update(vars(sys.modules[name]))  # for those who hold it
        return sys.modules[name]


if __name__ == "sitecustomize":
    FINDER = Finder()
    FINDER.add(globals()["__loader__"].archive)
    sys.meta_path.insert(-1, FINDER)  # before that of paths
