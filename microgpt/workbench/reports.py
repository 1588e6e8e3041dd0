"""The reports of `forward`, put back where the reader has deleted them: without them a machine has nothing to draw.

Each stands below the assignment that it reports, as in the text. Lines keep their numbers. Positions are those that
whoever listens gives them: a text runs token by token.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

LOOP = "layer"  # what the loop over the layers counts
# by what is reported: the name that the text gives it, and what stands on the right of its assignment
INSIDE = {
    "attn_norm": ("a", "'attn_norm'"), "q": ("q", "'wq'"), "k": ("k", "'wk'"), "v": ("v", "'wv'"),
    "attn_scores": ("scores", "attn_scores("), "attn_weights": ("weights", "softmax("), "head_out": ("mixed", "mix("),
    "attn_out": ("attn_out", "'wo'"), "mlp_norm": ("m", "'mlp_norm'"), "mlp_hidden": ("hidden", "MLPS["),
    "mlp_out": ("mlp_out", "'fc2'"),
}  # fmt: skip
BEYOND = {"logits": ("logits", "'lm_head'")}  # outside that loop
REPORTS = {*INSIDE, *BEYOND, "embed", "resid_pre", "cache_append", "resid_mid", "resid_final"}


def restore(tree: ast.Module) -> list[str]:
    """The names of the reports that were missing in `forward`, and now are there: `tree` is changed."""
    added, there = list[str](), {*names_in_hooks(tree)}
    if there >= REPORTS:
        return []
    for function in tree.body:
        if not isinstance(function, ast.FunctionDef) or function.name != "forward":
            continue
        if any(one.arg == "hook" for one in (*function.args.args, *function.args.kwonlyargs)):
            assigned = {name for node in ast.walk(function) for name in targets_of(node)}
            restorer = Restorer({*there}, assigned)
            function.body = restorer.body(function.body, [])
            added += restorer.added
    ast.fix_missing_locations(tree)
    return added


def targets_of(one: ast.AST) -> list[str]:
    """What a statement assigns to: a name each; none where it assigns nothing."""
    if isinstance(one, ast.Assign):
        targets = one.targets
    elif isinstance(one, ast.AnnAssign | ast.AugAssign):
        targets = [one.target]
    else:
        return []
    return [ast.unparse(part) for one in targets for part in (one.elts if isinstance(one, ast.Tuple) else [one])]


def names_in_hooks(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "hook" and node.args:
            report = node.args[0]
            if isinstance(report, ast.Tuple) and report.elts and isinstance(report.elts[0], ast.Constant):
                yield str(report.elts[0].value)


class Restorer:
    """Goes through the statements of `forward`, and puts in what is not among the names that are `there`.

    A variable of another name than the text's is known by its value, where nothing is `assigned` to that name.
    """

    def __init__(self, there: set[str], assigned: set[str]) -> None:
        self.there, self.assigned, self.added = there, assigned, list[str]()

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
        value = getattr(one, "value", None)
        if not (names := targets_of(one)) or not isinstance(value, ast.expr):
            return []
        right, inside = ast.unparse(value), LOOP in loops
        if inside and ".append(" in right:
            held = f"{names[0]}.shape[1]" if len(names) > 1 else f"{names[0]}[0].shape[1]"
            return self.report("cache_append", held, one, inside)
        if "x" in names:
            known = {"attn_out": "resid_mid"} if inside else {"embed": "embed"}
            return [put for part, name in known.items() if part in right for put in self.report(name, "x", one, inside)]
        out = list[ast.stmt]()
        for name, (usual, source) in (INSIDE if inside else BEYOND).items():
            if name == "head_out" and len(loops) < 2:
                continue  # there it has been put together again
            if usual in names:
                out += self.report(name, usual, one, inside)
            elif usual not in self.assigned and source in right:
                out += self.report(name, names[0], one, inside)
        return out

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
