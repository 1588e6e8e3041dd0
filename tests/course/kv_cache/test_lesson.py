"""The machine's page: what it opens to."""

import ast
from urllib.parse import parse_qs, urlsplit

import pytest

from microgpt.course import page
from tests.support.pages import find, text, tree_of


@pytest.mark.parametrize("lesson", ["kv-cache", "kv-cache-words"])
def test_it_opens_to_the_functions_that_a_step_runs_and_leads_to_where_they_can_be_changed(lesson: str) -> None:
    (panel,) = find(tree_of(page(lesson)), "open-code")
    code, (link,) = text(next(panel.iter("pre"))), panel.iter("a")
    names = [one.name for one in ast.parse(code).body if isinstance(one, ast.FunctionDef)]
    assert names == ["append", "attn_scores", "softmax", "mix", "decode_step"]
    asked = parse_qs(urlsplit(link.get("href") or "").query)
    assert asked == {"model": [page(lesson).model], "prompt": [page(lesson).prompt]}
