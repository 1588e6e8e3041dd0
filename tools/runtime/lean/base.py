"""In place of Pyodide's `_pyodide._base` and `pyodide.code`: what its start, `pyimport` and `runPython` ask of them."""

from __future__ import annotations

from _ast import Expr, Expression, PyCF_ONLY_AST
from importlib import import_module
from typing import Any


def eval_code(
    source: str, globals: dict[str, Any] | None = None, locals: dict[str, Any] | None = None, **rest: object
) -> Any:
    """Run `source`; the value of its last statement, if that is an expression."""
    names = {} if globals is None else globals
    tree: Any = compile(source, "<exec>", "exec", PyCF_ONLY_AST)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], Expr) else None
    exec(compile(tree, "<exec>", "exec"), names, locals)
    return eval(compile(Expression(last.value), "<exec>", "eval"), names, locals) if last else None


def pyimport_impl(path: str) -> Any:
    """A module, or one name of it."""
    module, _, name = path.rpartition(".")
    found = import_module(module) if module else None
    return getattr(found, name) if hasattr(found, name) else import_module(path)
