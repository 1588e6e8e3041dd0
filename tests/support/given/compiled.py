"""Templates that are compiled once for all processes of tests, and on the same bytes never again: each process would
take seconds for it. They lie in the cache folder, as what has been proved does."""

import marshal
import os
import sys
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import CodeType
from typing import TypeVar

import jinja2

from microgpt.viz.rendering import render
from tools.runtime.fetch import default_cache


def keep_templates() -> None:
    """From now on, in this process: what runs, and the Python that a site packs."""
    vars(render)["as_python"] = cache(kept(render.as_python))
    vars(render)["compile_template"] = cache(kept(render.compile_template))


Made = TypeVar("Made", str, CodeType)


def kept(make: Callable[[str, str], Made]) -> Callable[[str, str], Made]:
    maker = Path(render.__file__).read_text("utf-8")  # which says how they are compiled

    def compile_template(name: str, text: str) -> Made:
        said = "\0".join((make.__name__, sys.version, jinja2.__version__, maker, str(render.where(name)), text))
        path = default_cache() / "templates" / sha256(said.encode()).hexdigest()
        try:
            code: Made = marshal.loads(path.read_bytes())
        except (OSError, EOFError, ValueError, TypeError):  # not there, or cut off
            code = make(name, text)
            path.parent.mkdir(parents=True, exist_ok=True)
            whole = path.with_suffix(f".{os.getpid()}")
            whole.write_bytes(marshal.dumps(code))
            whole.replace(path)
        return code

    return compile_template
