"""The words of this course."""

from microgpt.errors import N_
from microgpt.viz.page import Page

PAGE = Page(
    "glossary",
    N_("Glossary"),
    N_("The words of this course"),
    N_("One short meaning each, a picture from the real model, and the lesson where the word is at work."),
    model="names",
    prompt="emm",
    nav=N_("Glossary"),
)
