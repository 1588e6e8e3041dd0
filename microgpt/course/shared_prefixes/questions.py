"""Questions about texts that begin alike: what is found, blocks by the wrong keys, and a chat with the time of day."""

from functools import cache
from types import SimpleNamespace as Numbers

from microgpt.course.shared_prefixes import events
from microgpt.errors import N_
from microgpt.serving.chat import chat_turns
from microgpt.viz.text.answers import answers
from microgpt.viz.text.tasks import Task, calc, chain, ratio, unlike
from microgpt.weights import shipped

ALIKE = (100, 70, 16)  # tokens of two prompts, that both begin with, rows of a block
MISPLACED = ("christon", (0, 2, 1))  # a text, and its blocks in another order
CHAT = (2000, 100, 300, 4)  # tokens of a system prompt, a question, an answer; turns


@cache
def asks() -> Numbers:
    prompt, alike, size = ALIKE
    model, whole, (text, order) = shipped("names-deep"), 2 * size, MISPLACED
    return Numbers(
        prompt=prompt,
        alike=alike,
        size=size,
        found=answers(alike // size * size, token=alike, up=-(-alike // size) * size, blocks=alike // size),
        whole=whole,  # tokens of a prompt that is sent once more
        again=answers((whole - 1) // size * size, all=whole, but_one=whole - 1, none=0),
        bug_text=text,
        bug_found=events.SIZE * len(order),  # rows that are taken over by mistake,
        wrong=events.misplacement_error(model, model.tokenizer.encode(text), order),  # and how far off logits are then
    )


def chat() -> Numbers:
    """A chat whose beginning is found."""
    system, asked, answered, n = CHAT
    sent, run = zip(*[(turn.sent, turn.run) for turn in chat_turns(system, [asked] * n, [answered] * n)], strict=True)
    unlike(sum(sent), sum(run))
    return Numbers(
        system=system,
        asked=asked,
        answered=answered,
        turns=n,
        sent=chain(sent, "+"),
        new=calc("{} + {} = {}", asked, run[-1] - asked, run[-1]),
        run=calc("{} + {} × {} = {}", run[0], n - 1, run[-1], sum(run)),
        clock=ratio(sum(sent), sum(run)),
    )


TASKS = (Task("prefix", N_("A chat with the time of day"), 4, "compute", 15, 9, chat),)
