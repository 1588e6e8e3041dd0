"""What a page is on paper, as text: Chromium prints it, without JavaScript, for paper has none."""

import re
from io import BytesIO
from typing import Any
from unicodedata import normalize

from playwright.sync_api import Page as Tab
from pypdf import PdfReader

TEXTS = "(found) => found.map((e) => e.textContent)"


def printed(tab: Tab, **options: Any) -> list[str]:
    """The text of each sheet, without white space: where lines break is not the point."""
    reader = PdfReader(BytesIO(tab.pdf(prefer_css_page_size=True, **options)))
    return [bare(sheet.extract_text()) for sheet in reader.pages]


def bare(text: str) -> str:
    return re.sub(r"\s+", "", normalize("NFKC", text))  # the font has ligatures


def texts(tab: Tab, selector: str) -> list[str]:
    """The text of each element, as `printed` writes it."""
    found: list[str] = tab.eval_on_selector_all(selector, TEXTS)
    return [bare(text) for text in found]
