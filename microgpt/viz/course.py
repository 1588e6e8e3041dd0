"""PAGES: what exists. One entry a page, in reading order. Knows no HTML."""

from __future__ import annotations

from typing import NamedTuple

from microgpt.errors import N_, UserError
from microgpt.weights import SHIPPED


class Page(NamedTuple):
    """A page of the site; `name` is its file name without .html.

    A lesson has a widget: microgpt/viz/lessons/<widget>.py computes what templates/lessons/<widget>/ places: in
    widget.html the picture, in prose.html the text below it, in figure.svg the figure to save; style.css says how the
    widget looks. An app is a page that is no lesson, made in the same way: viz/apps/, templates/apps/. `live` says
    what the reader can send to Python: "text" (a prompt for one of `models`), "steps" (the same, and token by token),
    "form" (the widget brings a form along) or nothing.
    """

    name: str
    label: str  # two or three words, for the map
    title: str  # the question that the page asks
    summary: str
    widget: str = ""
    model: str = ""
    prompt: str = ""
    try_: str = ""
    notice: str = ""
    number: int = 0  # of the lesson; two pages may share one
    needs: tuple[str, ...] = ()  # the lessons that this one builds on, without those that they need themselves
    sources: tuple[str, ...] = ()  # what it rests on, by keys of viz/text/sources.py
    live: str = "text"
    models: tuple[str, ...] = SHIPPED
    extra: str = ""  # a second template of the widget, below it, which answers to the first leave alone
    app: str = ""
    hero: str = ""  # the widget whose figure stands for a page that has none
    frames: bool = False  # it shows other pages of the site in frames
    still: bool = False  # drawn from a file beside the site, which Python in the browser does not have
    recorded: str = ""  # where the model ran, if not here, and what is different in it
    nav: str = ""  # how the head of every page names it, if it does
    styles: tuple[str, ...] = ()  # folders of templates/ with more style that it needs

    @property
    def folder(self) -> str:
        """Where what it places lies, beside the package."""
        return f"templates/lessons/{self.widget}" if self.widget else f"templates/apps/{self.app}"

    @property
    def shown(self) -> str:
        """The lesson or app whose view the page shows; "" where it needs none."""
        return self.widget or self.app


PAGES = (
    Page(
        "index",
        N_("Start"),
        N_("The KV cache of a GPT, made visible"),
        N_("Without a cache, a GPT computes the keys and values of its whole text again for every token that it adds."),
        model="names",
        prompt="emm",
        app="front",
        hero="why_q",
        nav=N_("Course"),
    ),
    Page(
        "next-token",
        N_("Next token"),
        N_("How does a GPT write a sentence, one token at a time?"),
        N_(
            "A GPT does one thing: it reads a text and says what may come next. To write a sentence it does so again "
            "and again, each time with one more token at the end. Here is every pass of that loop."
        ),
        "loop",
        "stories",
        "The next day is bright",
        N_("go from pass to pass, and follow one pass from the text to the token that it adds."),
        N_("every pass runs the whole text, and most of it has run before."),
        number=1,
        sources=("microgpt", "gpt2", "llama3", "nanogpt", "bpe", "degeneration"),
    ),
    Page(
        "attention",
        N_("Attention"),
        N_("How does a token look back?"),
        N_(
            "To say what comes next, a token must know what came before it. Attention fetches that, with a few "
            "products, one softmax and one weighted sum. Here is all of it for one token, small enough to redo on "
            "paper."
        ),
        "attention",
        "names",
        "emm",
        N_("go from key to key and redo one line on paper, then let the triangle grow step by step."),
        N_("the weights add up to one, and each step adds one row to the triangle without touching the others."),
        number=2,
        needs=("next-token",),
        sources=("attention", "microgpt"),
        models=("names", "names-deep"),
    ),
    Page(
        "kv-cache",
        N_("Letters"),
        N_("Why does a GPT keep K and V, and throw Q away?"),
        N_(
            "A GPT writes one token at a time. For every token it computes three small vectors: a query q, a key k "
            "and a value v. Two of them are kept for all later steps. Here is each one of them, in a model that "
            "has learned to write first names letter by letter."
        ),
        "stepper",
        "names",
        "emm",
        N_("step from token to token, or walk the seven stages of one step."),
        N_("every step adds one row of K and V, reads all the rows, and leaves no row of q."),
        number=3,
        needs=("attention",),
        sources=("attention", "microgpt", "makemore", "transformers"),
        live="steps",
    ),
    Page(
        "kv-cache-words",
        N_("Words"),
        N_("The same cache, with words: two layers, and heads that share"),
        N_(
            "This model writes short sentences word by word. It has two layers, and each pair of query heads shares "
            "one key head and one value head, so its cache is half of what it would be without sharing. Its keys are "
            "rotated by their position before they are kept."
        ),
        "stepper",
        "stories",
        "The next day is bright",
        N_("step from token to token, or walk the seven stages of one step."),
        N_("every step adds one row of K and V to each layer, and leaves no row of q."),
        number=3,
        needs=("kv-cache",),
        sources=("rope", "gqa", "transformers"),
        live="steps",
    ),
    Page(
        "with-and-without",
        N_("With and without"),
        N_("What does the cache save, and is the answer the same?"),
        N_(
            "One text, run twice by the same model. With the cache, each step runs one token and reads what was kept "
            "of the others. Without it, nothing is kept, and every step runs the whole text again."
        ),
        "compare",
        "names",
        "emm",
        N_("go through the steps, and watch the rows that are computed again."),
        N_("the logits are the same in both runs, while the work without the cache grows and grows."),
        number=4,
        extra="live",
        styles=("live",),
        needs=("kv-cache",),
        sources=("scaling", "picogpt", "gpt2"),
    ),
    Page(
        "why-q",
        N_("Why not q"),
        N_("How long does each q, k and v live?"),
        N_(
            "Every row that the model makes is born at one step. Here is each of them, with the steps at which it was "
            "read. One kind dies young."
        ),
        "why_q",
        "names",
        "emm",
        N_("follow one token from left to right; then ask its q again, below."),
        N_("a q is read in one column only, and would say nothing new in any other."),
        number=5,
        needs=("kv-cache",),
        sources=("attention", "mqa", "microgpt"),
    ),
    Page(
        "inside",
        N_("Inside"),
        N_("What happens to one token on its way through the model?"),
        N_(
            "A token enters as one row of numbers and leaves as a guess about the next one. Here is every stop in "
            "between, with its real shape and its real numbers; then the place where tokens meet; then all that the "
            "model is made of."
        ),
        "inside",
        "names",
        "emm",
        N_("follow one token from top to bottom, then swap another and see which stops notice."),
        N_("of all that a step makes, only k and v outlive it, and tokens meet in attention alone."),
        number=6,
        needs=("attention",),
        sources=("attention", "rmsnorm", "memories", "bert-heads", "lora", "gpt2", "smollm2"),
    ),
    Page(
        "old-rows",
        N_("Old rows"),
        N_("Why does a row, once written, stay right?"),
        N_(
            "A cache is only as good as its oldest row. Change something and see which rows a fresh run would write "
            "differently, layer by layer."
        ),
        "old_rows",
        "names-deep",
        "emma",
        N_("change an early token, then append one."),
        N_("a change makes rows below and to the right of it stale, never above; an appended token makes none stale."),
        number=7,
        needs=("inside", "kv-cache"),
        sources=("attention", "paged", "vllm"),
    ),
    Page(
        "training",
        N_("Training"),
        N_("Does training need a cache?"),
        N_(
            "A model learns from whole texts at once, so nothing is ever computed twice. It could use a cache all the "
            "same. Here is what would flow through it, and the training itself."
        ),
        "training",
        "names",
        "emma",
        N_("look at the mask, then train the model below from its first step."),
        N_("the losses are the same with and without a cache; early rows learn most from those who read them later."),
        number=8,
        needs=("kv-cache",),
        sources=("microgpt", "makemore", "adam"),
        extra="live",
    ),
    Page(
        "prefill-and-decode",
        N_("Prefill and decode"),
        N_("Why is the first token slow to come, and each later one quick?"),
        N_(
            "Before a model can write, it must read the prompt. It reads all of it in one big pass, then writes one "
            "token per pass. Both use the same function and fill the same cache, but they keep a processor busy in "
            "very different ways."
        ),
        "prefill",
        "stories",
        "The next day is bright",
        N_("run the prompt at once, in chunks, or token by token."),
        N_("the rows come out the same; how often the weights must be read does not."),
        number=9,
        needs=("with-and-without",),
        sources=("scaling", "chunked", "speculative", "flash", "paged", "a100", "llama3"),
    ),
    Page(
        "memory",
        N_("Memory"),
        N_("What does the cache cost in memory?"),
        N_(
            "The work that a cache saves is paid for with room. How much follows from a few numbers, for this model "
            "and for the largest ones."
        ),
        "memory",
        "names",
        "emm",
        N_("choose a model and see what its cache is multiplied from; compare two that differ in one factor."),
        N_("weights are read once for all texts of a step, the cache of each text for itself."),
        number=10,
        needs=("kv-cache",),
        sources=("scaling", "paged", "gpt2", "smollm2", "llama2", "llama3", "deepseek-v3"),
        live="form",
    ),
    Page(
        "fewer-heads",
        N_("Fewer heads"),
        N_("Does every query head need its own keys and values?"),
        N_(
            "What is kept for a token grows with the number of key and value heads. Several query heads can share one, "
            "or all can read a single short row. Here is one model in each of these ways."
        ),
        "heads",
        "stories",
        "The next day is bright",
        N_("take heads away, and see what is kept and what the model then writes."),
        N_("the query heads stay; only what they read becomes less."),
        number=11,
        needs=("memory",),
        sources=("mqa", "gqa", "deepseek-v2", "deepseek-v3", "smollm2", "llama3"),
    ),
    Page(
        "most-read",
        N_("Most attention"),
        N_("Which key gets the most attention?"),
        N_(
            "Every query reads every row of the cache that it may see. It does not give each the same weight. Here is "
            "what each row has received, head by head, over all steps."
        ),
        "most_read",
        "stories",
        "The next day is bright",
        N_("go from head to head, and look for a row that stands out."),
        N_("how often a row is read follows from its place; how much weight it gets does not."),
        number=12,
        needs=("kv-cache",),
        sources=("sinks", "h2o"),
    ),
    Page(
        "in-your-code",
        N_("In your code"),
        N_("How do you use a cache in your own code?"),
        N_(
            "The loop that writes a text is short in every library. Here it is in plain NumPy, with this package and "
            "with transformers: what to feed, what comes back, and what goes wrong."
        ),
        "in_your_code",
        "stories",
        "The next day is bright",
        N_("go from pass to pass, then read the lines that are lit in each listing."),
        N_("with a cache one id goes in per pass, and only the length of what is kept grows."),
        number=13,
        needs=("prefill-and-decode", "fewer-heads"),
        sources=("transformers", "llama3", "gpt2"),
        live="",
        models=("stories",),
        extra="live",
        styles=("live",),
    ),
    Page(
        "pages",
        N_("Pages"),
        N_("How do many texts share one memory?"),
        N_(
            "An engine serves many texts at once, and each has a cache that grows. Nobody knows how long it will get. "
            "Here two texts take turns in one memory that is cut into small blocks."
        ),
        "pages",
        "names-deep",
        "li",
        N_("step through the turns, and follow a row from its text through the table to its slot."),
        N_("no room is kept for rows to come, and what one text gives back the other takes."),
        number=14,
        needs=("memory",),
        sources=("paged", "vllm", "nano-vllm", "sglang"),
        models=("names", "names-deep"),
    ),
    Page(
        "shared-prefixes",
        N_("Sharing"),
        N_("What do texts that begin alike share?"),
        N_(
            "Many texts that an engine serves begin with the same tokens: the same instructions, the same question "
            "asked twice. Their first rows are equal. Here several texts hold the same blocks, and each runs the rest."
        ),
        "sharing",
        "names-deep",
        "christ",
        N_("step through what happens to four texts, and follow each line through the blocks that its text holds."),
        N_("a block is kept once, however many lines run through it; after a changed token nothing is found."),
        number=15,
        needs=("pages", "old-rows"),
        sources=("paged", "radix", "vllm", "nano-vllm", "sglang"),
        models=("names-deep",),
    ),
    Page(
        "many-at-once",
        N_("Many at once"),
        N_("How does one model answer many people at once?"),
        N_(
            "A pass that writes one token reads all the weights, and a pass that writes a token for each of many texts "
            "reads them once too. So engines run texts together. Who is let in, and when, decides how long each waits."
        ),
        "serving",
        "stories",
        "The next day is bright and",
        N_("change the policy, and go back to the first pass of each: who runs, who waits?"),
        N_("each text writes the same tokens under all policies; only the waiting differs."),
        number=16,
        needs=("prefill-and-decode", "pages"),
        sources=("orca", "sarathi-serve", "paged", "vllm"),
        models=("stories",),
    ),
    Page(
        "guess-and-check",
        N_("Guess and check"),
        N_("Can a small model make a large one quicker?"),
        N_(
            "A large model takes as long to read its weights for one token as for five. So a small model guesses the "
            "next few, and the large one checks all of them in one pass. What is written is still its own."
        ),
        "guess",
        "names-deep",
        "em",
        N_("go through a round: the guesses come, the target checks them, and rows go again."),
        N_("a draft that guesses badly costs time, and never changes the law of what is written."),
        number=17,
        needs=("prefill-and-decode", "pages"),
        sources=("speculative", "vllm"),
        models=("names-deep",),
    ),
    Page(
        "full-cache",
        N_("No more room"),
        N_("What if there is no room for another row?"),
        N_(
            "A cache grows with its text, and memory ends. Then a text must stop, or go on with fewer rows than it "
            "has tokens. Here one text is run in too little room, in the ways that engines and papers propose."
        ),
        "dropping",
        "stories",
        "The next day is bright and",
        N_("change what stays, and look at the shape of what each step can still read."),
        N_("as long as nothing has left, nothing is off; after that each way errs in its own manner."),
        number=18,
        needs=("pages", "old-rows", "most-read"),
        sources=("sinks", "h2o", "snapkv", "llama.cpp", "vllm"),
    ),
    Page(
        "fewer-bits",
        N_("Fewer bits"),
        N_("How many bits does a row need?"),
        N_(
            "A number of the cache takes two bytes in most engines. It may take half of that, or a quarter: then it is "
            "moved to the nearest of a few points, and only the place of that point is kept. Here is what this does to "
            "a row, and to the answer."
        ),
        "bits",
        "stories",
        "The next day is bright and the sun",
        N_("take bits away, then make one channel large, and watch the lines that the numbers may lie on."),
        N_(
            "no number is off by more than half the distance between two lines, and who shares a grid decides how wide "
            "it is."
        ),
        number=19,
        needs=("fewer-heads", "pages"),
        sources=("kivi", "vllm", "llama.cpp", "transformers"),
    ),
    Page(
        "in-pieces",
        N_("In pieces"),
        N_("Does attention need a whole row of scores?"),
        N_(
            "Softmax divides by the sum over all keys, so it seems to need them all at once. It does not: a few keys "
            "at a time are enough, and the answer is the same. This is how FlashAttention works."
        ),
        "pieces",
        "names-deep",
        "adrianna",
        N_("go from tile to tile, and watch what happens to the earlier bars when a larger score comes."),
        N_("nothing is left out: what was summed before is only made smaller."),
        number=20,
        needs=("pages",),
        sources=("online-softmax", "flash", "flash-2", "paged"),
    ),
    Page(
        "latent-row",
        N_("The latent row"),
        N_("Can all heads live on one short row?"),
        N_(
            "Sharing key heads makes rows fewer. One can also keep, for all heads together, a single short row that "
            "keys and values are made of. DeepSeek’s models do. Here is a small model that was trained that way."
        ),
        "latent",
        "stories",
        "The next day is bright and the sun",
        N_("change how the scores are computed, and look at what is made for each head and thrown away again."),
        N_("both ways give the same answer, and what is kept stays one short row per token."),
        number=21,
        needs=("fewer-heads", "pages"),
        sources=("deepseek-v2", "deepseek-v3", "linear-attention", "gated-delta", "transformers"),
        models=("stories",),
    ),
    Page(
        "reading-limit",
        N_("Reading"),
        N_("What limits a card that serves many texts?"),
        N_(
            "A step reads weights and rows, and computes with them. More texts share the weights, but not the rows. "
            "Here is how far that goes on a real card, and what several cards can do."
        ),
        "limit",
        "stories",
        "The next day is bright",
        N_("make the texts longer, and watch where the dots come to a stand."),
        N_("more texts move a dot to the right until rows stop it; the longer the texts, the earlier."),
        number=22,
        needs=("many-at-once", "in-pieces", "fewer-heads"),
        sources=("h100", "scaling", "llama3", "distserve", "vllm"),
    ),
    Page(
        "no-cache",
        N_("No cache"),
        N_("Where is there no cache, or one that never grows?"),
        N_(
            "A GPT may keep its rows because no token sees a later one. Encoders and some new models let tokens see "
            "ahead, and a translator reads a finished text. Here the mask changes, and the rows answer."
        ),
        "masks",
        "names-deep",
        "maria",
        N_("change the mask, and see who reads the new token and which rows go stale layer by layer."),
        N_("without a mask one more token makes every row above the first layer stale."),
        number=23,
        needs=("old-rows", "pages"),
        sources=("t5", "whisper", "fast-dllm", "lora"),
    ),
    Page(
        "exercises-idea",
        N_("Exercises: the idea"),
        N_("Exercises: the idea"),
        N_("The loop, attention by hand, the rows that are kept, and the work that they save."),
        model="stories",
        prompt="The next day is bright",
        app="exercises",
        hero="loop",
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
        hero="heads",
        styles=("lessons/stepper", "large"),
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
        hero="heads",
        styles=("lessons/stepper", "large", "apps/trained/talks"),
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
        hero="heads",
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
        hero="heads",
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
        styles=("apps/look", "lessons/stepper", "lessons/compare", "lessons/why_q", "large"),
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
LESSONS = tuple(page for page in PAGES if page.widget)


class Part(NamedTuple):
    """A part of the course: its title, what it is about, the numbers of its lessons, and the page of its exercises."""

    title: str
    about: str
    lessons: tuple[int, ...]
    sheet: str


PARTS = (
    Part(
        N_("The idea"), N_("One token goes in. What is made, what stays, and what that saves."), (1, 2, 3, 4),
        "exercises-idea",
    ),
    Part(
        N_("Why it is right"), N_("Why q goes, why old rows may stay, and what training has to do with it."),
        (5, 6, 7, 8), "exercises-right",
    ),
    Part(
        N_("What it costs"), N_("The cache is paid for in memory and in reading. How much, and what helps?"),
        (9, 10, 11, 12), "exercises-cost",
    ),
    Part(N_("In your code"), N_("One loop, and the libraries that you write it with."), (13,), "exercises-code"),
    Part(
        N_("What engines do"),
        N_("One memory and one processor serve many texts. What do engines do with the rows?"),
        (14, 15, 16, 17, 18, 19, 20, 21, 22, 23), "exercises-engines",
    ),
)  # fmt: skip


def page(name: str) -> Page:
    """The page of that name."""
    for one in PAGES:
        if one.name == name:
            return one
    raise UserError(N_("There is no page “%(name)s”."), name=name[:40])


def prompt_for(model: str) -> str:
    """A prompt that `model` knows: that of its own stepper, or of the one whose name its own begins with."""
    return next((p.prompt for p in LESSONS if p.widget == "stepper" and model.startswith(p.model)), "")


def part_of(number: int) -> Part:
    """The part of the course that the lesson of that number belongs to."""
    return next(part for part in PARTS if number in part.lessons)
