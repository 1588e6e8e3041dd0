"""What states.css is written with: the words, one of which can be chosen."""

from typing import Any

from microgpt.viz.text.glossary import GLOSSARY


def states(big: bool) -> dict[str, Any]:
    return {"slugs": [*GLOSSARY]}
