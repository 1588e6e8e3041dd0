"""Programs that a reader might write: changes of the original, by its own lines; and what a fault of the shelf does."""

from collections.abc import Sequence

import numpy as np

from microgpt.config import Array
from microgpt.weights import Model
from microgpt.workbench.examine import SIX, checks_of, run_check
from microgpt.workbench.original import original
from microgpt.workbench.shelf import Bug
from microgpt.workbench.trial import Trial, expect
from microgpt.workbench.yours import Yours

FIRST = "    norm, eps = NORMS[config.norm], config.norm_eps\n"  # of forward
LAST = "    return logits\n\n\ndef batch_texts"
OLD = "        old, new = self._len, self._len + len(k)\n"  # in append
ROWS = "        return self._keys[:, :new], self._values[:, :new], range(new)\n"
HELD = "    def __len__(self) -> int:\n        return self._len\n"
SAMPLING = "    check_sampling(temperature, top_k)\n"  # the first line of generate
LAYERS = "        self.layers = ["
CROP = '    def crop(self, n: int) -> None:\n        """Keep the first n tokens'  # of the whole cache
LOGITS = "    logits = times(x, params.get("
Q = 'hook and hook(("q", q, start, layer))'


def changed(*pairs: tuple[str, str]) -> str:
    """The original with the first of each text replaced by the second."""
    text = original()
    for old, new in pairs:
        assert old in text, old
        text = text.replace(old, new, 1)
    return text


def at_first(lines: str) -> str:
    return changed((FIRST, FIRST + "".join(f"    {line}\n" for line in lines.split("\n"))))


def at_last(line: str) -> str:
    return changed((LAST, f"    {line}\n\n\ndef batch_texts"))


def handing_out(what: str) -> str:
    return changed((ROWS, f"        return {what}\n"))


def after(line: str) -> str:
    return f"{original()}\n{line}\n"


def line_of(text: str, part: str) -> int:
    return next(number for number, line in enumerate(text.split("\n"), 1) if part in line)


FOREVER = {  # and a part of the first line of what does not end
    "forward": (at_first("while True: pass"), "while True: pass"),
    "forward, on two lines": (at_first("while True:\n    pass"), "while True:"),
    "append": (changed((OLD, OLD + "        while True:\n            1 + 1\n")), "while True"),
    "__len__": (changed((HELD, "    def __len__(self) -> int:\n        while True: pass\n")), "while True: pass"),
    "class body": (changed(("    def __len__", "    while True: pass\n\n    def __len__")), "while True: pass"),
    "top of the module": (after("while True: pass"), "while True: pass"),
    "except Exception": (at_first("while True:\n    try: 1 + 1\n    except Exception: 2 + 2"), "while True"),
    "except BaseException": (at_first("while True:\n    try: 1 + 1\n    except BaseException: 2 + 2"), "while True"),
    "finally": (at_first("while True:\n    try: 1 + 1\n    finally: continue"), "while True"),
    "comprehension": (at_first("[0 for _ in iter(int, 1)]"), "iter(int, 1)"),
    "inside of sum": (at_first("sum(iter(lambda: 0, 1))"), "sum(iter("),
    "a list that grows": (at_first("some = [0]\nfor one in some: some[0:1] = [1, 2]"), "for one in some"),
}
RESTLESS = changed((SAMPLING, SAMPLING + "    while True: yield 0\n"))

NO_PROGRAM = {  # texts that Python does not read or that end as they are loaded: the line that is named, words
    "bracket": (original().replace("def forward(", "def forward((", 1), line_of(original(), "def forward("), "closed"),
    "indent": (original().replace(FIRST, FIRST[1:], 1), line_of(original(), FIRST.strip()), "unindent"),
    "tab": (original().replace(FIRST, "\t" + FIRST.strip() + "\n", 1), line_of(original(), FIRST.strip()), "tabs"),
    "NUL": ("x = 1\ny = '\0'\n", 2, "a character here is none"),
    "surrogate": ("x = 1\n\ny = '\ud800'\n", 3, "a character here is none"),
    "nested": ("x = " + "(" * 1000 + ")" * 1000, 1, "too many nested"),
    "a long sum": ("x = " + "+".join("1" * 50_000), 0, ""),
    "too many digits": ("\nx = " + "9" * 5000, 2, "digits"),
    "await": ("\nawait x", 2, "outside function"),
    "no such module": ("import numpy\nimport nosuch", 2, "No module named 'nosuch'"),
    "division": ("def f():\n    1 / 0\n\nf()", 2, "division by zero"),
    "memory": ("import numpy as np\nnp.zeros((10**7, 10**7))", 2, "not that much memory"),
    "exit": ("import sys\n\nsys.exit(3)", 3, "ends itself here: it raises SystemExit"),
    "no Exception": ("raise BaseException", 1, "ends itself here: it raises BaseException"),
    "string of an error": ("class E(Exception):\n    def __str__(self): return 1 / 0\nraise E", 3, "E"),
    "endless string": ("class E(Exception):\n    def __str__(self):\n        while True: pass\nraise E", 4, "E"),
    "a long error": ("raise ValueError('x' * 10**7)", 1, "ValueError: xxx"),
    "markup": ("raise ValueError('a\\n<b>\\u202e')", 1, "ValueError: a <b>\\u202e"),
}

STRANGE = {  # programs that run, or stop in a sentence
    "len 3": changed((HELD, "    def __len__(self) -> int:\n        return 3\n")),
    "len -1": changed((HELD, "    def __len__(self) -> int:\n        return -1\n")),
    "len of text": changed((HELD, "    def __len__(self) -> int:\n        return 'a'\n")),
    "too many rows": handing_out("self._keys, self._values, range(n_ctx)"),
    "too few rows": handing_out("self._keys[:, : new - 1], self._values[:, : new - 1], range(new - 1)"),
    "a row too few, but the first": handing_out(
        "self._keys[:, : max(1, new - 1)], self._values[:, : max(1, new - 1)], range(max(1, new - 1))"
    ),
    "no rows": handing_out("self._keys[:, :0], self._values[:, :0], range(0)"),
    "fewer values": handing_out("self._keys[:, :new], self._values[:, :1], range(new)"),
    "nothing": handing_out("None"),
    "one position": handing_out("self._keys[:, :new], self._values[:, :new], range(1)"),
    "one head": handing_out("self._keys[:1, :new], self._values[:1, :new], range(new)"),
    "no heads": handing_out("self._keys[0, :new], self._values[0, :new], range(new)"),
    "lists": handing_out("self._keys[:, :new].tolist(), self._values[:, :new].tolist(), range(new)"),
    "short numbers": handing_out("self._keys[:, :new].astype('f'), self._values[:, :new].astype('f'), range(new)"),
    "complex numbers": handing_out("self._keys[:, :new] * 1j, self._values[:, :new], range(new)"),
    "objects": handing_out("self._keys[:, :new].astype(object), self._values[:, :new].astype(object), range(new)"),
    "nan": handing_out("self._keys[:, :new] * np.nan, self._values[:, :new], range(new)"),
    "inf": handing_out("self._keys[:, :new] * np.inf, self._values[:, :new], range(new)"),
    "no layers": changed((LAYERS, "        self.rows = [")),
    "layers of nothing": changed((LAYERS, "        self.layers = None\n        [")),
    "layers of numbers": changed((LAYERS, "        self.layers = [1]\n        [")),
    "next_position 5": changed((CROP, "    next_position = 5\n\n" + CROP)),
    "next_position None": changed((CROP, "    next_position = None\n\n" + CROP)),
    "no crop": changed((CROP, CROP.replace("crop", "crop_it"))),
    "a list for a cache": after("def KVCache(config, dtype): return []"),
    **{f"returns {what}": at_last(f"return {what}") for what in (
        "None", "logits * np.nan", "logits[:, :3]", "logits[0]", "logits[None]", "logits[:0]", "'word'", "3",
        "logits.tolist()", "logits.astype('f')", "logits.astype(object)", "logits * 1j", "logits > 0",
        "np.hstack([logits, logits])",
    )},
    "yields": at_last("yield logits"),
    **{f"no {name}": changed((f"def {name}(", f"def {name}_(")) for name in (
        "forward", "decode_step", "recompute", "generate", "attn_scores",
    )},
    "no KVCache": changed(("class KVCache(", "class KVCache_(")),
    "forward is a number": after("forward = 3"),
    "nothing at all": "",
    "memory": at_first("np.zeros((10**7, 10**7))"),
    "recursion": at_first("return forward(params, config, token_ids, cache, hook)"),
    "exit": at_first("raise SystemExit"),
    "ours of an error": at_first("raise UserError('100% of %(x)s', y=1)"),
    "no hook": changed(("    hook: Hook | None = None,\n    head_rows", "    head_rows")),
    **{f"reports {what}": changed((Q, Q.replace("q, start, layer", what))) for what in (
        "q", "q, 77, layer", "q, start, 77", "q, start, None", "None, start, layer", "'word', start, layer",
        "q[0], start, layer", "3, start, layer", "0.5, start, layer", "q * 1j, start, layer",
        "[[1], [2, 3]], start, layer",
        "q * np.nan, start, layer",
    )},
    "reports of its own": changed((Q, f"{Q}; hook and hook(('mine', q, 0, 0)); hook and hook((3, {{}}, 0, 0))")),
    "reports fewer scores": changed((
        'hook(("attn_scores", scores, first', 'hook(("attn_scores", scores[:, :, :2], first'
    )),
    "a layer less": changed(("for layer in range(config.n_layer):\n", "for layer in range(config.n_layer - 1):\n")),
    "a layer more": changed(("for layer in range(config.n_layer):\n", "for layer in range(config.n_layer + 1):\n")),
    "attention twice": changed(("weights = softmax(scores)", "attn_scores(q, keys); weights = softmax(scores)")),
    "writes into weights": at_first("params['wte'][:] = 0"),
    "forgets weights": at_first("params.clear()"),
    "changes the config": at_first("object.__setattr__(config, 'n_head', 1)"),
    "eats tokens": at_first("token_ids.append(3) if isinstance(token_ids, list) else 0"),
}  # fmt: skip


class FlipTrial(Trial):
    """A trial that also notes where the likeliest token is another one than ours."""

    flip: int | None = None

    def same_logits(self, logits: Array, start: int) -> None:
        super().same_logits(logits, start)
        ours = self.expected.logits[start : start + len(logits)]
        for pos, (row, want) in enumerate(zip(logits, ours, strict=True), start):
            if int(np.argmax(row)) != int(np.argmax(want)) and (self.flip is None or pos < self.flip):
                self.flip = pos


def measure(bug: Bug, model: Model, ids: Sequence[int]) -> tuple[float, int | None]:
    """What the fault does to these tokens in the six ways: the largest difference of a logit, and the first position at
    which the likeliest token is another one, None where there is none."""
    yours, expected, known = Yours(bug.text(), is_watched=False), expect(model, ids), checks_of()
    trials = [FlipTrial(yours, model, ids, expected) for _ in SIX]
    for name, trial in zip(SIX, trials, strict=True):
        run_check(known[name], trial)
    flips = [trial.flip for trial in trials if trial.flip is not None]
    return max(trial.furthest for trial in trials), min(flips, default=None)
