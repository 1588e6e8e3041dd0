"""Hostile texts: markup, scripts, directions, invisible and broken characters, huge numbers. Each carries a mark, so
that it is found again wherever it comes out. Knows no page."""

from random import Random
from typing import Any

MARK = "xss"
MARKUP = (
    "<xss-{n}>", "<xss-{n} onload=xss()>", "</span><xss-{n}>", '"><xss-{n}>', "'><xss-{n}>", '" onfocus=xss-{n} x="',
    "' onerror='xss-{n}", "<script>xss-{n}</script>", "<svg onload=xss-{n}>", "]]><xss-{n}>", "--><xss-{n}>",
    "<img src=x onerror=xss-{n}>", "&lt;xss-{n}&gt;", "&#60;xss-{n}&#62;", "javascript:xss-{n}", "{{{{ xss-{n} }}}}",
    "{{% xss-{n} %}}", "%(xss)s", "%s%d%n", "${{xss-{n}}}", "<!--xss-{n}", "<style>xss-{n}{{}}", "\"'`<xss-{n}>`",
    "<math><mtext><xss-{n}>", "“<xss-{n}>”", "«\"><xss-{n}>»", "<a href=javascript:xss-{n}>",
    "data:text/html,<xss-{n}>",
)  # fmt: skip
CHARACTERS = (
    "\u202e", "\u202d", "\u2066", "\u2067", "\u2069", "\u200b", "\u200f", "\ufeff", "\u00ad", "\x00", "\x07", "\x0b",
    "\x1b[31m", "\x7f", "\x85", "\u2028", "\u2029", "\ud800", "\udfff", "\udc80", "\ufffe", "\uffff", "\U0010ffff",
    "\U000e0041", "e\u0301\u0301\u0301", "\u0e49" * 40, "\U0001f468\u200d\U0001f469", "ﷺ", "שלום", "مرحبا", "İ", "ß",
    "\r\n", "\t", "\n" * 50, " ", "\u3000", "<s>", "</s>", "\\", "\\u0000", "'", '"', "`", "%", "{", "}", "&", ";",
)  # fmt: skip
NUMBERS = (
    "", " ", "-1", "-0", "0", "1", "2", "3", "7", "8", "00", "1e3", "1e308", "1e309", "-1e400", "nan", "inf", "-inf",
    "Infinity", "NaN", "0x10", "1_000", "１２", "٣", "²", "½", "1.5", "1,5", "9" * 18, "9" * 400, "9" * 5000, "-" * 50,
    "9007199254740993", "18446744073709551616", "1e-320", "4.9e-324", "0.1", "10", "11", "100", "5e-1", "None", "true",
    "[]", "{}", "1\x00", " 4 ", "4\n", "+2", "1.0.0", "1j", "0.0", "2-4", "4-2", "on",
)  # fmt: skip
WRONG_TYPES: tuple[Any, ...] = (None, True, False, 0, 7, -1, 2.5, 10**30, [], ["0"], {}, {"a": "b"}, [[[]]])


def hostile(rng: Random, n: int) -> str:
    """One text. Several kinds may come together."""
    kind = rng.random()
    if kind < 0.35:
        return rng.choice(MARKUP).format(n=n)
    if kind < 0.55:
        return rng.choice(NUMBERS)
    if kind < 0.75:
        return "".join(rng.choice(CHARACTERS) for _ in range(rng.randint(1, 6)))
    if kind < 0.9:
        parts = [rng.choice(MARKUP).format(n=n), rng.choice(CHARACTERS), rng.choice(NUMBERS)]
        rng.shuffle(parts)
        return "".join(parts)
    if kind < 0.97:
        return "".join(chr(rng.choice((rng.randrange(32, 127), rng.randrange(0x110000)))) for _ in range(9))
    return rng.choice(MARKUP).format(n=n) * rng.choice((10, 300))
