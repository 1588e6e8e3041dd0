"""The lesson on guesses draws each round as it was: what stood, what fell, and which rows the target held."""

from xml.etree.ElementTree import Element

import numpy as np

from microgpt.cache import KVCache
from microgpt.course.guess_and_check.lesson import GAMMA
from microgpt.course.guess_and_check.pieces import STAGES
from microgpt.decode import probabilities, recompute
from microgpt.model import forward
from microgpt.viz.drawing.heat import round_up
from microgpt.viz.text.formats import heat
from microgpt.weights import Model, shipped
from tests.support.pages import Run, classes, drawn, find, numbers, prose_of, runs, text

PROMPTS = ["em", "mar", "z" * 15, "christopher"]
MODELS = [shipped(name) for name in ("names-deep", "names")]
run = runs("guess-and-check", [("names-deep", prompt) for prompt in PROMPTS])


def laws(words: list[str]) -> list[np.ndarray]:
    """What target and draft say comes after this text."""
    ids = [MODELS[0].tokenizer.vocabulary.index(word) for word in words]
    return [probabilities(recompute(m.params, m.config, ids), 1.0, 0) for m in MODELS]


GUESSED = ("guess", "kept", "fallen", "unread")  # states of a guess until its rows stay or go


def columns(tree: Element) -> list[Element]:
    return [column for column in find(tree, "col") if "names" not in classes(column)]


def there(column: Element, kind: str, case: int) -> list[Element]:
    """The pieces that are at their place in this case: from b to w."""
    spans = [({one[0]: int(one[1:]) for one in classes(e) if one[0] in "bw"}, e) for e in find(column, kind)]
    return [e for span, e in spans if span["b"] <= case <= span["w"]]


def standing(tree: Element, case: int) -> list[tuple[str, str]]:
    found = []
    for column in columns(tree):
        here = there(column, "tile", case)
        assert len(here) <= 1
        for one in here:
            (state,) = (
                classes(e) & {"text", "guess", "kept", "fallen", "unread", "chosen"} for e in find(one, f"D{case}")
            )
            found.append((text(one).strip(), state.pop()))
    return found


def test_each_stage_shows_what_stands(run: Run) -> None:
    made, tree = run
    words = list(made.trace.about["text"])
    at = len(words) - made.written
    for i, one in enumerate(made.round_of[:: len(STAGES)]):
        draft, check, keep = (standing(tree, len(STAGES) * i + stage) for stage in range(3))
        before = [word for word, state in draft if state == "text"]
        assert before == words[:at]
        assert [word for word, state in draft if state == "guess"] == [guess.token for guess in one.guesses]
        states = [state for _, state in check[at:]]
        assert states == ["kept" if g.kept else "fallen" if g.judged else "unread" for g in one.guesses]
        at += one.accepted + bool(one.chosen)
        assert [word for word, _ in keep] == words[:at]
    assert at == len(words)


def test_rows_come_with_the_pass_and_go_with_what_fell(run: Run) -> None:
    """Always one per token but the newest; in the pass one more per guess. They are those of a cache that runs the same
    tokens, and the floor opens where tokens or rows fall, and nowhere else; one door hangs at the first of these."""
    made, tree = run
    words, model = list(made.trace.about["text"]), MODELS[0]
    at, limit = len(words) - made.written, 0.0
    held = dict[int, tuple[list[str], int]]()
    for i, one in enumerate(made.round_of[:: len(STAGES)]):
        text_then = [*words[:at], *(guess.token for guess in one.guesses)]
        at += one.accepted + bool(one.chosen)
        held |= {
            len(STAGES) * i: (words[: one.before], one.before),
            len(STAGES) * i + 1: (text_then, one.before + one.rows),
            len(STAGES) * i + 2: (words[:at], one.after),
        }
        assert one.rows == 1 + len(one.guesses)
    caches = {case: rows_of(model, tokens[:n]) for case, (tokens, n) in held.items()}
    limit = round_up(max(np.abs(rows).max() for case in range(1, len(held), 3) for rows in caches[case]))
    for case, (_, n) in held.items():
        drawn_rows = [there(column, "pair", case) for column in columns(tree)]
        assert [len(one) for one in drawn_rows] == [int(i < n) for i in range(len(drawn_rows))]
        for kind, rows in zip("kv", caches[case], strict=True):
            levels = [[heat(level) for level in np.rint(12 * row / limit).astype(int).tolist()] for row in rows]
            found = [[e.get("class") for e in find(one, "strip", kind)[0]] for (one,) in drawn_rows[:n]]
            assert found == levels, case
        falls = [
            case % len(STAGES) == 2
            and any(there(c, k, case - 1) not in ([], there(c, k, case)) for k in ("tile", "pair"))
            for c in columns(tree)
        ]
        ground, waits, door = (
            [bool(find(c, kind, f"D{case}")) for c in columns(tree)] for kind in ("ground", "waits", "door")
        )
        first = falls.index(True) if any(falls) else -1
        assert door == [i == first for i in range(len(door))]
        assert waits == [
            case % len(STAGES) < 2
            and any(find(e, state, f"D{case}") for e in there(c, "tile", case) for state in GUESSED)
            for c in columns(tree)
        ]
        for column, *kinds in zip(columns(tree), ground, waits, falls, strict=True):
            assert sum(kinds) == 1 or not there(column, "tile", case)


def rows_of(model: Model, words: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """K and V of the first head of the first layer, made one by one."""
    cache = KVCache(model.config)
    for word in words:
        forward(model.params, model.config, [model.tokenizer.vocabulary.index(word)], cache)
    return cache.layers[0].keys[0], cache.layers[0].values[0]


def test_guesses_are_judged_one_after_another_up_to_the_first_that_falls(run: Run) -> None:
    made, tree = run
    for i, one in enumerate(made.round_of[:: len(STAGES)]):
        case = f"D{len(STAGES) * i + 1}"
        beams = [beam for column in columns(tree) for beam in find(column, "beam", case)]
        assert [f"R{n}" in classes(beam) for n, beam in enumerate(beams)] == [True] * len(beams)
        assert len(beams) == sum(guess.judged for guess in one.guesses)
        judged = [guess for guess in one.guesses if guess.judged]
        said = [text(e).strip() for column in columns(tree) for e in find(column, "chance") if case in classes(e)]
        assert said == [f"{guess.chance:.2f}" for guess in judged]
        lines = [numbers(e) for e in find(find(tree, f"C{len(STAGES) * i + 1}")[0], "replies")[0]]
        for guess, line in zip(judged, lines, strict=True):
            assert guess.chance == 1 or line[-1] == round(guess.chance, 2) == round(line[0] / line[1], 2)
            assert guess.chance < 1 or line[0] == 1 and line[1] >= line[2]


def test_chances_are_those_of_both_models(run: Run) -> None:
    made, _ = run
    words, common = list(made.trace.about["text"]), []
    at = len(words) - made.written
    for one in made.round_of[:: len(STAGES)]:
        for i, guess in enumerate(one.guesses):
            p, q = laws([*words[:at], *(g.token for g in one.guesses[:i])])
            token = MODELS[0].tokenizer.vocabulary.index(guess.token)
            assert abs(guess.p_target - p[token]) < 1e-12 and abs(guess.p_draft - q[token]) < 1e-12
            assert abs(guess.chance - min(1, p[token] / q[token])) < 1e-12
            if guess.judged:
                common.append(np.minimum(p, q).sum())
            if guess.judged and not guess.kept:
                left = np.maximum(p - q, 0) / np.maximum(p - q, 0).sum()
                for word, p_target, _, rest in one.shares:
                    token = MODELS[0].tokenizer.vocabulary.index(word)
                    assert abs(rest - left[token]) < 1e-12 and abs(p_target - p[token]) < 1e-12
        assert sum(not g.kept and g.judged for g in one.guesses) <= 1
        at += one.accepted + bool(one.chosen)
    assert made.alpha == round(float(np.mean(common)) if common else 0, 2)
    assert made.greedy
    assert 1 <= made.branched <= made.chained


def test_the_curves_and_the_example() -> None:
    made, _ = drawn("guess-and-check", "names-deep", "em")
    for alpha, n, times in made.best:
        by_n = [(1 - alpha ** (k + 1)) / (1 - alpha) / (0.1 * k + 1) for k in range(65)]
        assert n == int(np.argmax(by_n)) and abs(times - max(by_n)) < 1e-12
    for p_target, p_draft, chance, left in made.hand:
        assert abs(p_draft * chance + (1 - made.common) * left - p_target) < 1e-12
    assert "A guess is accepted in 0.7 of all cases" in prose_of("guess-and-check", "names-deep", "em")


def test_the_speed_follows_from_what_is_printed_and_from_bytes() -> None:
    """The page's premise: a step takes as long as its reading. Bytes are those of the arrays, and a row of each table
    that is only looked up; under another prompt the same."""
    for prompt in ("em", "christopher"):
        made, _ = drawn("guess-and-check", "names-deep", prompt)
        read = []
        for model in MODELS:
            sizes = {name: array.size for name, array in model.params.items()}
            rows = sum(array.shape[1] for name, array in model.params.items() if name in ("wte", "wpe"))
            n, c = len(model.tokenizer.encode(prompt)), model.config
            read.append(sum(sizes.values()) - sizes["wte"] - sizes["wpe"] + rows + 2 * c.n_layer * c.n_embd * (n - 1))
        assert made.cost == round(read[1] / read[0], 2)
        tokens = sum(made.alpha**i for i in range(GAMMA + 1))
        assert made.gain == tokens / (1 + GAMMA * made.cost)
        said = prose_of("guess-and-check", "names-deep", prompt)
        assert f"reads {made.cost:.2f} of the bytes" in said and f"{made.gain:.2f} times the speed" in said
        assert f"have {made.alpha:.2f} in common" in said
    assert "draft: q" not in said and "p_draft" in said
