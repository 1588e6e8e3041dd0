"""What the lessons ask a reader to work out, and each answer, come to in another way than the page comes to it.

A question is to compute something from numbers that are there, to predict a number, a curve or an experiment, or to
find the bug in a few lines of code. Bugs are run here too.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from microgpt.architectures.known import PRESETS
from microgpt.attention.ranks import kv_heads_of
from microgpt.cache import KVCache
from microgpt.caches.codes import Grid
from microgpt.caches.ring import RingLayer
from microgpt.config import Array, Config, param_shapes
from microgpt.cost import PARTS
from microgpt.course.full_cache.policies import after_shift
from microgpt.course.prefill_and_decode.passes import DRAFT_PROMPT
from microgpt.course.reading_limit.lesson import CARD, LARGE
from microgpt.experiments import mistakes
from microgpt.experiments.validity import rows_under
from microgpt.model import forward
from microgpt.serving.adapters import drawn, voided
from microgpt.serving.hardware import PROCESSORS, bound, decoding
from microgpt.serving.scheduler import Blocks, Policy, Request, Scheduler
from microgpt.viz.drawing.picture import Picture
from microgpt.weights import shipped

COMPUTE, PREDICT, BUG = "compute", "predict", "bug"
LLAMA = PRESETS["Llama-3-8B"]
Question = tuple[str, str, Callable[[Any], str]]  # name, kind, and the face of the right option, by the view


def shares(scores: Array) -> Array:
    return np.asarray(np.exp(scores) / np.exp(scores).sum())


def hidden(view: Any) -> str:
    """The weights of the keys before the last alone."""
    return f"{shares(np.array([one.score for one in view.keys[:-1]]))[view.fewer_of.i]:.2f}"


def louder(view: Any) -> str:
    scores = np.array([one.score for one in view.keys])
    assert shares(10 * scores).max() > shares(scores).max() + 0.1
    return "the largest weight grows"


def leaked(view: Any) -> str:
    """The first query and all keys of its head, from the triangle of a text in which nothing is masked."""
    picture = Picture(view.trace)
    q, k = picture_rows(picture, "q")[:1], picture_rows(picture, "k")
    first = shares((q @ k.T / math.sqrt(view.head_dim))[0])[0]
    assert abs(first - view.leaked) < 1e-12 and first < 0.5
    return "the weights of a row add up to less than one"


def picture_rows(picture: Picture, name: str) -> Array:
    """[n, head_dim]: of the head that is on show."""
    layer, head = picture.clearest
    return np.stack([picture.trace[name, i, layer][0, head] for i in range(picture.n)])


def own_row(view: Any) -> str:
    assert view.rows_read(0) == 1  # a step reads its own row: the lines would find none
    return "the token cannot read its own row"


def most_work(view: Any) -> str:
    work = np.sum([[part.with_cache for part in step.parts] for step in view.steps], axis=0)
    of = dict(zip(PARTS, work.tolist(), strict=True))
    faces = {
        "projections: q, k, v and output": of["qkv"] + of["out"],
        "MLP": of["mlp"],
        "attention: scores and mixing": of["scores"] + of["mixing"],
        "output head": of["head"],
    }
    return max(faces, key=faces.__getitem__)


def standing(view: Any) -> str:
    """The positions of all tokens are the first: the same run as of each token by itself, but for the rows."""
    model = shipped(view.model)
    ids = [model.tokenizer.vocabulary.index(token) for token in view.trace.about["tokens"]]
    right = np.stack([view.trace["logits", i][0] for i in range(view.n)])
    off = np.abs(mistakes.no_offset(model.params, model.config, ids) - right).max(axis=-1)
    assert off[0] < 1e-12 and off[1:].min() > 0.5
    return "from the second step on"


def all_asked(view: Any) -> str:
    """Queries of one head of the first layer, all at once and without a mask."""
    trace, n = view.trace, view.n
    q, k, v = (np.stack([trace[name, i, 0][0, 0] for i in range(n)]) for name in "qkv")
    found = np.stack([shares(row) for row in q @ k.T / math.sqrt(q.shape[-1])]) @ v
    own = np.stack([trace["head_out", i, 0][0, : q.shape[-1]] for i in range(n)])
    off = np.abs(found - own).max(axis=-1)
    assert off[-1] < 1e-12 and (off[:-1] > 0.01).all()
    return "the last row is right, and all others were computed for nothing"


def same_choice(view: Any) -> str:
    """The first row is that of the first token alone, whatever comes after it."""
    model = shipped("stories")
    logits = forward(model.params, model.config, [model.tokenizer.start], KVCache(model.config))
    assert {*view.asks.stuck} == {model.tokenizer.vocabulary[int(logits[0].argmax())]} and len(view.asks.stuck) > 1
    return "every pass chooses the same token"


def steady(view: Any) -> str:
    x = np.random.default_rng(1).normal(size=view.config.n_embd)
    once, louder = (row / np.sqrt((row * row).mean()) for row in (x, view.asks.louder * x))
    assert np.abs(once - louder).max() < 1e-12 and view.asks.steady < 1e-3
    return "the same numbers"


def replaced(view: Any) -> str:
    model, pos = shipped(view.model), view.at
    bare = view.trace["mlp_out", pos, view.n_layer - 1][0] @ model.params["lm_head"].T
    off = np.abs(bare - view.trace["logits", pos][0]).max()
    assert not model.config.final_norm and off == view.asks.replaced > 1
    return "the MLP replaces the stream instead of adding to it"


def moved(view: Any) -> str:
    (one,) = (one for one in view.experiments if one.kind == "move")
    assert one.n_stale and not any(off for row in one.rows[: one.at] for off, _ in row.off)
    return "rows after it are stale"


def own_row_alone(view: Any) -> str:
    """An early row is made anew in a whole cache, by one pass; the last token runs, and rows before it are still right."""
    model = shipped("names-deep")
    ids = model.tokenizer.encode("juliann")
    edited, cache, fresh = [*ids[:4], ids[4] + 1, *ids[5:]], KVCache(model.config), KVCache(model.config)
    forward(model.params, model.config, ids[:-1], cache)
    right = forward(model.params, model.config, edited, fresh)[-1]
    for layer, new in zip(cache.layers, fresh.layers, strict=True):
        assert np.abs(layer.keys[:, :4] - new.keys[:, :4]).max() < 1e-12
        layer.keys[:, 4], layer.values[:, 4] = new.keys[:, 4], new.values[:, 4]
    assert np.abs(right - forward(model.params, model.config, edited[-1:], cache)[0]).max() > 2
    return "rows after i are stale"


def no_reset(view: Any) -> str:
    means = mistakes.measured("names")
    assert means["no_reset"].loss > means["right"].loss + 0.5
    return "each name reads the rows of those before it"


def uncropped(view: Any) -> str:
    """The round once more, by hand: what was rejected stays, or was never there."""
    said, target, draft = view.speculation, shipped("names-deep"), shipped("names")
    ids = target.tokenizer.encode(DRAFT_PROMPT)
    drafted, *_, kept = next(one for one in said.rounds if not all(agreed for _, agreed in one[0]))
    written = [*ids, *target.tokenizer.encode(said.text)[len(ids) :]]
    known, newest = written[:kept], written[kept]
    wrong = [draft.tokenizer.vocabulary.index(token) for token, agreed in drafted if not agreed]
    logits = []
    for rows in (known, known + wrong):
        cache = KVCache(target.config)
        forward(target.params, target.config, rows, cache)
        logits.append(forward(target.params, target.config, [newest], cache))
    assert np.abs(logits[1] - logits[0]).max() > 0.5
    assert abs(np.abs(logits[1] - logits[0]).max() - said.uncropped) < 1e-9
    return "the cache still has the rows of rejected guesses"


def in_turn(view: Any) -> str:
    """Head by head, with the key head of the remainder; the first and the last query head get their own."""
    trace, last = view.trace, view.n - 1
    q = trace["q", last, 0][0]
    k, v = (np.stack([trace[name, i, 0][0] for i in range(view.n)]) for name in "kv")
    d, group = q.shape[-1], view.config.n_head // view.config.n_kv_head
    own = trace["head_out", last, 0][0].reshape(view.config.n_head, d)
    off = [
        float(np.abs(shares(k[:, mine] @ q[head] / math.sqrt(d)) @ v[:, mine] - own[head]).max())
        for head in range(view.config.n_head)
        for mine in [head % view.config.n_kv_head]
    ]
    assert [x > 1e-6 for x in off] == [
        head % view.config.n_kv_head != head // group for head in range(view.config.n_head)
    ]
    assert abs(max(off) - view.asks.mixed_up) < 1e-12
    return "query heads read the keys and values of another group"


def newest(view: Any) -> str:
    least = [min(range(view.n), key=[row[1] for row in table.rows].__getitem__) for table in view.tables]
    assert least.count(view.n - 1) == view.asks.newest > view.n_heads / 2
    return "young rows have had few steps to receive anything"


def fed_again(view: Any) -> str:
    lengths = [one.length for one in view.passes]
    assert [b - a for a, b in pairwise([0, *view.bug_lengths])] == lengths  # the whole text, each time
    return "the ids are fed again although the cache has their rows"


def overlapping(view: Any) -> str:
    """At the fullest moment, with the tables that the picture has there: each row by the wrong address."""
    moment = view.moments[view.choices[0].at]
    slots = [table[i // 2] + i % 2 for _, table, rows, _ in moment.tables for i in range(rows)]
    assert (len(slots), len({*slots})) == (view.asks.bug_rows, view.asks.bug_slots) and len({*slots}) < len(slots)
    return "different rows are written to the same slot"


def found_elsewhere(view: Any) -> str:
    """Blocks by their tokens alone: all those of the other text are there, and lead to rows that are not its own."""
    model = shipped("names-deep")
    ids = model.tokenizer.encode("christon")
    held = {tuple(ids[i : i + 2]): i for i in range(0, 8, 2)}
    other = [token for i in (0, 4, 2) for token in ids[i : i + 2]]
    assert [held[tuple(other[i : i + 2])] for i in range(0, 6, 2)] == [0, 4, 2] and len(other) == view.asks.bug_found
    right, lent = KVCache(model.config), KVCache(model.config)
    forward(model.params, model.config, ids, right)
    for mine, theirs in zip(lent.layers, right.layers, strict=True):
        rows = [0, 1, 4, 5, 2, 3]
        mine.append(theirs.keys[:, rows].swapaxes(0, 1), theirs.values[:, rows].swapaxes(0, 1))
    wrong = forward(model.params, model.config, ids[-1:], lent)[-1]
    fresh = forward(model.params, model.config, [*other, ids[-1]], KVCache(model.config))[-1]
    assert abs(np.abs(wrong - fresh).max() - view.asks.wrong) < 1e-12 and view.asks.wrong > 1
    return "rows are found that belong after other tokens"


def unseen(view: Any) -> str:
    """A model of four layers, run without a mask: rows that a seventh token changes."""
    assert (view.asks.layers, view.asks.tokens) == (4, 6)
    return f"{stale_rows(6, 27).sum():.0f}"


def finished(view: Any) -> str:
    """The same with blocks of four, and ten tokens: those of which no row changes."""
    assert (view.asks.long, view.asks.size) == (10, 4)
    return f"{(~stale_rows(10, 4).any(axis=0)).sum()}"


def stale_rows(n: int, block: int) -> Array:
    """Layer by token: whether one more token changes a row of names-deep."""
    model = shipped("names-deep")
    ids = [(5 * i) % 26 for i in range(n + 1)]
    rows = [rows_under(model.params, model.config, text, block) for text in (ids[:-1], ids)]
    return np.asarray(np.abs(rows[0] - rows[1][:, :n]).max(axis=-1) > 1e-9)


def queried(view: Any) -> str:
    """An adapter of wq alone, on the text of the page: where its rows are those of the base."""
    model = shipped("names-deep")
    ids = model.tokenizer.encode("maria")
    off = voided(model.params, model.config, drawn(model.config, ["wq"], 2), ids).max(axis=1)
    assert off[0] == 0 and (off[1:] > 0).all()
    return "those of the first layer"


def heard_again(view: Any) -> str:
    assert all(step.moved == step.difference == 0 for step in view.steps)
    return "what never changes is made again at every step"


def smaller(view: Any) -> str:
    """The weights of the first tile's keys in a softmax over their own tile and over both."""
    a, b, c = np.exp([*view.asks.scores, view.asks.next])
    return f"{c**-1 * b:.2f}" if a < b < c else ""


def by_weight(view: Any) -> str:
    """Four keys: one of the value 2, three of the value 4, all with the same score."""
    assert view.asks.halves == ((2, 1), (4, 3))
    return f"{np.mean([2, 4, 4, 4]):.2f}"


def one_query(view: Any) -> str:
    """All that is read and stored for one query over the keys, with and without scores."""
    n, d = 4096, 128
    rows = 2 * d + 2 * n * d
    assert (rows + 4 * n) / rows < 1.02
    return "hardly any fewer"


def not_rescaled(view: Any) -> str:
    """The loop is run as it stands, with values of 1 in the first tile and 0 elsewhere: its weight."""
    scores = [np.array([key.score for key in tile.keys]) for tile in view.tiles]
    found = []
    for mended in (True, False):
        m, total, first = -np.inf, 0.0, 0.0
        for i, s in enumerate(scores):
            new = max(m, s.max())
            old = np.exp(m - new) if mended else 1.0
            total, first = total * old + np.exp(s - new).sum(), first * old + (np.exp(s - new).sum() if i == 0 else 0)
            m = new
        found.append(first / total)
    assert np.allclose(found, view.asks.too_much) and found[1] > 2 * found[0]
    return "the keys of early tiles count for too much"


def left_empty(view: Any) -> str:
    """Pass by pass, the places whose text has ended."""
    written = view.asks.answers
    return f"{sum(n < at for at in range(1, max(written) + 1) for n in written)}"


def cut_up(view: Any) -> str:
    """The scheduler of the package, with three texts that write and a prompt that comes."""
    asks, scheduler = view.asks, Scheduler(Policy(view.asks.budget, 8), Blocks(100, 4))
    for n in range(asks.others):
        scheduler.add(Request(f"{n}", 1, 50))
    scheduler.done(scheduler.schedule())
    late, passes = Request("late", asks.prompt, 5), 0
    scheduler.add(late)
    while late.computed < asks.prompt:
        scheduler.done(scheduler.schedule())
        passes += 1
    return f"{passes}"


def unmixed(view: Any) -> str:
    small = view.way("small")
    assert view.same and small.preempted > 0
    return "the same tokens"


def starved(view: Any) -> str:
    """The loop as it stands: two that write, and a prompt of 20 with a budget of 8."""
    wanted, writes = {"prompt": 20, "a": 1, "b": 1}, []
    for _ in range(2):
        budget = 8
        for text in wanted:
            n = min(wanted[text], budget)
            budget -= n
            wanted[text] -= n if text == "prompt" else 0
            writes += [text] * n if text != "prompt" else []
    assert not writes
    return "their text stops whenever a long prompt comes"


def guessed_too_often(view: Any) -> str:
    """Of a thousand guesses 800 are this token; kept and drawn it must come to 200, and after a fall it is never drawn."""
    guesses, wanted = 1000 * view.asks.p_draft, 1000 * view.asks.p_target
    return f"{wanted / guesses:.2f}"


def tokens_of_a_round(view: Any) -> str:
    """Over all four fates of two guesses."""
    alpha, found = view.asks.alpha, 0.0
    for first in (True, False):
        for second in (True, False):
            chance = (alpha if first else 1 - alpha) * (alpha if second else 1 - alpha)
            found += chance * (3 if first and second else 2 if first else 1)
    return f"{found:.2f}"


def latents_once(view: Any) -> str:
    """By the bytes that a cache of such rows holds, in a tenth of the layers' shape: one layer after the other."""
    asks = view.asks
    config = Config(
        n_layer=asks.layers, n_kv_head=1, kv_lora_rank=asks.latent, rope_dim=asks.turned, head_dim=192, n_ctx=1,
        position="rope",
    )  # fmt: skip
    return f"{KVCache(config, np.float16).nbytes_reserved:,}"


def absorbed_is_equal(view: Any) -> str:
    model = shipped("stories-mla")
    ways = [replace(model.config, absorbed=way) for way in (False, True)]
    logits = [forward(model.params, config, [1, 2, 3, 4], KVCache(config)) for config in ways]
    assert np.abs(logits[0] - logits[1]).max() < 1e-12
    return "it stays the same"


def as_large_as_rows(view: Any) -> str:
    n = 0
    while n * view.asks.row < view.asks.state:
        n += 1
    return str(n)


def turned_latents(view: Any) -> str:
    """Turn, then make; and the other way round."""
    rng, turn = np.random.default_rng(0), np.array([[0.6, -0.8], [0.8, 0.6]])
    up, latent = rng.normal(size=(2, 2)), rng.normal(size=2)
    assert np.abs(up @ (turn @ latent) - turn @ (up @ latent)).max() > 0.1
    return "other keys: turning and making do not commute"


def all_together(view: Any) -> str:
    """Step by step for a minute."""
    asks, seconds, written = view.asks, 0.0, 0
    while seconds < 60:
        seconds += asks.weights / asks.speed
        written += asks.texts
    return f"{round(written / seconds):.2f}"


def twice_the_arithmetic(view: Any) -> str:
    old = PROCESSORS[CARD]
    new = old._replace(operations=2 * old.operations)
    step = bound(PRESETS[LARGE], decoding(1, view.longest))
    assert step.seconds(new) == step.seconds(old)
    return "not at all"


def whole_heads(view: Any) -> str:
    """By the heads that each rank must keep."""
    asks = view.asks
    kept = {len(kv_heads_of(rank, asks.ranks, 2 * asks.ranks, asks.heads)) for rank in range(asks.ranks)}
    assert kept == {1}
    return str(asks.heads)


def bits_for_bytes(view: Any) -> str:
    bits = 8 * view.asks.rows * 10**9
    assert bits / (view.asks.network * 10**9) == view.asks.seconds == 8 * view.asks.wrong
    return "eight times as long"


def held_by_a_ring(view: Any) -> str:
    """A ring of that window, after that text."""
    ring = RingLayer(1, view.asks.window, 2)
    for _ in range(view.asks.text // 100):
        ring.append(np.zeros((100, 1, 2)), np.zeros((100, 1, 2)))
    return f"{len(ring):,}"


def noticed(view: Any) -> str:
    """Change the first token of a model of so many layers: the last position whose logits differ."""
    model = shipped("names-deep")
    assert model.config.n_layer == view.asks.layers
    config = replace(model.config, window=view.asks.small)
    one, other = ([first, *[2] * 14] for first in (1, 3))
    logits = [forward(model.params, config, ids, KVCache(config)) for ids in (one, other)]
    return str(int(np.flatnonzero(np.abs(logits[0] - logits[1]).max(axis=1) > 1e-9).max()))


def shifted_layers(view: Any) -> str:
    model = shipped("stories")
    off = [max(pair) for pair in after_shift(model, list(range(1, 17)), 1)]
    assert off[0] < 1e-12 < 0.1 < min(off[1:])
    return "in the first"


def cropped_newest(view: Any) -> str:
    model = shipped("names")
    cache = KVCache(model.config)
    forward(model.params, model.config, [1, 2, 3, 4], cache)
    keys = cache[0].keys.copy()
    cache.crop(3)
    assert (cache[0].keys == keys[:, :3]).all()
    return "the newest, not the oldest"


def with_scale_and_minimum(view: Any) -> str:
    """From the bytes of a group."""
    grid = Grid(view.asks.bits, scales=np.float16)
    return f"{8 * grid.bytes_of(view.asks.group) / view.asks.group:.2f}"


def half_a_gap(view: Any) -> str:
    """The furthest of many numbers between both ends."""
    low, high = view.asks.range
    x, grid = np.linspace(low, high, 30_000), Grid(view.asks.bits)
    return f"{np.abs(grid.decode(grid.encode(x)) - x).max():.2f}"


def grid_of_all(view: Any) -> str:
    rows = np.random.default_rng(0).normal(size=(200, 16))
    large = rows.copy()
    large[:, 0] = view.asks.times * np.abs(rows).max(axis=1)
    grid = Grid(4)
    off, further = (np.abs(grid.decode(grid.encode(x)) - x)[:, 1:].max(axis=1) for x in (rows, large))
    assert 2 < np.median(further / off) < 2 * view.asks.times
    return "several times as far"


def coded_again(view: Any) -> str:
    """Row by row, as the listing does, against one coding of the group."""
    rows, grid = np.random.default_rng(1).normal(size=(64, 16)), Grid(8)
    kept = rows[:0]
    for row in rows:
        kept = grid.decode(grid.encode(np.vstack([kept, row]).T)).T
    once = grid.decode(grid.encode(rows.T)).T
    assert np.abs(kept - rows)[:16].mean() > 1.5 * np.abs(once - rows)[:16].mean()
    return "they have been rounded a thousand times"


def at_random(view: Any) -> str:
    """A draft that gives all letters the same: kept and drawn come to p."""
    p = shares(np.arange(27) / 9)
    q = np.full(27, 1 / 27)
    kept = q * np.minimum(1, p / q)
    left = np.maximum(p - q, 0)
    assert np.abs(kept + (1 - kept.sum()) * left / left.sum() - p).max() < 1e-12
    return "it follows the same law, and takes longer"


def drawn_twice(view: Any) -> str:
    """The lines as they stand, over all outcomes of three tokens."""
    p, q = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.6, 0.2])
    kept = q * np.minimum(1, p / q)
    found = kept + (1 - kept.sum()) * p
    assert ((found > p + 1e-9) >= (q > p)).all() and found[1] > p[1] and found[0] < p[0]
    return "those that the draft likes more than the target"


def cache_questions(numbers: int) -> tuple[Question, ...]:
    return (
        ("ask-held", COMPUTE, lambda view: f"{numbers * (view.n + 1):,}"),
        ("ask-alone", PREDICT, lambda view: f"{shares(view.trace['attn_scores', 0, 0][0, 0])[0]:.2f}"),
        ("ask-bug", BUG, own_row),
    )


QUESTIONS: dict[str, tuple[Question, ...]] = {
    "next-token": (
        ("ask-more", COMPUTE, lambda view: f"{sum(one.n for one in view.passes) + view.passes[-1].n + 1}"),
        ("ask-colder", COMPUTE, lambda view: "{:.0f}".format(*[a / b for t, a, b in view.open_table if t == 1])),
        ("ask-bug", BUG, same_choice),
    ),
    "attention": (
        ("ask-compute", COMPUTE, hidden),
        ("ask-predict", PREDICT, louder),
        ("ask-bug", BUG, leaked),
    ),
    "inside": (
        ("ask-count", COMPUTE, lambda view: f"{sum(shipped(view.model).params[f'layer0.{name}'].size for name in ('fc1', 'fc2')):,}"),
        ("ask-norm", PREDICT, steady),
        ("ask-bug", BUG, replaced),
    ),
    "kv-cache": cache_questions(2 * 4 * 4),
    "kv-cache-words": cache_questions(2 * 2 * 2 * 8),
    "with-and-without": (
        ("ask-share", PREDICT, most_work),
        ("ask-double", PREDICT, lambda view: f"{sum(t * t + t for t in range(1, 2001)) / sum(t * t + t for t in range(1, 1001)):.0f}"),
        ("ask-pairs", COMPUTE, lambda view: f"{sum(range(1, view.n + 2))}"),
        ("ask-bug", BUG, standing),
    ),
    "why-q": (
        ("ask-grow", PREDICT, lambda view: ", ".join(map(str, accumulate(range(1, 6))))),
        ("ask-next", COMPUTE, lambda view: f"{sum(step >= i for i in range(view.n + 1) for step in range(view.n + 1))}"),
        ("ask-bug", BUG, all_asked),
    ),
    "old-rows": (
        ("ask-stale", COMPUTE, lambda view: f"{1 + (view.n_layer - 1) * (view.n - view.asks.at)}"),
        ("ask-last", COMPUTE, lambda view: f"{view.n_layer * (view.n - 1)}"),
        ("ask-bug", BUG, moved),
    ),
    "edited-text": (
        ("ask-again", COMPUTE, lambda view: f"{len(range(250, 1000))}"),
        ("ask-blocks", COMPUTE, lambda view: f"{max(end for end in range(0, 1000, 16) if end <= 250)}"),
        ("ask-bug", BUG, own_row_alone),
    ),
    "training": (
        ("ask-masked", COMPUTE, lambda view: f"{np.triu(np.ones((view.n + 1, view.n + 1)), 1).sum():.0f}"),
        ("ask-guess", COMPUTE, lambda view: f"{-math.log(1 / (2 * shipped('names').config.vocab_size)):.2f}"),
        ("ask-later", PREDICT, lambda view: "the last" if not any(x.later for x in view.layers[0][-1].sides) else "the first"),
        ("ask-bug", BUG, no_reset),
    ),
    "prefill-and-decode": (
        ("ask-chunks", COMPUTE, lambda view: f"{len(range(0, 2000, 256))}"),
        ("ask-time", COMPUTE, lambda view: f"{view.prefill.milliseconds + 99 * view.decode.milliseconds:.0f}"),
        ("ask-bug", BUG, uncropped),
    ),
    "memory": (
        ("ask-own", COMPUTE, lambda view: f"{2 * 24 * 4 * 128 * 2:,}"),
        ("ask-batch", COMPUTE, lambda view: f"{(2 * (LLAMA.n_params - 128256 * 4096) + 2 * 8192 * 131072) / 1e9:.1f} GB"),
        ("ask-fit", COMPUTE, lambda view: f"{2 * 10**9 // (2 * 32 * 8 * 128 * 2):,}"),
    ),
    "fewer-heads": (
        ("ask-shape", COMPUTE, lambda view: f"{[*param_shapes(LLAMA.config)['layer0.wk']]}"),
        ("ask-times", COMPUTE, lambda view: f"{LLAMA.bytes_if_mha() / LLAMA.bytes_per_token():.0f}"),
        ("ask-two", COMPUTE, lambda view: f"{512 + 64}"),
        ("ask-bug", BUG, in_turn),
    ),
    "most-read": (
        ("ask-even", COMPUTE, lambda view: f"{sum(1 / step for step in range(1, view.n + 1)):.2f}"),
        ("ask-sum", COMPUTE, lambda view: f"{sum(row[1] for row in view.tables[0].rows):.0f}"),
        ("ask-bug", BUG, newest),
    ),
    "in-your-code": (
        ("ask-shape", COMPUTE, lambda view: f"{[3, LLAMA.config.n_kv_head, 500, LLAMA.config.head_dim]}"),
        ("ask-next", PREDICT, lambda view: f"the new id, at position {view.passes[-2].length}"),
        ("ask-bug", BUG, fed_again),
    ),
    "pages": (
        ("ask-slot", COMPUTE, lambda view: f"{[4 * block + i for block in (7, 1, 3) for i in range(4)][8]}"),
        ("ask-empty", COMPUTE, lambda view: f"{16 * math.ceil(37 / 16) - 37}"),
        ("ask-bug", BUG, overlapping),
    ),
    "shared-prefixes": (
        ("ask-found", COMPUTE, lambda view: f"{sum(16 for end in range(16, 101, 16) if end <= 70)}"),
        ("ask-again", PREDICT, lambda view: f"{max(end for end in range(0, 33, 16) if end <= 31)}"),
        ("ask-bug", BUG, found_elsewhere),
    ),
    "many-at-once": (
        ("ask-idle", COMPUTE, left_empty),
        ("ask-passes", COMPUTE, cut_up),
        ("ask-same", PREDICT, unmixed),
        ("ask-bug", BUG, starved),
    ),
    "guess-and-check": (
        ("ask-kept", COMPUTE, guessed_too_often),
        ("ask-tokens", COMPUTE, tokens_of_a_round),
        ("ask-bad", PREDICT, at_random),
        ("ask-bug", BUG, drawn_twice),
    ),
    "full-cache": (
        ("ask-held", COMPUTE, held_by_a_ring),
        ("ask-reach", COMPUTE, noticed),
        ("ask-shift", PREDICT, shifted_layers),
        ("ask-bug", BUG, cropped_newest),
    ),
    "fewer-bits": (
        ("ask-each", COMPUTE, with_scale_and_minimum),
        ("ask-off", COMPUTE, half_a_gap),
        ("ask-large", PREDICT, grid_of_all),
        ("ask-bug", BUG, coded_again),
    ),
    "in-pieces": (
        ("ask-factor", COMPUTE, smaller),
        ("ask-join", COMPUTE, by_weight),
        ("ask-decode", PREDICT, one_query),
        ("ask-bug", BUG, not_rescaled),
    ),
    "latent-row": (
        ("ask-bytes", COMPUTE, latents_once),
        ("ask-absorbed", PREDICT, absorbed_is_equal),
        ("ask-until", COMPUTE, as_large_as_rows),
        ("ask-bug", BUG, turned_latents),
    ),
    "reading-limit": (
        ("ask-tokens", COMPUTE, all_together),
        ("ask-faster", PREDICT, twice_the_arithmetic),
        ("ask-part", COMPUTE, whole_heads),
        ("ask-bug", BUG, bits_for_bytes),
    ),
    "no-cache": (
        ("ask-stale", COMPUTE, unseen),
        ("ask-blocks", COMPUTE, finished),
        ("ask-lora", PREDICT, queried),
        ("ask-bug", BUG, heard_again),
    ),
}  # fmt: skip
