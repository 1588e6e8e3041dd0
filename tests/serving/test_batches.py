"""Six texts under several policies: each writes what it writes alone, and every wait follows from the plans."""

import pytest

from microgpt.errors import UserError
from microgpt.serving.batches import LEAST, BatchRun, alone, serve, six, ways
from microgpt.weights import shipped

MODEL = shipped("stories")
SIX = six(MODEL, "The next day is bright and")
POLICIES = ways(SIX)


@pytest.fixture(scope="module", params=POLICIES)
def run(request: pytest.FixtureRequest) -> BatchRun:
    return serve(MODEL, SIX, *POLICIES[request.param])


def test_each_text_is_what_it_is_alone(run: BatchRun) -> None:
    assert [len(one.ids) for one in SIX] == [7, 3, 6, 3, 7, 7]
    assert run.ids == [alone(MODEL, one) for one in SIX]
    assert [len(times) for times in run.written] == [
        len(ids) - len(one.ids) for ids, one in zip(run.ids, SIX, strict=True)
    ]


def test_the_clock_goes_from_pass_to_pass_and_no_row_is_missing(run: BatchRun) -> None:
    rows, clock = dict.fromkeys(range(len(SIX)), 0), 0
    for one in run.passes:
        for text in one.preempted:
            rows[text] = 0
        assert (one.start, one.end) == (clock, clock + max(LEAST, one.tokens))
        assert len(one.parts) <= run.policy.places
        assert run.policy.static or one.tokens <= run.policy.budget
        for part in one.parts:
            assert part.before == rows[part.text] or not rows[part.text]  # rows may have been found again
            assert part.prompt == (part.before < len(SIX[part.text].ids))
            rows[part.text] = part.before + part.n
        clock = one.end
    assert run.passes[-1].n_free == run.n_blocks and not run.passes[-1].waiting
    assert sorted(text for one in run.passes for text in one.ended) == list(range(len(SIX)))
    for text, times in enumerate(run.written):
        assert times == [one.end for one in run.passes for part in one.parts if part.text == text and part.whole]


def test_who_waits_for_whom() -> None:
    """Whole prompts stall those that write; chunks do so less; a batch that stays together lets the last ones wait."""
    runs = {name: serve(MODEL, SIX, *one) for name, one in POLICIES.items()}
    assert runs["chunks"].first[0] < runs["whole"].first[0] < runs["static"].first[0]
    assert max(runs["chunks"].between) < max(runs["whole"].between)
    assert runs["static"].first[4] > 1.5 * runs["chunks"].first[4]
    assert runs["static"].usage < runs["whole"].usage
    assert any(one.preempted for one in runs["small"].passes) and runs["small"].n_blocks < runs["chunks"].n_blocks
    assert not any(one.preempted for one in runs["chunks"].passes)


@pytest.mark.parametrize("prompt", ["it", "a dog", " ".join(["the"] * 23), "she is happy and so"])
def test_the_reader_may_write_anything_that_the_model_can_hold(prompt: str) -> None:
    """Also what another has written, whose rows are then found."""
    asked = six(MODEL, prompt)
    for way in ways(asked).values():
        found = serve(MODEL, asked, *way)
        assert found.ids == [alone(MODEL, one) for one in asked]


@pytest.mark.parametrize(
    ("prompt", "said"),
    [("  ", "The prompt is empty"), (" ".join(["the"] * 24), "at most 24"), ("zebra", "does not know the word")],
)
def test_a_text_that_cannot_be_run_is_refused(prompt: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        six(MODEL, prompt)
