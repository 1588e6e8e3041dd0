"""In place of `pyodide.code`: what `runPython` asks of it."""

from _pyodide._base import eval_code

__all__ = ["eval_code"]
