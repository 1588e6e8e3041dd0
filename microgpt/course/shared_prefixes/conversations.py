"""A chat, turn by turn: what is found and what is run, as it is and if something changes. Knows no HTML."""

from typing import NamedTuple

from microgpt.serving.chat import Turn, chat_turns, edit, price

SYSTEM, QUESTION_TOKENS, ANSWERED, TURNS = 1000, 50, 200, 6  # tokens of a system prompt, a question, an answer; turns
EDITED, AT = 3, 500  # in which turn, from 0, which token of the system prompt changes


class Terms(NamedTuple):
    """What an API asks for an input token, times the price of one without a cache, and within which bounds."""

    name: str
    month: str  # as of
    write: float  # that is run and kept for `minutes` after its last use,
    minutes: int
    longer: float  # and for an hour
    read: float  # that is found
    least: int  # tokens of a beginning; with some models
    most_least: int


TERMS = Terms("Anthropic", "2026-11", 1.25, 5, 2.0, 0.1, 512, 4096)
UNASKED = ("OpenAI", 1024)  # at the same time: asks nothing for what it keeps, from so many tokens on


class Chat:
    """The same chat under one circumstance: the tokens of all turns, and what they cost."""

    def __init__(self, kind: str, turns: list[Turn]) -> None:
        self.kind, self.turns = kind, turns  # same, clock, tool
        self.n_sent = sum(turn.sent for turn in turns)
        self.n_found = sum(turn.found for turn in turns)
        self.run = sum(turn.run for turn in turns)
        self.share = self.n_found / self.n_sent
        self.price = price(turns, TERMS.write, TERMS.read, TERMS.least)


def chats() -> list[Chat]:
    """Nothing changes; the first token is another in every turn; one token of the system prompt changes once."""
    same = chat_turns(SYSTEM, [QUESTION_TOKENS] * TURNS, [ANSWERED] * TURNS)
    clock = [edit(turn.sent, 0) for turn in same]
    tool = [edit(turn.sent, AT) if i == EDITED else turn for i, turn in enumerate(same)]
    return [Chat("same", same), Chat("clock", clock), Chat("tool", tool)]


def bars(found: list[Chat]) -> list[tuple[list[float], list[float]]]:
    """Of each turn, what is found and run in all circumstances, against the longest prompt."""
    longest = found[0].turns[-1].sent
    return [
        ([turn.found / longest for turn in several], [turn.run / longest for turn in several])
        for several in zip(*(chat.turns for chat in found), strict=True)
    ]
