"""The sheets of exercises: every answer is computed again, by loops and runs of its own; the listings are run."""

import copy
import itertools
import math
import random
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from microgpt.apps.exercises import engines
from microgpt.apps.exercises.app import sheets
from microgpt.apps.exercises.sheet import Calc, listing
from microgpt.architectures.known import PRESETS
from microgpt.cache import KVCache
from microgpt.caches.blocks import BlockPool
from microgpt.caches.codes import Grid
from microgpt.caches.paged import PagedCache
from microgpt.config import Array, Config, split
from microgpt.cost import reads
from microgpt.course import PAGES, PARTS
from microgpt.decode import decode_step, prefill
from microgpt.model import forward
from microgpt.trace import Trace
from microgpt.train import loss_and_grads
from microgpt.viz.text.language import LANGUAGES
from microgpt.weights import init, shipped
from tests.support.pages import find, folded, text, tree_of

NAMES = [part.sheet for part in PARTS]
MACHINE = (156e9, 2039e6)  # multiply-adds and bytes per ms, from the data sheet of the A100


def numbers(name: str) -> Any:
    return sheets()[f"exercises-{name}"].numbers


def solved(name: str, key: str) -> str:
    """The answer to a task, as it is read."""
    (task,) = [one for one in find(tree_of(f"exercises-{name}"), "task") if one.get("id") == key]
    return folded(find(task, "solved")[0])


def result(calc: Calc) -> float:
    return calc.values[-1]


def softmax(x: Array) -> Array:
    raised = np.exp(x - x.max())
    weights: Array = raised / raised.sum()
    return weights


def run_of(name: str, mended: tuple[tuple[str, str], ...] = (), **given: object) -> dict[str, Any]:
    """What a listing has defined, with these replacements in it."""
    source, found = listing(name), {"np": np, "softmax": softmax, "copy": copy, **given}
    for wrong, right in mended:
        assert wrong in source
        source = source.replace(wrong, right)
    exec(source, found)
    return found


def stepped(model: Any, ids: Iterable[int], trace: Trace | None = None, config: Config | None = None) -> KVCache:
    """The cache after these tokens, one by one."""
    cache = KVCache(config or model.config)
    for token in ids:
        decode_step(model.params, config or model.config, token, cache, trace)
    return cache


def calcs(value: object) -> Iterator[Calc]:
    if isinstance(value, Calc):
        yield value
    elif isinstance(value, tuple | list):
        for one in value:
            yield from calcs(one)


def test_each_part_has_a_sheet_which_its_last_lesson_and_the_front_page_lead_to() -> None:
    assert [one.name for one in PAGES if one.app == "exercises"] == NAMES == list(sheets())
    front = [e.get("href") for e in tree_of("index").iter("a")]
    for part in PARTS:
        assert front.count(f"{part.sheet}.html") == 1
        last = part.lessons[-1]
        linked = [e.get("href") for e in find(tree_of(last.name), "onward")[0].iter("a")]
        assert f"{part.sheet}.html" in linked
    assert not [e for e in tree_of("kv-cache-words").iter("a") if "exercises-" in e.get("href", "")]  # in its middle


def test_a_sheet_needs_every_lesson_of_its_part() -> None:
    for sheet in sheets().values():
        assert min(6, 2 + len(sheet.part.folders)) <= len(sheet.tasks) == len(sheet.keyed) <= 10
        needed = {need for task in sheet.tasks for need in task.needs}
        assert {one.name for one in sheet.part.lessons} <= needed
        assert "bug" in {task.kind for task in sheet.tasks} and sheet.minutes <= 150


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("name", NAMES)
def test_every_task_is_set_once_with_its_answer_and_room(name: str, lang: str) -> None:
    found = find(tree_of(name, lang), "task")
    assert [one.get("id") for one in found] == [task.key for task in sheets()[name].tasks]
    for one, task in zip(found, sheets()[name].tasks, strict=True):
        assert len(text(find(one, "set")[0])) > 60 and len(text(find(one, "solved")[0])) > 60
        assert len(list(find(one, "room")[0])) == task.lines
        assert [e.get("href") for e in find(one, "meta")[0].iter("a")] == [f"{need}.html" for need in task.needs]
        asked, answered = (find(one, side)[0].findall("ol") for side in ("set", "solved"))
        assert [len(list(x)) for x in asked] == [len(list(x)) for x in answered]  # a line for each question


@pytest.mark.parametrize("name", NAMES)
def test_every_calculation_comes_to_what_it_says(name: str) -> None:
    found = list(calcs(sheets()[name].numbers))
    assert len(found) >= 10
    for calc in found:
        values = iter(calc.values)
        for said in calc.form.split("; "):
            sides = [side.format(*[next(values) for _ in range(side.count("{}"))]) for side in said.split(" = ")]
            signs = str.maketrans({"×": "*", "÷": "/", "−": "-"})
            sides = [re.sub(r"ln (\S+)", r"log(\1)", side).translate(signs) for side in sides]
            sides = [re.sub(r"e\^(\([^)]*\)|\S+)", r"exp(\1)", side) for side in sides]
            left, right = (eval(side, {"log": math.log, "exp": math.exp}) for side in (sides[0], sides[-1]))
            slack = 0.5 if isinstance(right, float) else 1  # what is whole may be rounded, or rounded down
            assert abs(left - right) < (slack * 10**-calc.digits + 1e-9 if slack < 1 else 1), calc


# ---- the idea -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("p", "n", "field"), [(None, None, "runs"), (1000, 500, "long_runs")])
def test_rows_are_counted_pass_by_pass(p: int | None, n: int | None, field: str) -> None:
    told = numbers("idea").rows
    p, n = p or told.p, n or told.n
    total, first, length = 0, p, p
    for i in range(n):
        total += length
        length += 1
        first += i > 0
    assert result(getattr(told, field)) == total
    assert result(told.first if field == "runs" else told.long_first) == first
    if field == "long_runs":
        assert told.times == total / first
    ids = shipped("stories").tokenizer.encode("The sun is")
    model, made = shipped("stories"), 0
    while True:  # the passes of the real text
        made += 1
        ids.append(int(forward(model.params, model.config, ids, KVCache(model.config))[-1].argmax()))
        if ids[-1] in model.tokenizer.stops:
            break
    assert (told.p, told.n) == (len(ids) - made, made)


def test_the_odds_are_those_of_the_probabilities() -> None:
    told, model = numbers("idea").odds, shipped("stories")
    logits = forward(model.params, model.config, model.tokenizer.encode("The sun is"), KVCache(model.config))
    for temperature, ratio in ((1.0, told.ratio), (told.temperature, told.cooled_ratio)):
        raised = np.sort(np.exp(logits[-1] / temperature))[::-1]
        assert ratio == pytest.approx(raised[0] / raised[1], rel=0.02 / temperature)
    assert [logit for _, logit in told.logits] == sorted(np.round(np.sort(logits[-1])[-3:], 2), reverse=True)


def test_the_answer_by_hand_is_that_of_the_model() -> None:
    told, model = numbers("idea").hand, shipped("names")
    trace = Trace()
    prefill(model.params, model.config, model.tokenizer.encode("ol"), KVCache(model.config), trace, 1)
    assert np.abs(np.array(told.answer) - trace["head_out", 2, 0].reshape(4, -1)[0]).max() < 0.02
    assert sum(result(key.weight) for key in told.keys) == pytest.approx(1)
    for key, weight in zip(told.keys, trace["attn_weights", 2, 0][0, 0], strict=True):
        assert abs(result(key.weight) - weight) < 0.01
    assert result(told.by) == pytest.approx(np.array(told.q) @ np.ones(4) / 2)


def test_what_has_been_kept_and_read_is_counted_in_a_run() -> None:
    told, model = numbers("idea").grown, shipped("stories")
    cache, trace = KVCache(model.config), Trace()
    read = own = 0
    for step, token in enumerate(model.tokenizer.encode("The sun is warm and the")[: told.t], 1):
        decode_step(model.params, model.config, token, cache, trace)
        read += sum(layer.keys[:, :step].size + layer.values[:, :step].size for layer in cache.layers)
        own += sum(layer.keys[:, :1].size + layer.values[:, :1].size for layer in cache.layers)
    held = sum(layer.keys.size + layer.values.size for layer in cache.layers)
    assert len(cache) == told.t and result(told.held) == held and result(told.half) == 2 * held
    assert result(told.read) == read and result(told.own) == own / read


def test_the_cache_that_forgets_gives_the_newest_value() -> None:
    wq, wk, wv, xs = np.random.default_rng(2).normal(size=(4, 4, 4))
    given = {"wq": wq, "wk": wk, "wv": wv, "head_dim": 4}
    copied = (("(k_new)", "(k_new.copy())"), ("(v_new)", "(v_new.copy())"))
    step, mended = (run_of("alias", change, **given)["step"] for change in ((), copied))
    for i, x in enumerate(xs, 1):
        right = softmax(xs[:i] @ wk @ (x @ wq) / 2) @ (xs[:i] @ wv)
        np.testing.assert_allclose(step(x), x @ wv)
        np.testing.assert_allclose(mended(x), right)
        assert (np.abs(x @ wv - right).max() < 1e-9) == (i == 1)


def test_the_work_is_that_of_every_step() -> None:
    told, c = numbers("idea").work, shipped("names").config
    token = c.n_embd * (4 * c.n_embd + 2 * c.n_mlp)
    cached = naive = 0
    for step in range(1, c.n_ctx + 1):
        for row in range(1, step + 1):
            naive += token + row * 2 * c.n_embd
        cached += token + step * 2 * c.n_embd + c.n_embd * c.vocab_size
        naive += c.n_embd * c.vocab_size
    assert (result(told.cached), result(told.naive)) == (cached, naive)
    long = 3000
    pairs = [sum(range(1, t + 1)) for t in range(1, long + 1)]
    assert sum(pairs) / pairs[-1] == (long + 2) / 3 and sum(pairs) == long * (long + 1) * (long + 2) // 6


# ---- why it is right ------------------------------------------------------------------------------


def test_a_window_reads_as_often_as_a_model_with_one() -> None:
    told, model = numbers("right").window, shipped("names")
    config = replace(model.config, window=told.w)
    for c, total in ((config, result(told.total)), (model.config, result(told.whole))):
        trace = Trace()
        stepped(model, [0] * told.t, trace, c)
        found = [len(reads(trace)["k", 0, j]) for j in range(told.t)]
        assert sum(found) == total and (c != config or found == told.reads)


def test_x_in_place_of_k_and_v() -> None:
    told = numbers("right").instead
    for one in told.models:
        c = PRESETS[one.name].config
        kept = len(range(c.n_kv_head * c.head_dim)) * 2
        assert (one.x, result(one.row), result(one.times)) == (c.n_embd, kept, c.n_embd / kept)
        assert (result(one.times) > 1) == (c.n_kv_head < c.n_head)  # as the answer says
    c = PRESETS["Llama-3-8B"].config
    assert result(told.again) == told.long * 2 * 4096 * c.n_kv_head * c.head_dim == told.long * result(told.own)


def test_the_parameters_are_those_of_the_arrays() -> None:
    told = numbers("right").counted
    c = told.config
    layer = sum((2 * c.n_embd * c.n_head * c.head_dim, 2 * c.n_embd * c.n_kv_head * c.head_dim, 2 * c.n_embd * c.n_mlp))
    assert result(told.layer) == layer
    assert result(told.total) == c.n_layer * layer + (2 * c.vocab_size + c.n_ctx) * c.n_embd
    model = split(init(c, random.Random(1)), c)
    assert sum(array.size for array in model.values()) == result(told.total)
    forward(model, c, [1, 2, 3], KVCache(c))  # it is a model
    kept = told.config.n_layer * 2 * told.config.n_kv_head * told.config.head_dim
    assert result(told.cached) == kept


def test_a_file_that_is_edited_runs_from_its_first_edited_token_on() -> None:
    """A file is the list of its versions, and what is held of it the file of before."""
    told = numbers("right").edits

    def ran(held: list[int], now: list[int]) -> int:
        return len(now) - next(i for i, (a, b) in enumerate(zip(held, now, strict=True)) if a != b)

    file, each = [0] * told.length, 0
    for edit, at in enumerate(told.at, 1):
        now = [*file[:at], edit, *file[at + 1 :]]
        each, file = each + ran(file, now), now
    assert (result(told.each), result(told.once)) == (each, ran([0] * told.length, file))
    first, second, _ = sorted(told.at)
    assert result(told.between) == len(file[first + 1 : second]) and set(file[first + 1 : second]) == {0}


def test_what_the_last_token_notices() -> None:
    told, model = numbers("right").swap, shipped("names-deep")
    assert told.before[-1] == told.after[-1] and len(told.before) == len(told.after)
    runs = [Trace(), Trace()]
    for tokens, run in zip((told.before, told.after), runs, strict=True):
        stepped(model, model.tokenizer.encode("".join(tokens[1:])), run)
    last = len(told.before) - 1
    for stop in told.stops:
        one, other = (run[stop.name, last, stop.layer] for run in runs)
        assert stop.changes == bool(np.abs(one - other).max() > 1e-6)
    assert solved("right", "swap").count("yes") == sum(stop.changes for stop in told.stops)


def test_the_order_of_a_prompt_is_weighed_by_what_a_change_reaches() -> None:
    told = numbers("right").order
    parts = {"told": told.told, "date": told.date, "examples": told.examples, "question": told.question}
    changing = {"date", "question"}

    def again(order: tuple[str, ...]) -> int:
        first = next(i for i, part in enumerate(order) if part in changing)
        return sum(parts[part] for part in order[first:])

    assert again(tuple(parts)) == result(told.again)
    assert min(map(again, itertools.permutations(parts))) == result(told.best)
    stale = 0
    for layer in range(told.layers):
        for position in range(sum(parts.values())):
            own = parts["told"] <= position < parts["told"] + parts["date"]
            stale += own or (layer > 0 and position >= parts["told"])
    assert stale == result(told.stale) and told.rows == told.layers * sum(parts.values())


def test_the_sliding_window_repeats_a_position() -> None:
    told = numbers("right").places
    taken: list[int] = []

    class Table(dict[int, Array]):
        def __missing__(self, position: int) -> Array:
            taken.append(position)
            return np.zeros(2)

    eye = np.eye(2)
    step = run_of(
        "window", wte=np.zeros((1, 2)), wpe=Table(), wq=eye, wk=eye, wv=eye, window=told.window,
        attend=lambda q, keys, values: len(keys),
    )["step"]  # fmt: skip
    for _ in told.positions:
        assert step(0) <= told.window
    assert taken == told.positions
    assert told.first == 1 + next(i for i, position in enumerate(taken) if position != i)


def test_the_loss_is_that_of_training() -> None:
    told, model = numbers("right").loss, shipped("names")
    ids = [*model.tokenizer.encode("ivan"), model.tokenizer.start]
    grads = {name: np.zeros_like(value) for name, value in model.params.items()}
    assert [one.comes for one in told.guesses][:-1] == list("ivan")
    assert result(told.mean) == pytest.approx(loss_and_grads(model.params, model.config, ids, grads), abs=0.03)
    assert result(told.even) == math.log(model.config.vocab_size)
    trace = Trace()
    forward(model.params, model.config, ids[:-1], KVCache(model.config), trace)
    scores = trace["attn_scores", 0, 0][0]
    assert np.isfinite(scores).sum() == result(told.scores) and (~np.isfinite(scores)).sum() == result(told.masked)


# ---- what it costs --------------------------------------------------------------------------------


def test_the_model_is_found_from_its_cache() -> None:
    told = numbers("cost").backwards
    c = PRESETS["Llama-3-70B"].config
    (heads,) = [n for n in range(1, c.n_head + 1) if 2 * 2 * c.n_layer * c.head_dim * n == told.per_token]
    assert result(told.heads) == heads == c.n_kv_head and result(told.group) * heads == c.n_head
    n = result(told.tokens)
    assert n * told.per_token <= 10**10 < (n + 1) * told.per_token
    latent = PRESETS["DeepSeek-V3"].latent
    assert latent is not None and told.short == latent.d_c + latent.d_rope
    assert result(told.same) * 2 * c.head_dim == told.short


def test_the_card_is_filled_text_by_text() -> None:
    told, a = numbers("cost").card, PRESETS["Llama-3-8B"]
    c = a.config
    for found, heads, size, tokens in (
        (told.plain, c.n_kv_head, 2, told.reserved), (told.halved, c.n_kv_head, 1, told.reserved),
        (told.unshared, c.n_head, 2, told.reserved), (told.pages, c.n_kv_head, 2, told.mean),
    ):  # fmt: skip
        free, texts = 80 * 10**9 - 2 * a.n_params, 0
        while free >= (text_bytes := 2 * c.n_layer * heads * c.head_dim * size * tokens):
            free, texts = free - text_bytes, texts + 1
        assert result(found.texts) == texts
    assert result(told.halved.texts) > 2 * result(told.plain.texts)  # as the answer says
    assert result(told.unused) == pytest.approx(1 - told.mean / told.reserved)


def test_the_least_times_are_those_of_the_data_sheet() -> None:
    told, a = numbers("cost").times, PRESETS["Llama-3-8B"]
    macs, carried = MACHINE
    assert (told.macs, told.carried) == MACHINE
    weights = a.n_params - a.config.vocab_size * a.config.n_embd + a.config.n_embd  # of the table one row
    assert told.weights == weights and told.per_token == 4 * a.config.n_layer * a.config.n_kv_head * a.config.head_dim
    prefill = told.prompt * weights / macs
    step = (2 * weights + told.prompt * told.per_token) / carried
    many = (2 * weights + told.batch * told.prompt * told.per_token) / carried
    assert prefill > 2 * weights / carried and step > weights / macs  # which of the two takes the time
    assert result(told.prefill) == pytest.approx(prefill, abs=0.01)
    assert result(told.step) == pytest.approx(step, abs=0.01) and result(told.together) == pytest.approx(many, abs=0.01)
    assert result(told.total) == pytest.approx(prefill + told.answer * step, rel=0.001)
    assert told.answer * step > 0.9 * result(told.total)
    assert result(told.rate) == pytest.approx(1000 / step, abs=1)
    assert result(told.rate_together) == pytest.approx(told.batch * 1000 / many, abs=1.5)


def test_the_drafts_are_played_round_by_round() -> None:
    told = numbers("cost").drafts
    rows, known, cropped, clock = 0, 1, 0, 0.0
    for one in told.rounds:
        rows += 1 + told.drafted  # the known token and all drafts
        assert one.appended == 1 + told.drafted
        rows -= told.drafted - one.accepted
        cropped += told.drafted - one.accepted
        known += one.accepted + 1
        assert rows == known - 1  # what was chosen last has no row
        clock += 1 + told.drafted / told.cheap
    assert result(told.written) == known - 1 and result(told.cropped) == cropped
    assert result(told.price) == pytest.approx(clock) and result(told.saved) == pytest.approx((known - 1) / clock)


def test_what_halves_a_cache_is_seen_in_a_cache() -> None:
    small = replace(shipped("stories").config, n_head=8, n_kv_head=4, n_layer=4)

    def size(config: Any) -> int:
        cache = KVCache(config)
        row = np.zeros((1, config.n_kv_head, config.head_dim))
        for layer in cache.layers:
            layer.append(row, row)
        return sum(layer.keys.size + layer.values.size for layer in cache.layers)

    for half in numbers("cost").halves:
        made = size(replace(small, **{half.field: getattr(small, half.field) // 2}))
        assert made == size(small) // (2 if half.changed else 1), half.field


def test_the_heads_that_read_each_others_keys() -> None:
    told = numbers("cost").groups
    keys, values = np.random.default_rng(3).normal(size=(2, told.n_kv_head, 5, 4))
    q = np.random.default_rng(4).normal(size=(told.n_head, 4))
    around: dict[str, Any] = {"n_head": told.n_head, "n_kv_head": told.n_kv_head, "head_dim": 4}
    line = "head // (n_head // n_kv_head)"
    assert line in solved("cost", "groups")
    found, right = (
        run_of("groups", change, **around)["attend"](q, keys, values).reshape(told.n_head, -1)
        for change in ((), (("head % n_kv_head", line),))
    )
    grouped = np.repeat(values, told.n_head // told.n_kv_head, axis=0)
    scores = np.einsum("hd,htd->ht", q, np.repeat(keys, told.n_head // told.n_kv_head, axis=0)) / 2
    np.testing.assert_allclose(right, [softmax(row) @ v for row, v in zip(scores, grouped, strict=True)])
    assert told.wrong == [head for head in range(told.n_head) if np.abs(found[head] - right[head]).max() > 1e-9]


def test_a_dropped_key_gives_its_weight_to_the_others() -> None:
    told, model = numbers("cost").dropped, shipped("stories")
    trace = Trace()
    stepped(model, model.tokenizer.encode("The sun is"), trace)
    n = len(told.tokens)
    weights = [trace["attn_weights", i, 0][1, 0] for i in range(n)]
    for j, one in enumerate(told.rows):
        received = even = 0.0
        for i in range(j, n):
            received += weights[i][j]
            even += 1 / len(weights[i])
        assert abs(result(one.received) - received) < 0.02 and result(one.even) == pytest.approx(even)
        assert abs(result(one.times) - received / even) < 0.03
    assert len(told.rows) == n - 1 and told.most == max(told.rows, key=lambda one: result(one.times)).token
    scores = trace["attn_scores", n - 1, 0][1, 0].copy()
    scores[told.gone] = -np.inf
    again = np.delete(softmax(scores), told.gone)
    assert np.abs(np.array([result(one) for one in told.again]) - again).max() < 0.01
    assert np.abs(again - np.delete(weights[-1], told.gone)).max() < 0.02  # they hardly change


# ---- in your code ---------------------------------------------------------------------------------


def test_the_shapes_are_those_of_a_run() -> None:
    told, small = numbers("code"), shipped("names")
    cache = KVCache(small.config)
    for one in told.passes:
        n = told.prompt if one.i == 1 else 1
        start = len(cache)
        prefill(small.params, small.config, [1] * n, cache)
        assert one.ids == f"[1, {n}]" and one.length == len(cache)
        assert one.positions == (f"{start}–{start + n - 1}" if n > 1 else f"{start}")
        assert one.keys == f"[1, {told.config.n_kv_head}, {len(cache)}, {told.config.head_dim}]"


def test_what_may_stay_is_what_a_fresh_run_writes_again() -> None:
    told, model = numbers("code").kept, shipped("names-deep")
    kept = run_of("kept")["kept"]
    assert kept(told.old, told.new) == told.n and len(told.new) - told.n == told.run
    rows = range(min(len(told.old), len(told.new)))
    last = [stepped(model, ids).layers[-1].keys for ids in (told.old, told.new)]
    right = [np.abs(last[0][:, row] - last[1][:, row]).max() < 1e-9 for row in rows]
    assert right == [row < told.n for row in rows]
    assert any(told.old[row] == told.new[row] for row in rows if row > told.n)  # as the last question says
    for old, new in (([], [1]), ([1, 2], [1, 2]), ([1, 2, 3], [1, 2]), ([4], [1, 2])):
        n = kept(old, new)
        assert n < len(new) and old[:n] == new[:n] and (n in (len(old), len(new) - 1) or old[n] != new[n])


def test_the_turns_of_a_chat_are_played() -> None:
    told = numbers("code").turns
    cache = text_length = plain = cached = 0
    for said, answer in ((told.first, told.answer), (told.question, told.second), (told.last, 0)):
        text_length += said
        plain, cached = plain + text_length, cached + text_length - cache
        cache = text_length
        for _ in range(answer):
            text_length += 1  # chosen, and run when the next one is needed
            cache = text_length - 1
    assert (result(told.plain), result(told.cached)) == (plain, cached)
    assert [result(turn.run) for turn in told.turns][0] == told.first


def test_shared_caches_grow_together() -> None:
    def play(*mended: tuple[str, str]) -> tuple[list[int], list[list[int]]]:
        made: list[list[int]] = []
        read: list[int] = []

        def new_cache() -> list[int]:
            made.append([])
            return made[-1]

        def run(ids: list[int], cache: list[int]) -> int:
            cache.extend(ids)
            read.append(len(cache))
            return 0

        found = run_of("copies", mended, new_cache=new_cache, run=run, draw=lambda row: row)
        assert [len(one) for one in found["continuations"]([1, 2, 3], 4, 5)] == [5] * 4
        return read, made

    read, made = play()
    assert len(made[0]) == 3 + 4 * 5  # p + n × length
    line = "[copy.deepcopy(cache) for _ in range(n)]"
    assert line in solved("code", "copies")
    mended, _ = play(("[cache] * n", line))
    assert max(read) == 3 + 4 * 5 and max(mended) == 3 + 5


def test_growing_is_counted_row_by_row() -> None:
    told = numbers("code").growth
    joined = doubled = 0
    room = 1
    for length in range(told.n):
        joined += length + 1
        if length == room:
            doubled, room = doubled + length, 2 * room
        doubled += 1
    assert (result(told.joined), result(told.doubled), told.room) == (joined, doubled, room)
    for rows, size in ((joined, told.joined_bytes), (doubled, told.doubled_bytes), (told.n, told.reserved_bytes)):
        assert result(size) == rows * PRESETS["Llama-3-8B"].bytes_per_token()


def test_the_same_text_does_not_show_the_same_logits() -> None:
    """A wrong position can leave every word as it is: what the last exercise says."""
    model = shipped("stories")
    ids = model.tokenizer.encode("The sun is")
    right = forward(model.params, model.config, ids, KVCache(model.config))[-1]
    wrong = forward(model.params, model.config, [ids[0], *ids], KVCache(model.config))[-1]
    assert right.argmax() == wrong.argmax() and np.abs(right - wrong).max() > 0.01


# ---- what engines do ------------------------------------------------------------------------------


def test_two_texts_in_one_pool_have_the_tables_of_a_run() -> None:
    told = numbers("engines").tables
    pool = BlockPool(Config(), told.n_blocks, told.size)
    caches, row = [PagedCache(pool) for _ in told.lengths], np.zeros((1, 4, 4))
    for i in range(max(told.lengths)):
        for paged, n in zip(caches, told.lengths, strict=True):
            if i < n:
                paged[0].append(row, row)
    assert [told.first, told.second] == [paged.table for paged in caches]
    assert [result(one) for one in told.empty] == [paged.n_empty for paged in caches]
    slots = [block * told.size + place for block in caches[0].table for place in range(told.size)]
    assert result(told.slot) == slots[told.row]


def test_readers_are_let_in_one_by_one() -> None:
    told = numbers("engines").blocks
    rows = told.room // PRESETS[told.name].bytes_per_token()
    texts = used = 0
    while used + told.reserved <= rows:
        texts, used = texts + 1, used + told.reserved
    assert result(told.few) == texts
    texts, free = 0, rows // told.size
    while free * told.size >= told.mean:
        for _ in range(0, told.mean, told.size):
            free -= 1
        texts += 1
    assert (result(told.pool), result(told.many)) == (rows // told.size, texts)


def test_the_crop_gives_back_a_block_with_rows() -> None:
    told = numbers("engines").cropped
    for n in range(1, 12):
        rows, wrong, right = [0, 1, 2], [0, 1, 2], [0, 1, 2]
        run_of("cropped", B=told.size)["crop"](wrong, [], n)
        run_of("cropped", (("n // B", "-(-n // B)"),), B=told.size)["crop"](right, [], n)
        assert right == [block for block in rows if block * told.size < n]
        assert (wrong == right) == (n % told.size == 0)
        if n == told.n:
            assert result(told.lost) == n - len(wrong) * told.size
    assert "keep = -(-n // B)" in solved("engines", "cropped")


def test_a_chat_finds_what_it_has_sent_before() -> None:
    """Turn by turn with the tokens themselves: what is run is what no prompt before has, up to its newest token."""
    told = numbers("engines").prefix
    for clock in (False, True):
        text, held, sent, run = ["system"] * told.system, list[str](), 0, list[int]()
        for turn in range(told.turns):
            text += [f"question {turn}"] * told.asked
            prompt = [f"time {turn}", *text[1:]] if clock else text
            alike = next((i for i, (a, b) in enumerate(zip(prompt, held, strict=False)) if a != b), len(held))
            sent, run = sent + len(prompt), [*run, len(prompt) - alike]
            text = text + [f"answer {turn}"] * told.answered
            held = [*prompt, *text[len(prompt) :]][:-1]  # the newest token has no row
        if clock:
            assert sum(run) == sent and result(told.clock) == pytest.approx(sent / told.run.values[-1])
        else:
            assert (result(told.sent), result(told.new), result(told.run)) == (sent, run[-1], sum(run))


def test_a_source_is_heard_once() -> None:
    """Bytes of real arrays, and rows that real beams hold."""
    told = numbers("engines").heard
    rows = np.zeros((2, told.n_layer, told.source, told.width), np.float16)
    own = np.zeros((2, told.n_layer, told.written, told.width), np.float16)
    assert (result(told.of_source), result(told.own)) == (rows.nbytes, own.nbytes)
    assert result(told.anew) == sum(told.source for _ in range(told.written))
    beams = [[(beam, i) for i in range(told.written)] for beam in range(told.beams)]
    source = [("source", i) for i in range(told.source)]
    assert result(told.shared) == len({row for beam in beams for row in (*source, *beam)})
    assert result(told.apart) == sum(len(source) + len(beam) for beam in beams)


def test_two_tiles_are_softmax_over_all_four() -> None:
    told = numbers("engines").tiled
    scores, values = (np.array(x).ravel() for x in (told.scores, told.values))
    weights = np.exp(scores) / np.exp(scores).sum()
    assert abs(result(told.out) - weights @ values) < 1e-12
    halves = [
        np.exp(s) @ v / np.exp(s).sum() for s, v in zip(np.array(told.scores), np.array(told.values), strict=True)
    ]
    assert np.allclose([result(one) for one in told.apart], halves, atol=1e-12)
    assert abs(result(told.mean) - np.mean(halves)) < 1e-12 and result(told.mean) < result(told.out)
    assert abs(result(told.l) * math.exp(5) - np.exp(scores).sum()) < 1e-9
    assert abs(result(told.o) * math.exp(5) - np.exp(scores) @ values) < 1e-9
    assert abs(result(told.first) * math.exp(3) - np.exp(scores[:2]).sum()) < 1e-9
    assert abs(result(told.first_o) * math.exp(3) - np.exp(scores[:2]) @ values[:2]) < 1e-9


def test_places_are_taken_pass_by_pass() -> None:
    """As a scheduler of texts would: at each pass the free places go to those that wait."""
    told = numbers("engines").turns
    for static in (True, False):
        waiting, running, passes, begun = list(range(len(told.writes))), dict[int, int](), 0, dict[int, int]()
        while waiting or running:
            passes += 1
            while waiting and len(running) < told.places:
                if static and running and begun[next(iter(running))] < passes:
                    break
                text = waiting.pop(0)
                running[text], begun[text] = told.writes[text], passes
            running = {text: left - 1 for text, left in running.items() if left > 1}
        shown = result(told.static) if static else told.joined
        assert (passes, begun[3]) == (shown, told.last[0 if static else 1])
        share = sum(told.writes) / (told.places * passes)
        assert abs(result(told.share if static else told.better) - share) < 1e-12
    orders = [max(a, b) + max(c, d) for a, b, c, d in itertools.permutations(told.writes)]
    assert min(orders) == told.sorted > told.joined  # no order saves static batches from waste
    assert told.writes[1] == told.writes[2] and len(set(told.writes)) == 3  # two of one length, whose partners differ


@pytest.mark.parametrize("writes", [(3, 1, 2, 2), (2, 2, 2, 2)])
def test_an_exercise_that_compares_has_a_difference_to_find(
    writes: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With these the two ways come to the same, and no sheet is made."""
    monkeypatch.setattr(engines, "WRITES", writes)
    with pytest.raises(ValueError, match="asks to compare"):
        engines.numbers()


def test_a_draft_for_three_tokens_leaves_the_law() -> None:
    """In fractions, case by case; and the tokens of a round by all its outcomes."""
    told = numbers("engines").drafted
    p, q = ([Fraction(round(10 * x), 10) for x in law] for law in (told.p_target, told.p_draft))
    keep = [min(Fraction(1), a / b) for a, b in zip(p, q, strict=True)]
    common = sum(b * k for b, k in zip(q, keep, strict=True))
    assert abs(result(told.chance) - float(keep[0])) < 1e-12 and abs(result(told.common) - float(common)) < 1e-12
    for i in range(3):
        assert q[i] * keep[i] + (1 - common) * Fraction(round(told.left[i])) == p[i]
    assert abs(result(told.back) - float(p[1])) < 1e-12
    tokens = sum((n + 1) * common**n * (1 - common if n < told.guesses else 1) for n in range(told.guesses + 1))
    assert abs(result(told.tokens) - float(tokens)) < 1e-12
    assert abs(result(told.times) - float(tokens / (1 + Fraction(told.guesses, told.price)))) < 1e-12


def test_four_numbers_on_a_grid_are_those_of_the_codes() -> None:
    """By the codes of the caches, and once more by the nearest of all points."""
    told = numbers("engines").coded
    for numbers_, scale, back, off in (
        (told.numbers, told.scale, told.back, told.off),
        ((*told.numbers[:-1], told.larger), told.wide, told.moved, told.further),
    ):
        x, grid = np.array(numbers_), Grid(told.bits)
        codes = grid.encode(x)
        assert abs(result(scale) - codes.scale[0]) < 1e-12 and np.abs(grid.decode(codes) - back).max() < 1e-12
        points = x.min() + codes.scale[0] * np.arange(16)
        assert np.abs(points[np.abs(points[:, None] - x).argmin(axis=0)] - back).max() < 1e-12
        assert abs(off - np.abs(x - back).max()) < 1e-12
    grid, x = Grid(told.bits), np.array(told.numbers)
    assert [round(result(one)) for one in told.codes] == grid.unpack(grid.encode(x).packed).tolist()
    assert result(told.size) == 8 * Grid(told.bits, scales=np.float16).bytes_of(4) / 4
    assert abs(result(told.symmetric) - Grid(told.bits, symmetric=True).encode(x).scale[0]) < 1e-12


def test_a_card_with_many_readers_in_seconds() -> None:
    told = numbers("engines").roof
    read = 2 * told.weights / told.reads
    rows = told.texts * told.long * told.per_token
    step = read + rows / told.reads
    assert result(told.alone) == pytest.approx(1000 * read) and result(told.rows) == pytest.approx(rows / 1e9)
    assert result(told.step) == pytest.approx(1000 * step)
    assert result(told.per_second) == pytest.approx(told.texts / step)
    equal = round(result(told.equal))
    assert equal * told.long * told.per_token == 2 * told.weights
    work = told.texts * 2 * told.weights / told.does
    assert result(told.work) == pytest.approx(1000 * work) and work < step
    for texts in (1, 100, 10_000, 10**7):  # no batch is limited by arithmetic
        assert texts * 2 * told.weights / told.does < read + texts * told.long * told.per_token / told.reads
    assert result(told.by_work) == pytest.approx(1e6 * 2 * told.weights / told.does)
    assert result(told.by_rows) == pytest.approx(1e6 * told.long * told.per_token / told.reads)
    assert result(told.by_latents) == pytest.approx(1e6 * told.long * told.short / told.reads)
    texts = 1000  # with latent rows there is one
    assert texts * 2 * told.weights / told.does > read + texts * told.long * told.short / told.reads


def test_blocks_out_of_reach_hold_no_row_that_the_next_token_reads() -> None:
    told = numbers("engines").cropped
    sees = range(told.n + 1 - told.window, told.n + 1)
    assert sees[0] == result(told.first)
    blocks = [range(at, at + told.size) for at in range(0, told.n, told.size)]
    assert int(result(told.free)) == sum(not set(block) & {*sees} and block[-1] < sees[0] for block in blocks)
