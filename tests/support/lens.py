"""What the lens says, computed again by what is printed alone."""

import math
import re

ROOM = 1e-6  # what is exactly between two printed numbers may be either
FORMULA = r"(?:exp|[\d\s.,()+×/√−])+"


def value(text: str) -> float:
    """What a formula comes to, by Python."""
    code = text.replace("−", "-").replace("×", "*").replace("\u00a0", " ").replace(",", "").strip()
    return float(eval(re.sub(r"√(\d+)", r"sqrt(\1)", code), {"exp": math.exp, "sqrt": math.sqrt}))


def agrees(formula: str, printed: str) -> bool:
    """Whether the formula comes to what is printed for it, with the decimals that are printed."""
    decimals = len(printed.strip().partition(".")[2])
    return abs(value(formula) - value(printed)) <= 0.5 * 10.0**-decimals + ROOM


def holds(line: str) -> bool:
    """Whether every equation of a line does. What is no formula says of what it is one."""
    said = re.sub(r" \(\d+ others?\)", "", line.replace("\u00a0", " "))
    return all(clause_holds(clause) for clause in said.split("; "))


def clause_holds(clause: str) -> bool:
    if shared := re.fullmatch(r"(?:.*: )?(exp\(.*\)) = (\S+), of (\S+) in all: (\S+)", clause):
        power, raised, total, share = shared.groups()
        return agrees(power, raised) and agrees(f"{raised} / {total}", share)
    parts = [part for part in clause.split(" = ") if re.fullmatch(FORMULA, part)]
    return len(parts) > 1 and all(agrees(*pair) for pair in zip(parts, parts[1:], strict=False))
