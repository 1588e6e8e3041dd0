"""The reports of `forward`, put back where the reader has deleted them: without them a machine has nothing to draw.

Each stands below the assignment that it reports, as in the text; an assignment to another name than the text's has
none. Lines keep their numbers. Positions are those that whoever listens gives them: a text runs token by token.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

LOOP = "layer"  # what the loop over the layers counts
BEYOND, INSIDE = {"logits": "logits"}, {  # what is reported of a name, outside that loop and inside
    "a": "attn_norm", "q": "q", "k": "k", "v": "v", "scores": "attn_scores", "weights": "attn_weights",
    "attn_out": "attn_out", "m": "mlp_norm", "hidden": "mlp_hidden", "mlp_out": "mlp_out",
}  # fmt: skip


def restore(tree: ast.Module) -> list[str]:
    """The names of the reports that were missing in `forward`, and now are there: `tree` is changed."""
    added = list[str]()
    for function in tree.body:
        if isinstance(function, ast.FunctionDef) and function.name == "forward":
            added += Restorer({*names_in_hooks(function)}).restore(function)
    ast.fix_missing_locations(tree)
    return added


def names_in_hooks(function: ast.FunctionDef) -> Iterator[str]:
    """The names that its hooks report."""
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "hook" and node.args:
            report = node.args[0]
            if isinstance(report, ast.Tuple) and report.elts and isinstance(report.elts[0], ast.Constant):
                yield str(report.elts[0].value)


class Restorer:
    """Goes through the statements of `forward`, and puts in what is not among the names that are `there`."""

    def __init__(self, there: set[str]) -> None:
        self.there, self.added = there, list[str]()

    def restore(self, function: ast.FunctionDef) -> list[str]:
        function.body = self.body(function.body, [])
        return self.added

    def body(self, statements: list[ast.stmt], loops: list[str]) -> list[ast.stmt]:
        """The statements with what was missing, inside loops that count these names."""
        out = list[ast.stmt]()
        for one in statements:
            if isinstance(one, ast.For):
                name = ast.unparse(one.target)
                one.body = self.body(one.body, [*loops, name])
                if name == LOOP:
                    one.body = [*self.report("resid_pre", "x", one.body[0], inside=True), *one.body]
                out += [one, *(self.report("resid_final", "x", one) if name == LOOP else [])]
                continue
            if isinstance(one, ast.If | ast.With):
                one.body = self.body(one.body, loops)
            out += [one, *self.after(one, loops)]
        return out

    def after(self, one: ast.stmt, loops: list[str]) -> list[ast.stmt]:
        """What is missing below a statement."""
        if not isinstance(one, ast.Assign):
            return []
        left, right, inside = ast.unparse(one.targets[0]), ast.unparse(one.value), LOOP in loops
        if inside and ".append(" in right:
            return self.report("cache_append", "keys.shape[1]", one, inside)
        if inside and left == "mixed" and len(loops) > 1:
            return self.report("head_out", "mixed", one, inside)
        if left == "x":
            known = {"attn_out": "resid_mid"} if inside else {"embed": "embed"}
            return [put for part, name in known.items() if part in right for put in self.report(name, "x", one, inside)]
        name = (INSIDE if inside else BEYOND).get(left, "")
        return self.report(name, left, one, inside) if name else []

    def report(self, name: str, value: str, at: ast.stmt, inside: bool = False) -> list[ast.stmt]:
        """The report, where there is none yet, on the line of the statement that it follows."""
        if name in self.there:
            return []
        self.there.add(name)
        self.added.append(name)
        put = ast.parse(f"hook and hook(({name!r}, {value}, 0, {LOOP if inside else -1}))").body[0]
        for node in ast.walk(put):
            ast.copy_location(node, at)
        return [put]
