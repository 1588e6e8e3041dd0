"""How does a GPT write a sentence, one token at a time?"""

from microgpt.errors import N_
from microgpt.viz.page import Page

PAGE = Page(
    "next-token",
    label=N_("Next token"),
    title=N_("How does a GPT write a sentence, one token at a time?"),
    summary=N_(
        "A GPT does one thing: it reads a text and says what may come next. To write a sentence it does so again "
        "and again, each time with one more token at the end. Here is every pass of that loop."
    ),
    model="stories",
    prompt="The next day is bright",
    spoken=(("es", "cuentos", "El nuevo día es claro"),),
    try_=N_("go from pass to pass, and follow one pass from the text to the token that it adds."),
    notice=N_("every pass runs the whole text, and most of it has run before."),
    sources=("microgpt", "gpt2", "llama3", "nanogpt", "bpe", "degeneration"),
)
