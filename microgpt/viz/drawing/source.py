"""Which statement of a source stands directly above each report to `hook`: how pages name the line that runs.

Needed where the source is, when the site is built: what it finds goes to the browser (phases.FORWARD_FILE).
"""

from __future__ import annotations

import ast
import textwrap
from itertools import pairwise


def statements_by_event(source: str) -> dict[str, str]:
    """Event -> the statement directly above the one in which `hook` is told of it, however the two are written."""
    lines, found = source.splitlines(), dict[str, str]()
    for node in ast.walk(ast.parse(source)):  # from outside inwards: what is found last is nearest to the report
        for block in (getattr(node, "body", None), getattr(node, "orelse", None)):
            for above, statement in pairwise(block if isinstance(block, list) else []):
                text = textwrap.dedent("\n".join(lines[above.lineno - 1 : above.end_lineno])).strip()
                found |= dict.fromkeys(events_in(statement), text)
    return found


def events_in(statement: ast.stmt) -> list[str]:
    """The events of which `hook` is told in it."""
    calls = [node for node in ast.walk(statement) if isinstance(node, ast.Call)]
    reports = [call.args[0] for call in calls if isinstance(call.func, ast.Name) and call.func.id == "hook"]
    names = [report.elts[0] for report in reports if isinstance(report, ast.Tuple)]
    return [str(name.value) for name in names if isinstance(name, ast.Constant)]
