"""The pages that are no lessons: the start, the exercises, the glossary, and what is made of trained models."""

from microgpt.errors import N_
from microgpt.viz.page import Page

START = Page(
    "index",
    N_("Start"),
    N_("The KV cache of a GPT, made visible"),
    N_("Without a cache, a GPT computes the keys and values of its whole text again for every token that it adds."),
    model="names",
    prompt="emm",
    app="front",
    hero="why_q",
    nav=N_("Course"),
)
APPS = (
    Page(
        "exercises-idea",
        N_("Exercises: the idea"),
        N_("Exercises: the idea"),
        N_("The loop, attention by hand, the rows that are kept, and the work that they save."),
        model="stories",
        prompt="The next day is bright",
        app="exercises",
        hero="next_token",
    ),
    Page(
        "exercises-right",
        N_("Exercises: why it is right"),
        N_("Exercises: why it is right"),
        N_("Windows, what else could be kept, what a change reaches, and a loss computed by hand."),
        model="names-deep",
        prompt="emma",
        app="exercises",
        hero="old_rows",
    ),
    Page(
        "exercises-cost",
        N_("Exercises: what it costs"),
        N_("Exercises: what it costs"),
        N_("Memory for a deployment, the least times, drafts, shared heads, and a key that is dropped."),
        model="names",
        prompt="emm",
        app="exercises",
        hero="memory",
    ),
    Page(
        "exercises-code",
        N_("Exercises: in your code"),
        N_("Exercises: in your code"),
        N_("A cache to write, with tests, shapes to fill in, turns of a chat, and a test that you can trust."),
        model="stories",
        prompt="The next day is bright",
        app="exercises",
        hero="in_your_code",
    ),
    Page(
        "exercises-engines",
        N_("Exercises: what engines do"),
        N_("Exercises: what engines do"),
        N_("Block tables worked out by hand, readers that fit on a card, and a chat that begins with the time."),
        model="names-deep",
        prompt="li",
        app="exercises",
        hero="pages",
    ),
    Page(
        "glossary",
        N_("Glossary"),
        N_("The words of this course"),
        N_("One short meaning each, a picture from the real model, and the lesson where the word is at work."),
        model="names",
        prompt="emm",
        app="glossary",
        nav=N_("Glossary"),
    ),
    Page(
        "model-that-talks",
        N_("It talks"),
        N_("What does a model that talks keep?"),
        N_(
            "The other models of this course are small enough to be seen whole, and know few words. This one was "
            "trained on much text and writes sentences of its own. Its cache works in the same way, and shows what "
            "only such training brings."
        ),
        model="stories",
        prompt="The next day is bright",
        app="trained/talks",
        hero="fewer_heads",
        styles=("course/kv_cache", "large"),
        still=True,
    ),
    Page(
        "chat-turn",
        N_("It answers"),
        N_("What is a chat to a model?"),
        N_(
            "A question, and the answer of a trained model, token by token: the marks between the turns, words that "
            "are cut in two, and heads that look back at what was asked."
        ),
        model="stories",
        prompt="The next day is bright",
        app="trained/answers",
        hero="fewer_heads",
        styles=("course/kv_cache", "large", "apps/trained/talks"),
        still=True,
    ),
    Page(
        "who-is-she",
        N_("It looks back"),
        N_("Who is “she”?"),
        N_(
            "A text is in the cache, and one more word comes. Here several words ask the same rows, and one head of a "
            "trained model finds the noun of each that stands for one."
        ),
        model="stories",
        prompt="The next day is bright",
        app="trained/refers",
        hero="fewer_heads",
        styles=("large",),
        still=True,
    ),
    Page(
        "model-that-repeats",
        N_("It repeats"),
        N_("Why does it say the same again?"),
        N_(
            "A model that always takes the likeliest token can come back to its own words, and each time it is surer "
            "of them. Here are the same words, round after round, and what becomes of it when the rows of the earlier "
            "rounds are taken out of the cache."
        ),
        model="stories",
        prompt="The next day is bright",
        app="trained/repeats",
        hero="fewer_heads",
        still=True,
    ),
    Page(
        "look-inside",
        N_("Look inside"),
        N_("What is inside a file of weights?"),
        N_(
            "Two well-known models as their files, drawn to scale beside their caches. A file of yours can be looked "
            "into too; it never leaves your computer."
        ),
        app="look",
        nav=N_("Look inside"),
    ),
    Page(
        "own-model",
        N_("Your model"),
        N_("What does a model of your own keep?"),
        N_(
            "Choose the files of GPT-2, SmolLM2-135M or another checkpoint, and this picture is drawn from them, on "
            "your computer alone."
        ),
        app="own_model",
        styles=("apps/look", "course/kv_cache", "course/with_and_without", "course/why_q", "large"),
    ),
    Page(
        "embed-builder",
        N_("Embed"),
        N_("Put it into your course"),
        N_(
            "Every page of the course can stand in a frame: in a lecture, a book, a slide, a notebook. Choose what "
            "your readers see first, and copy the code."
        ),
        app="builder",
        nav=N_("Embed"),
        frames=True,
    ),
)
