"""A model that repeats itself: what its page says, found again in the record by other means."""

import json
import re
from statistics import mean
from typing import Any

from microgpt.apps.model_that_repeats.app import REPEATS, TEXT_SEED
from microgpt.apps.records import TRACES
from tests.support.pages import by_id, cells, numbers, text, tree_of

PAGE = "model-that-repeats"
TOLD: dict[str, Any] = json.loads((TRACES / REPEATS).read_text("utf-8"))
IDS, START, PERIOD, N = TOLD["ids"], 19, 40, 5
WORDS = [TOLD["vocabulary"][str(token)] for token in IDS]


def of_round(at: int) -> list[float]:
    first = START + at * PERIOD
    found: list[float] = TOLD["chances"][first - 1 : first - 1 + PERIOD]
    return found


def test_the_record_is_a_text_in_circles() -> None:
    assert "".join(WORDS[: TOLD["n_prompt"]]) == TOLD["prompt"]
    assert len(IDS) == START + N * PERIOD == len(TOLD["chances"]) + 1
    assert all(IDS[i] == IDS[i + PERIOD] for i in range(START, len(IDS) - PERIOD))
    assert IDS[START - 1] != IDS[START - 1 + PERIOD]
    assert "".join(WORDS[START : START + PERIOD]).startswith(". The sun is shining")
    assert len(TOLD["looks"]) == N and {len(layers) for layers in TOLD["looks"]} == {30}
    assert all(0 <= weight <= 1 for layers in TOLD["looks"] for heads in layers for weight in heads)
    assert len(TOLD["without"]) == PERIOD
    for one in TOLD["texts"]:
        assert len(one["chances"]) == len(one["ids"]) - TOLD["n_prompt"] <= TOLD["short"]
        assert one["ids"][: TOLD["n_prompt"]] == IDS[: TOLD["n_prompt"]]
        assert all(0 <= chance <= 1 for chance in one["chances"])


def test_what_is_given_and_when_it_goes_in_circles() -> None:
    assert numbers(by_id(PAGE)["given"]) == [len(IDS) - TOLD["n_prompt"], START, PERIOD]
    assert text(next(by_id(PAGE)["given"].iter("q"))) == TOLD["prompt"]


def test_each_round_is_surer_than_the_one_before() -> None:
    rows, looks = cells(by_id(PAGE)["by-round"])[1:], TOLD["looks"]
    layer, head = max(((i, j) for i in range(30) for j in range(9)), key=lambda at: looks[-1][at[0]][at[1]])
    for at, row in enumerate(rows):
        look = f"{looks[at][layer][head]:.2f}" if at else "–"
        assert row == [str(at + 1), f"{mean(of_round(at)):.2f}", f"{min(of_round(at)):.2f}", look]
    means = [float(row[1]) for row in rows]
    weights = [float(row[3]) for row in rows[1:]]
    assert weights == sorted(weights), "the more rounds, the more weight"
    assert means == sorted(means) and means[0] < 0.6 and means[-1] > 0.95
    assert f"layer {layer}, head {head}" in text(by_id(PAGE)["by-round"])
    assert numbers(by_id(PAGE)["surer"]) == [means[0], N, means[-1]]
    assert numbers(by_id(PAGE)["looks"])[0] == sum(weight > 0.5 for heads in looks[-1] for weight in heads)


def test_without_the_rows_of_the_others_it_is_as_in_the_first_round() -> None:
    gone, first, last = mean(TOLD["without"]), mean(of_round(0)), mean(of_round(N - 1))
    assert numbers(by_id(PAGE)["without"]) == [N, round(last, 2), round(gone, 2), round(first, 2)]
    assert abs(gone - first) < 0.05 < last - gone


def test_every_token_has_a_bar_for_each_round() -> None:
    drawing = next(e for e in tree_of(PAGE).iter() if e.get("class") == "text")
    words = [e for e in drawing.iter() if e.get("class") == "said"]
    assert [text(e).strip() for e in words] == [word.strip() or "↵" for word in WORDS[START : START + PERIOD]]
    for i, word in enumerate(words):
        shares = [e.get("class", "").split() for e in word.iter() if re.match(r"at\d", e.get("class", ""))]
        chances = [of_round(at)[i] for at in range(N)] + [TOLD["without"][i]]
        assert [names[0] for names in shares] == [f"at{case}" for case in range(N + 1)]
        assert [names[1] for names in shares] == [f"w{max(1, round(100 * chance))}" for chance in chances]


def again(ids: list[int]) -> list[bool]:
    """Whether each written token ends five that are found further left."""
    found = []
    for end in range(TOLD["n_prompt"] + 1, len(ids) + 1):
        run = ids[end - 5 : end]
        found.append(any(ids[at : at + 5] == run for at in range(end - 5)))
    return found


def test_repetition_by_temperature() -> None:
    greedy = {
        "temperature": 0.0,
        "ids": IDS[: TOLD["n_prompt"] + TOLD["short"]],
        "seed": TEXT_SEED,
        "chances": TOLD["chances"][TOLD["n_prompt"] - 1 :][: TOLD["short"]],
    }
    panels = [e for e in tree_of(PAGE).iter() if "heats" in e.get("class", "")]
    marks = [[text(e) for e in one.iter("mark")] for one in panels[0].iter("p") if one.get("class") == "text"]
    rows = cells(by_id(PAGE)["by-heat"])[1:]
    for at, heat in enumerate((0.0, 0.3, 0.7, 1.0, 1.5)):
        some = [one for one in [greedy, *TOLD["texts"]] if one["temperature"] == heat]
        seen = [flag for one in some for flag in again(one["ids"])]
        mean_of = mean(chance for one in some for chance in one["chances"])
        assert rows[at] == [f"{heat:.1f}", str(len(some)), f"{round(100 * mean(seen))} %", f"{mean_of:.2f}"]
        shown = next(one for one in some if one["seed"] == TEXT_SEED)
        words = [TOLD["vocabulary"][str(token)].strip() or "↵" for token in shown["ids"][TOLD["n_prompt"] :]]
        assert marks[at] == [word for word, flag in zip(words, again(shown["ids"]), strict=True) if flag]
    likely = [float(row[3]) for row in rows]
    assert likely == sorted(likely, reverse=True), "the hotter, the less likely"
    shares = [int(row[2].split()[0]) for row in rows]
    assert shares == sorted(shares, reverse=True) and shares[0] > 4 * shares[2] and shares[-1] == 0
