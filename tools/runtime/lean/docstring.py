"""In place of Pyodide's `_pyodide.docstring`, which works out the signatures of its methods for readers of `help`."""

from collections.abc import Callable


def get_cmeth_docstring(method: Callable[..., object]) -> str:
    """What Python takes for a method written in C: a line with its name."""
    return f"{method.__name__}()\n--\n\n"
