"""Programs of a reader's that mean harm, in the workbench, as its hooks and as answers to exercises: each is drawn or
ends in a sentence, soon, and ours stays as it was."""

from base64 import urlsafe_b64encode
from collections.abc import Iterator, Sequence
from functools import cache
from random import Random
from time import process_time
from warnings import simplefilter
from zlib import compress

import numpy as np

from microgpt.apps.workbench.link import link_of
from microgpt.record import Recording
from microgpt.viz.drawing.picture import Picture
from microgpt.viz.lesson import page_named
from microgpt.viz.rendering import render
from microgpt.viz.session import dispatch
from microgpt.weights import shipped
from microgpt.workbench.examine import examine
from microgpt.workbench.exercises import EXERCISES, exercise
from microgpt.workbench.hooks import PREPARED
from microgpt.workbench.original import original
from microgpt.workbench.recording import YourRecording
from microgpt.workbench.yours import Yours, place_of
from tests.attack.answers import unescaped
from tests.attack.part import Order, Part, Seen, source_of
from tests.attack.texts import hostile

SECONDS, LATE = 1.0, 20.0  # of the program's clock; of the whole case
LINES = (  # that stand anywhere in a program
    "while True: pass", "raise SystemExit", "raise BaseException", "1 / 0", "return None", "yield 1", "global np",
    "np = None", "import microgpt.model; microgpt.model.forward = microgpt.model.softmax = None", "params.clear()",
    "config = None", "import builtins; builtins.len = builtins.isinstance = None", "np.seterr(all='raise')",
    "np.float64 = np.array = None", "import sys; sys.setrecursionlimit(50)", "import sys; sys.settrace(None)",
    "import sys; sys.modules.pop('numpy')", "import gc; gc.disable()", "np.zeros((10**7, 10**7))",
    "raise UserError('%(a)s', a='<xss-1>')", "exec('x = (')", "raise ValueError('<xss-1><script>')",
    "class E(Exception): __str__ = None", "del forward", "hook and hook(())", "hook and hook(('q', '<xss-1>', 0, 0))",
    "cache = []", "self._len = 10**9", "self._keys = None", "layer = -1", "x = x * np.nan", "logits = logits[:, :1]",
    "q = k", "k = v.T", "keys = keys[:, ::-1]", "n_ctx = 0", "def forward(*a, **b): return forward(*a, **b)",
)  # fmt: skip
OF_HOOKS = (  # which are told of reports, print and write files
    "raise StopIteration", "report[1][...] = 0", "value = value.base", "value.resize((0,))", "print('<xss-1>' * 10**6)",
    "open('a.csv', 'w').write('x' * 10**7)", "open('<xss-1>.txt', 'wb').write(b'\\xff')", "import os; os.chdir('/')",
    "import os; os.mkdir('folder')", "name = value = None", "hook = None", "hook = hook.missing", "return hook(report)",
    "print(end=str(value) * 99)", "import sys; sys.stdout = None", "import sys; sys.stdout.close()",
)  # fmt: skip
WORDS = tuple(
    "new self._len keys values q k v x scores mask None 0 -1 n_head layer report name value rows append".split()
)


def named(scale: float, order: Order) -> list[str]:
    return [str(i) for i in range(max(1, round(400 * scale)))]


def fragment(rng: Random, n: int) -> str:
    """What the fragment of an address may hold: a program, one that is damaged, a bomb, or no link at all."""
    edit = link_of(program(rng, n)).partition("=")[2] or "A"
    kind, at = rng.random(), rng.randrange(len(edit))
    if kind < 0.3:
        return edit
    if kind < 0.6:
        return edit[:at] + rng.choice(("", "A", "_", hostile(rng, n)[:9])) + edit[at + rng.randrange(3) :]
    if kind < 0.7:
        return hostile(rng, n)
    told = [
        f"@{rng.randrange(400)}",
        "-",
        "+",
        f"+{hostile(rng, n)}",
        "+\n" * 10 ** rng.randrange(6),
        "@-1",
        "+x\n@5\n",
    ]
    data = "\n".join(rng.choices(told, k=rng.randint(1, 9))).encode("utf-8", "surrogatepass")
    return urlsafe_b64encode(compress(data * rng.choice((1, 1, 1, 99)), 9)).decode()


def judged_link(name: str, edit: str) -> Seen:
    """Open a link: it is shown or refused, soon, and nothing of it runs."""
    try:
        places, wrong = pressed("workbench", "start", {"edit": edit})
    except Exception as error:
        return Seen(name, source_of(error), "exceptions", about=edit)
    refused = places == ["#prompt-error"]
    if not refused and places != ["#edit", "#prompt-error"]:
        wrong = wrong or "it has run"
    kind = f"a link {'refused in a sentence' if refused else 'shown as a difference'}"
    return Seen(name, wrong, kind, about=edit if wrong else "")


def pressed(page: str, hook: str, typed: dict[str, str]) -> tuple[list[str], str]:
    """What a press of that button answers to, and what is wrong with it."""
    begin, fields = process_time(), {"page": page, "lang": "en", "model": "names", "prompt": "em", **typed}
    _, patches = dispatch(None, hook, fields)
    wrong = unescaped("".join(one.get("html", "") for one in patches))
    late = "late" if process_time() - begin > LATE else ""
    return [one.get("target", "") for one in patches], wrong or late  # a patch may call for the next answer


def program(rng: Random, n: int) -> str:
    """The original, damaged."""
    return damaged(original(), LINES, rng, n)


def damaged(text: str, harm: Sequence[str], rng: Random, n: int) -> str:
    """A program with such lines in it, words swapped, lines moved, or something that is no program."""
    if rng.random() < 0.05:
        return hostile(rng, n)
    lines = text.split("\n")
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        at = rng.randrange(len(lines))
        space = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
        kind = rng.random()
        if kind < 0.4:
            lines.insert(at, space + rng.choice(harm))
        elif kind < 0.6:
            lines[at] = lines[at].replace(rng.choice(WORDS), rng.choice(WORDS))
        elif kind < 0.75:
            del lines[at]
        elif kind < 0.9:
            lines[at], lines[at - 1] = lines[at - 1], lines[at]
        else:
            lines[at] = lines[at] + hostile(rng, n)[:200]
    return "\n".join(lines)


@cache
def usual() -> list[bytes]:
    """What our own code gives, before any program has run."""
    trace = Recording(shipped("names"), "em", max_new=1).run()
    return [np.asarray(event.value).tobytes() for event in trace]


def attack(names: Sequence[str], order: Order) -> Iterator[Seen]:
    simplefilter("ignore")
    usual()
    for name in names:
        rng, n = Random(order.of(name)), int(name)
        if n % 4 == 3:
            yield judged_link(name, fragment(rng, n))
        elif n % 8 == 0:
            text = damaged(rng.choice(PREPARED).text, LINES + OF_HOOKS, rng, n)
            yield judged_answer(name, "workbench", "run", {"hook": text}, "a hook")
        elif n % 8 == 4:
            one = exercise(rng.choice(EXERCISES))
            text = damaged(rng.choice((one.solution, one.starter)), LINES, rng, n)
            yield judged_answer(name, "write-it", "test", {"exercise": one.name, one.name: text}, "an exercise")
        else:
            yield judged(name, program(rng, n))


def judged_answer(name: str, page: str, hook: str, typed: dict[str, str], what: str) -> Seen:
    """Press the button of a page with what was typed there: an answer, soon, and ours is as before."""
    about = "\n".join(typed.values())
    try:
        places, wrong = pressed(page, hook, typed)
    except BaseException as error:
        return Seen(name, source_of(error), "exceptions", about=about)
    if page == "workbench" and "#widget" not in places:
        wrong = wrong or "a hook has taken the picture away"
    if usual.__wrapped__() != usual():
        wrong = "ours is not what it was"
    passed = any(place.startswith("#tick") for place in places)
    kind = f"{what}, {'solved' if passed else 'answered'}"
    return Seen(name, wrong, kind, about=about if wrong else "")


def judged(name: str, text: str) -> Seen:
    """Run it and draw it, and look at what is said; then run ours."""
    begin = process_time()
    try:
        kind, said, html = tried(text)
    except BaseException as error:
        return Seen(name, source_of(error), "exceptions", about=text)
    wrong = unescaped(html)
    if any(len(one) > 500 or not one.isprintable() for one in said):
        wrong = "no sentence"
    if process_time() - begin > LATE:
        wrong = "late"
    if usual.__wrapped__() != usual():
        wrong = "ours is not what it was"
    return Seen(name, wrong, kind, about=text if wrong else "")


def tried(text: str) -> tuple[str, list[str], str]:
    """What came of a program in a word, what is said of it, and its picture."""
    model, said, html = shipped("names"), list[str](), ""
    try:
        yours = Yours(text, seconds=SECONDS)
    except Exception as error:
        return "not loaded, with a sentence", [str(place_of(error).error)], ""
    try:
        recording = YourRecording(yours, model, "em", max_new=1)
        while not recording.has_ended:
            recording.step()
        html = render.widget("kv_cache", Picture(recording.trace), page_named("kv-cache"))
    except Exception as error:
        said.append(str(place_of(error).error))
    yours.left = SECONDS
    outcomes = examine(yours, model, model.tokenizer.encode("emma"))
    said += [str(one.finding.error) for one in outcomes if one.finding]
    found = "found by a check" if any(one.finding for one in outcomes) else "as good as ours"
    return f"stopped with a sentence, {found}" if not html else f"drawn, {found}", said, html


PART = Part(
    tried="programs in the workbench: the original with lines that harm, loop, lie or change what is ours, "
    "words swapped, lines moved and deleted; hooks and answers to exercises of the same kind; links that bring such "
    "programs, damaged ones and bombs",
    cases=named,
    attack=attack,
    at_once=100,
    patience=120,
    memory=6 << 30,
)
