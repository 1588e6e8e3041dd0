"""A chat, turn by turn: what is sent, what is found in a prefix cache, and what is run; and what an API charges for it.

A model remembers nothing between turns: the client sends the whole conversation each time, the model's own answers
included. With a prefix cache (`microgpt.caches.prefix`) the rows of the last turn are found again, so that what is
*sent* grows with the square of the number of turns, and what is *run* only with their number. This holds while the
conversation is equal to the last token from its start; what is changed at token i leaves i rows that can be used.

The last token of an answer has no row yet, since nothing has been asked after it: it is run in the next turn.
An API that sells this charges a found token less (`read`) and, some of them, a new one more (`write`), both as
multiples of the price of an input token without a cache. It may count a beginning from some number of tokens on alone
(`least`), and only for some minutes. Knows counts; no tokens and no rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from microgpt.errors import N_, UserError


class Turn(NamedTuple):
    """The prompt of one turn: `sent` tokens, of which the rows of `found` were there and `run` had to be computed."""

    sent: int
    found: int

    @property
    def run(self) -> int:
        return self.sent - self.found


def chat_turns(system: int, asked: Sequence[int], answered: Sequence[int], block_size: int = 1) -> list[Turn]:
    """A conversation after a system prompt of `system` tokens: a question and an answer a turn, in tokens.

    Only full blocks of `block_size` rows are found, and the last token of a prompt is run in any case.
    """
    if system < 0 or min(asked, default=1) < 1 or min(answered, default=1) < 1 or len(asked) != len(answered):
        raise UserError(
            "A chat needs a question and an answer of 1 token or more in each turn, and no system prompt below 0."
        )
    found, sent, rows = list[Turn](), system, 0
    for question, answer in zip(asked, answered, strict=True):
        sent += question
        found.append(Turn(sent, min(rows, sent - 1) // block_size * block_size))
        sent += answer
        rows = sent - 1  # the newest token has none
    return found


def edit(sent: int, at: int, block_size: int = 1) -> Turn:
    """The same prompt once more, with the token at position `at` changed: rows from there on are of no use."""
    if not 0 <= at < sent:
        sentence = N_("Token %(at)s cannot be changed in a prompt of %(sent)s tokens; choose 0 to %(last)s.")
        raise UserError(sentence, at=at, sent=sent, last=sent - 1)
    return Turn(sent, at // block_size * block_size)


def price(prompts: Iterable[Turn], write: float, read: float, least: int = 0) -> float:
    """What these prompts cost, in units of one input token without a cache: what is run is also written. A prompt of
    fewer than `least` tokens is not, and a beginning of fewer is not found; each turn comes while the last is kept."""
    cost = 0.0
    for sent, found in prompts:
        found = found if found >= least else 0
        cost += (sent - found) * write + found * read if sent >= least else sent
    return cost


def pays_from(write: float, read: float) -> int:
    """From how many uses of one prompt on writing it once and reading it after that is cheaper than no cache."""
    if read >= 1:
        raise UserError(
            "At %(read)s times the price a found token is no cheaper than a new one; choose less than 1.", read=read
        )
    uses = 1
    while write + (uses - 1) * read >= uses:
        uses += 1
    return uses
