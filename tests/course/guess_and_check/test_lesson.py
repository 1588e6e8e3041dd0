"""The lesson on guesses draws each round as it was: what stood, what fell, and which rows the target held."""

from xml.etree.ElementTree import Element

import numpy as np

from microgpt.course.guess_and_check.columns import STAGES
from microgpt.course.guess_and_check.lesson import GAMMA
from microgpt.decode import probabilities, recompute
from microgpt.weights import shipped
from tests.support.pages import Run, classes, drawn, find, prose_of, runs, text

PROMPTS = ["em", "mar", "z" * 15, "christopher"]
MODELS = [shipped(name) for name in ("names-deep", "names")]
run = runs("guess-and-check", [("names-deep", prompt) for prompt in PROMPTS])


def laws(words: list[str]) -> list[np.ndarray]:
    """What target and draft say comes after this text."""
    ids = [MODELS[0].tokenizer.vocabulary.index(word) for word in words]
    return [probabilities(recompute(m.params, m.config, ids), 1.0, 0) for m in MODELS]


def standing(tree: Element, case: int) -> list[tuple[str, str]]:
    found = []
    for column in find(tree, "col"):
        (place,) = find(column, "place")
        here = [one for one in place if f"D{case}" in classes(one)]
        assert len(here) <= 1
        found += [
            (text(one), next(iter(classes(one) & {"text", "guess", "kept", "fallen", "unread", "chosen"})))
            for one in here
        ]
    return found


def test_each_stage_shows_what_stands(run: Run) -> None:
    made, tree = run
    words = list(made.trace.about["text"])
    at = len(words) - made.written
    for i, one in enumerate(made.rounds):
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
    """Always one per token but the newest; in the pass one more per guess."""
    made, tree = run
    boxes = [find(column, "rowbox")[0] for column in find(tree, "col")]
    for i, one in enumerate(made.rounds):
        for stage, rows in enumerate((one.before, one.before + one.rows, one.after)):
            case = f"D{len(STAGES) * i + stage}"
            held = [any(case in classes(row) for row in box.iter("i")) for box in boxes]
            assert held == [at < rows for at in range(len(boxes))]
            made_now = [any(case in classes(row) for row in box.iter("u")) for box in boxes]
            assert made_now == [stage == 1 and one.before <= at < rows for at in range(len(boxes))]
        assert one.rows == 1 + len(one.guesses)


def test_chances_are_those_of_both_models(run: Run) -> None:
    made, _ = run
    words, common = list(made.trace.about["text"]), []
    at = len(words) - made.written
    for one in made.rounds:
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
    assert "A guess is kept in 0.7 of all cases" in prose_of("guess-and-check", "names-deep", "em")


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
