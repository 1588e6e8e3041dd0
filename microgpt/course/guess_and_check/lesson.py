"""Guess and check: a draft guesses some letters, one pass of the target checks them all. Knows no HTML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace

import numpy as np

from microgpt.cache import KVCache
from microgpt.course.guess_and_check.pieces import STAGES, columns, pieces
from microgpt.course.guess_and_check.questions import asks
from microgpt.course.guess_and_check.rounds import TEMPERATURE, RoundShown, law_of, names
from microgpt.decode import generate
from microgpt.errors import N_, UserError
from microgpt.experiments.schedule import estimate
from microgpt.experiments.validity import rows_of
from microgpt.model import forward
from microgpt.serving import trees
from microgpt.serving.speculate import Round, SmallModel, Speculation, acceptance, best_gamma, residual, speed_up
from microgpt.trace import Trace
from microgpt.viz.controls import Choice
from microgpt.viz.drawing.chart import Chart, Series, line_chart
from microgpt.viz.drawing.heat import RowPair, row_pairs
from microgpt.viz.settings import Settings
from microgpt.viz.text.language import say
from microgpt.weights import Model, is_own, shipped

DRAFT = "names"  # the model that guesses
GAMMA = 4  # guesses per round
CAN_BE_ASKED = tuple(f"g{order}" for order in range(GAMMA))  # why they are kept
SEED = 1
SPEED_DIGITS = 2  # of the figures that the speed follows from
MOST_ROUNDS = 5  # on show
ALPHAS, COST, LONGEST_DRAFT = (0.9, 0.7, 0.5), 0.1, 12  # of the curves: rates, what a guess costs, the longest draft
BY_HAND = ((5, 3, 2), (2, 6, 2))  # tenths that target and draft give to three tokens
WIDTHS = (2, 2, 1, 1)  # of a tree: guesses for each place
PUBLISHED = ((2, 3), 6.5, 64, 1.38)  # of T5-XXL; EAGLE-3 at its best, and at a batch of 64


class View:
    """Rounds of guesses for one text."""

    def __init__(self, settings: Settings) -> None:
        target, trace = shipped(settings.model), Trace()
        draft = draft_for(target)
        if not target.tokenizer.split(settings.prompt):
            raise UserError("The prompt is empty; give at least one token.")
        ids = target.tokenizer.encode(settings.prompt)
        writer = Speculation(
            target, SmallModel(draft, TEMPERATURE, 0, SEED), ids, GAMMA, TEMPERATURE, 0, SEED, trace.sequence(0)
        )
        texts, found = [list(ids)], list[Round]()
        for one in writer.run(MOST_ROUNDS * (GAMMA + 1)):
            found.append(one)
            texts.append(list(writer.ids))
            if len(found) == MOST_ROUNDS:
                break
        rounds = [RoundShown(target, draft, text, one) for text, one in zip(texts[:-1], found, strict=True)]
        vocabulary = names(target)
        words = [vocabulary[i] for i in texts[-1]]
        trace.about |= {"model": target.name, "config": asdict(target.config), "prompt": settings.prompt, "text": words}
        both = [(law_of(target, ids), law_of(draft, ids)) for ids in texts_before_guesses(texts, found)]
        alpha = round(float(np.mean([np.minimum(*laws).sum() for laws in both])), SPEED_DIGITS) if both else 0.0
        cost = round(reads(draft, len(ids)) / reads(target, len(ids)), SPEED_DIGITS)
        self.trace = trace
        self.choices = (Choice("stage", range(len(STAGES) * len(rounds)), 1),)
        self.fields = (Choice("lens", ("", *CAN_BE_ASKED), "", in_figure=False),)
        self.target = target.name
        self.draft = draft.name
        self.text = target.tokenizer.decode(texts[-1])
        self.round_of = [one for one in rounds for _ in STAGES]  # of each case
        self.labels = [(i, stage) for i in range(1, len(rounds) + 1) for stage in STAGES]
        self.cases = [range(stage, len(self.labels), len(STAGES)) for stage in range(len(STAGES))]  # by stage
        self.columns = columns([[vocabulary[i] for i in text] for text in texts], found, vocabulary)
        self.pieces = pieces(self.columns, rounds, rows_of_rounds(target, texts, found))
        self.written = len(texts[-1]) - len(ids)  # tokens
        self.passes = len(found)
        self.greedy = same_greedy(target, draft, ids)  # without chance, the text is that of the target alone
        # what both models have in common, the mean over the guesses that were judged; as it is printed
        self.alpha = alpha
        self.cost = cost  # bytes that the draft's step reads, of the target's; as it is printed
        self.gain = speed_up(alpha, GAMMA, cost)  # times quicker, by the formula, from these two
        self.chart = curves()
        # rate, best length, times quicker
        self.best = [
            (alpha, best_gamma(alpha, COST), speed_up(alpha, best_gamma(alpha, COST), COST)) for alpha in ALPHAS
        ]
        self.hand = by_hand()
        self.common = sum(min(p, q) for p, q in zip(*BY_HAND, strict=True)) / sum(BY_HAND[0])
        # passes for this text without chance, with chains of guesses,
        self.chained = branches(target, draft, ids, (1,) * len(WIDTHS))
        self.branched = branches(target, draft, ids, WIDTHS)  # and with trees
        self.asks = asks()


view = View


def can_be_asked() -> tuple[str, ...]:
    return CAN_BE_ASKED


def draft_for(target: Model) -> Model:
    """`names` for its deeper sister. A reader's model has none, so its own first layer guesses: what that hands on goes
    to the output head at once."""
    if not is_own(target):
        return shipped(DRAFT)
    name = say(N_("the first layer of “%(model)s”"), model=target.name)
    return replace(target, name=name, config=replace(target.config, n_layer=1))


def branches(target: Model, draft: Model, ids: Sequence[int], widths: Sequence[int]) -> int:
    """Passes until the text or the context ends, with trees of these widths."""
    return len(list(trees.speculate(target, draft, ids, widths, target.config.n_ctx + 1 - len(ids))))


def texts_before_guesses(texts: Sequence[Sequence[int]], rounds: Sequence[Round]) -> list[list[int]]:
    """The text before each guess that the target has judged: those after the first that fell are none of the text."""
    return [
        [*text, *one.drafted[:i]]
        for text, one in zip(texts[:-1], rounds, strict=True)
        for i in range(min(one.accepted + 1, len(one.drafted)))
    ]


def reads(model: Model, n: int) -> int:
    """Bytes that the step of the newest of n tokens must read: weights, and the rows of the others."""
    return estimate(model.config, 1, n - 1).bytes_read


def rows_of_rounds(target: Model, texts: Sequence[Sequence[int]], rounds: Sequence[Round]) -> list[list[RowPair]]:
    """By round: what its pass has made of all tokens so far, in the first head of the first layer."""
    found = []
    for text, one in zip(texts, rounds, strict=False):
        cache = KVCache(target.config)
        forward(target.params, target.config, [*text, *one.drafted], cache)
        found.append(rows_of(cache)[:1])
    return [layers[0] for layers in row_pairs(target.config.head_dim, *found)] if found else []


def same_greedy(target: Model, draft: Model, ids: Sequence[int]) -> bool:
    room = target.config.n_ctx - len(ids)
    if not room:
        return True
    tokens = [token for one in Speculation(target, SmallModel(draft), ids, GAMMA).run(room) for token in one.tokens]
    return tokens == list(generate(target.params, target.config, ids, room, stop=target.tokenizer.start))


def curves() -> Chart:
    series = [
        Series(f"{alpha:g}", kind, [(n, speed_up(alpha, n, COST)) for n in range(LONGEST_DRAFT + 1)])
        for alpha, kind in zip(ALPHAS, ("cached", "naive", "needed"), strict=True)
    ]
    return line_chart(N_("Speed against that without a draft"), series, N_("guesses per round"), N_("times"), digits=2)


def by_hand() -> list[tuple[float, ...]]:
    """Of each of the three tokens: what both give it, the chance that it is kept, and what is left."""
    both = [np.array(tenths) / sum(tenths) for tenths in BY_HAND]
    return [tuple(map(float, one)) for one in zip(*both, acceptance(*both), residual(*both), strict=True)]
