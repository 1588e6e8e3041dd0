"""The colours and type of figures. A figure leaves the site, so it carries what site/css says, in the light theme.

Everything becomes an attribute of its element: style sheets, variables and light-dark() are not read everywhere.
A test holds these colours against site/css. Knows no page and no number.
"""

from __future__ import annotations

INK = {
    "paper": "#fcfcfa", "card": "#ffffff", "ink": "#1b1d21", "soft": "#5b6068", "line": "#dcdcd6", "wash": "#f1f1ec",
    "q": "#0062a3", "k": "#a34a00", "v": "#00694e", "q-wash": "#e9f3fb", "k-wash": "#fdf1e6", "v-wash": "#e6f5f0",
    "q-fill": "#9fcdf0", "k-fill": "#f6c193", "v-fill": "#8fd6bd",
    "new": "#fff3c4", "new-line": "#b78a00", "bad": "#a3132b",
}  # fmt: skip
HEAT = {  # class of a cell -> its colour and that of its number
    "z": ("#f3f3ef", "#000000"),
    "n1": ("#e1e9eb", "#000000"), "n2": ("#cedfe7", "#000000"), "n3": ("#bcd5e3", "#000000"),
    "n4": ("#a3c6d9", "#000000"), "n5": ("#8ab7ce", "#000000"), "n6": ("#71a8c4", "#000000"),
    "n7": ("#5b98ba", "#000000"), "n8": ("#4589af", "#000000"), "n9": ("#2f79a5", "#ffffff"),
    "n10": ("#236899", "#ffffff"), "n11": ("#17568c", "#ffffff"), "n12": ("#0b4580", "#ffffff"),
    "p1": ("#f1e7df", "#000000"), "p2": ("#eedbcf", "#000000"), "p3": ("#eccfbf", "#000000"),
    "p4": ("#e4bca6", "#000000"), "p5": ("#dbaa8d", "#000000"), "p6": ("#d39774", "#000000"),
    "p7": ("#ca855c", "#000000"), "p8": ("#c27244", "#000000"), "p9": ("#b9602c", "#000000"),
    "p10": ("#a74e21", "#ffffff"), "p11": ("#943b15", "#ffffff"), "p12": ("#82290a", "#ffffff"),
}  # fmt: skip
RAMP = [HEAT[name][0] for name in (*(f"n{i}" for i in range(12, 0, -1)), "z", *(f"p{i}" for i in range(1, 13)))]
BARS = {  # what a bar stands for -> its colour, where that is not a name of INK
    "with": "ink",
    "wt": "q",
    "pr": "soft",
    "own": "soft",
    "fresh": "new-line",
    "weights": "soft",
    "off": "new-line",
    "needed": "new-line",
}
FONTS = "'Segoe UI', Roboto, 'Noto Sans', 'DejaVu Sans', Arial, sans-serif"
MONO = "'Cascadia Mono', 'Roboto Mono', 'Noto Sans Mono', 'DejaVu Sans Mono', Consolas, monospace"
ANCHORS = {"middle": 0.5, "end": 1.0}  # how much of a text is left of its x
SMALL = 13  # the size of text that says nothing else, and the smallest there is

TEXT_KINDS = {  # one word of a kind of text -> the attributes that it stands for
    **{name: {"fill": colour} for name, colour in INK.items()},
    "bold": {"font-weight": "600"},
    "slant": {"font-style": "italic"},
    "tok": {"font-family": MONO, "unicode-bidi": "isolate"},
    "end": {"text-anchor": "end"},
    "mid": {"text-anchor": "middle"},
    "struck": {"text-decoration": "line-through"},
    "faint": {"opacity": "0.55"},
    "white": {"fill": "#ffffff"},
}


def attributes(kind: str = "") -> dict[str, str]:
    """Those of a kind of text: "17 bold q end" is a size, a weight, a colour and where its x is."""
    found: dict[str, str] = {}
    for word in kind.split():
        found |= {"font-size": word} if word.isdigit() else {"fill": word} if word[0] == "#" else TEXT_KINDS[word]
    return found


def colour(name: str) -> str:
    """The colour of a bar or of anything else that has a name; one of heat as it is."""
    return name if name[0] == "#" else INK[BARS.get(name, name)]
