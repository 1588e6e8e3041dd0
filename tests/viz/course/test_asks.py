"""What lessons ask: three questions or more each, one right answer to each, and each answer as computed here anew."""

from __future__ import annotations

import pytest

from microgpt.architectures.known import PRESETS
from microgpt.experiments import mistakes
from microgpt.viz.course import LESSONS, Page, page
from microgpt.viz.rendering.render import render_page
from tests.viz.test_pages import find, parse, text, view_of


def said(name: str, ask: str) -> tuple[list[str], str, str]:
    """The options of a question, the right one, and why."""
    tree = parse(render_page(page(name), view_of(page(name))))
    (asked,) = (e for e in find(tree, "ask") if any(one.get("name") == ask for one in e.iter("input")))
    faces, (right,), (why,) = find(asked, "face"), find(asked, "right"), find(asked, "reveal")
    return [text(one) for one in faces], text(find(right, "face")[0]), " ".join(text(why).split())


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda one: one.name)
def test_a_lesson_asks_three_questions_with_one_right_answer_each(lesson: Page) -> None:
    asked = find(parse(render_page(lesson, view_of(lesson))), "ask")
    assert len(asked) >= 3
    for one in asked:
        options = [text(face) for face in find(one, "face")]
        assert len(find(one, "right")) == 1 and len({*options}) == len(options) >= 2
        assert len(text(find(one, "reveal")[0]).split()) >= 4


def test_bugs_are_shown_by_what_was_run() -> None:
    assert said("kv-cache", "ask-bug")[1] == "the token cannot read its own row"
    assert view_of(page("kv-cache")).rows_read(0) == 1  # a step reads its own row: the lines would find none
    options, right, why = said("old-rows", "ask-bug")
    (moved,) = (one for one in view_of(page("old-rows")).experiments if one.kind == "move")
    assert right == "rows after it are stale" and f"{moved.n_stale} of {moved.n_rows} rows" in why
    assert not any(off for row in moved.rows[: moved.at] for off, _ in row.off)  # and none before it
    _, right, why = said("training", "ask-bug")
    means = {kind: mistakes.measured("names")[kind].loss for kind in ("right", "no_reset")}
    assert right == "each name reads the rows of those before it" and means["no_reset"] > means["right"]
    assert all(f"{mean:.2f}" in why for mean in means.values())


def test_the_next_step_reads_one_row_more_than_the_last() -> None:
    shown = view_of(page("why-q"))
    reads = [sum(step >= i for i in range(shown.n + 1)) for step in range(shown.n + 1)]
    assert said("why-q", "ask-next")[1] == f"{sum(reads)}" and shown.reads["k"] == sum(reads[:-1])


def test_what_fits_is_counted_with_both_k_and_v() -> None:
    config = PRESETS["Llama-3-8B"].config
    row = 2 * config.n_layer * config.n_kv_head * config.head_dim * 2
    options, right, _ = said("memory", "ask-fit")
    room = view_of(page("memory")).fit_room
    assert (
        room == 2 * 10**9
        and options == [f"{room // one:,}" for one in (2 * row, row, row // 2)]
        and right == options[1]
    )


def test_each_step_gives_one_to_all_rows() -> None:
    shown = view_of(page("most-read"))
    for table in shown.tables:
        assert sum(row[1] for row in table.rows) == pytest.approx(float(said("most-read", "ask-sum")[1]))
