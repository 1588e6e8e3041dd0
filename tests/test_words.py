"""The words that readers are told: one word for one thing, as CONTRIBUTING.md lists them, in English and in Spanish."""

import re
from collections.abc import Iterable
from typing import Any

from babel.messages.pofile import read_po

from microgpt.viz.text.place import ROOT

SPANISH = ROOT / "locale" / "es" / "LC_MESSAGES" / "messages.po"
NOT = {  # what is not written -> what is
    r"\bbehind\b": "after",
    r"\b(bytes|numbers|multiply-adds|pass|row|column) an? (token|layer|head|number|byte|position|pass|step)\b": "per",
    r"\bscores? of the last step\b|\bone score (per|for every) token\b": "logit",
    r"\bbend(s|ing)?\b|\bbent\b|\bwidens\b|\bnarrows\b": "activation function, makes wider, brings back",
    r"\bspoil(s|ed)?\b": "makes stale",
    r"\bGiB\b|\bMiB\b": "GB, MB",
    r"\btogether one\b": "together they are one",
}
MEANT = {  # what is meant as it stands: a part of the sentence
    "the numbers behind it",
    "what it leaves behind",
    "what the MLP leaves behind",
    "turn the row of a token",
    "The sum bends",
    "bends towards two",  # curves do
    "a GiB, in which memory is often counted",
}


def messages() -> list[Any]:
    with SPANISH.open("rb") as file:
        return [one for one in read_po(file) if one.id]


def said() -> list[str]:
    """All English strings, which every translation has; of one with a plural, both."""
    return [text for one in messages() for text in ([one.id] if isinstance(one.id, str) else one.id)]


def found_in(texts: Iterable[str], words: dict[str, str]) -> list[str]:
    return [
        f"“{found[0]}”, write {word}: {text}"
        for text in texts
        for pattern, word in words.items()
        if (found := re.search(pattern, text, re.I))
    ]


def test_words_that_are_not_used() -> None:
    meant = re.compile("|".join(map(re.escape, sorted(MEANT))))
    assert len(said()) > 1000
    assert found_in((meant.sub("", text) for text in said()), NOT) == []


NOT_IN_SPANISH = {  # what is not written -> what is
    "[“”]": "«»",
    r"\busted(es)?\b": "tú",
    r"\b(el|un|del) caché\b|(?<!\()\bcache\b": "la caché",
    r"\b(el|un|del) softmax\b|(?<!\bla )(?<!\buna )\bsoftmax\b(?=,? [a-zñ]|\.)": "la softmax",
    r"\bnormas?\b": "normalización",
    r"\b(el|los|del|un|propio) [qkv]\b": "la q, la k, la v",
    r"\bcabezas? de claves\b": "cabeza de clave y valor",
    r"\bcabezal|\bcapa de salida\b": "cabeza, cabeza de salida",
    r"\bcasillas?\b": "celda",
    r"\bdibujos?\b": "imagen",
    r"\btexto inicial\b": "prompt",
    r"\b(fila|q|clave|valor|consulta)s? antigu[ao]s?\b": "vieja, viejo",
    r"\blíneas? de órdenes\b": "línea de comandos",
    r"\bdesecha|\btira [QKV%]": "descarta",
}


def spanish() -> list[tuple[str, str]]:
    """Every Spanish string, with the English one that it stands for."""
    both = [(one.id, one.string) if isinstance(one.id, str) else (one.id[0], *(one.string or "")) for one in messages()]
    return [(str(english), str(text)) for english, *texts in both for text in texts]


def test_words_that_are_not_used_in_spanish() -> None:
    assert len(spanish()) > 1000
    assert found_in((text for _, text in spanish()), NOT_IN_SPANISH) == []


def test_spanish_questions_open_and_sentences_end_as_the_english_ones() -> None:
    for english, text in spanish():
        assert text.count("¿") == text.count("?") and text.count("¡") == text.count("!"), text
        assert english[-1] not in ".:?" or text[-1] == english[-1], text
