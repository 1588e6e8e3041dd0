"""Many at once: its questions, answered pass by pass, and by the scheduler."""

import itertools

from microgpt.serving.scheduler import Blocks, Policy, Request, Scheduler
from tests.support.questions import Facts, Numbers, View


def ask_idle(view: View) -> str:
    """Pass by pass, the places whose text has ended."""
    written = view.asks.answers
    return f"{sum(n < at for at in range(1, max(written) + 1) for n in written)}"


def ask_passes(view: View) -> str:
    """The scheduler of the package, with three texts that write and a prompt that comes."""
    asks, scheduler = view.asks, Scheduler(Policy(view.asks.budget, 8), Blocks(100, 4))
    for n in range(asks.others):
        scheduler.add(Request(f"{n}", 1, 50))
    scheduler.finish_step(scheduler.schedule())
    late, passes = Request("late", asks.prompt, 5), 0
    scheduler.add(late)
    while late.computed < asks.prompt:
        scheduler.finish_step(scheduler.schedule())
        passes += 1
    return f"{passes}"


def ask_same(view: View) -> str:
    assert view.same and view.way("small").preempted > 0
    return "the same tokens"


def ask_bug(view: View) -> str:
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


def task_turns(facts: Facts) -> Numbers:
    """As a scheduler of texts would: at each pass the free places go to those that wait."""
    found = []
    for static in (True, False):
        waiting, running, passes, begun = list(range(len(facts.writes))), dict[int, int](), 0, dict[int, int]()
        while waiting or running:
            passes += 1
            while waiting and len(running) < facts.places:
                if static and running and begun[next(iter(running))] < passes:
                    break
                text = waiting.pop(0)
                running[text], begun[text] = facts.writes[text], passes
            running = {text: left - 1 for text, left in running.items() if left > 1}
        found.append((passes, sum(facts.writes) / (facts.places * passes), begun[3]))
    orders = [max(a, b) + max(c, d) for a, b, c, d in itertools.permutations(facts.writes)]
    assert min(orders) == facts.sorted > facts.joined  # no order saves static batches from waste
    assert facts.writes[1] == facts.writes[2] and len({*facts.writes}) == 3  # two of one length, whose partners differ
    (every, share, late), (joined, better, early) = found
    return {"static": every, "share": share, "joined": joined, "better": better, "last": (late, early)}


LEARNED = r"""
Why run texts together? a pass that writes a token for each of many texts reads them once as well
What is wrong with a static batch? A text that is done keeps its place empty until the last one of its batch has ended
What is continuous batching? To choose anew for every pass who takes part
Do texts in one batch mix? Each text has rows of its own, and attention runs text by text
Why does a long prompt stall others? makes its pass long, and everybody in that pass waits for its end
What is a token budget? engines give each pass a budget of tokens, here 8\. Texts that write come first, one token each
Do smaller chunks make the first token come sooner? that of the prompt that is cut comes later
Does chunking cost attention? it costs no more products of queries and keys
What is preemption? its blocks are taken away, and it waits at the head of the queue\. When it is its turn again, its rows are computed anew
Is continuous batching the same as paging? One says who computes in a pass, the other where rows lie
What do chunks change for many requests? What chunks buy is a steady gap\. With 80 per second, the 99th percentile of the gaps between tokens is 67 ms with whole prompts, 31 ms in chunks with a budget of 2,048, and 9\.9 ms with one of 512
Why not static batches? cannot keep up: they serve 3\d and 3\d per second\. Requests come faster than they are served
Does it matter which server a request goes to? If requests that begin alike go to the same server, they find their rows there: the median wait falls
What does vLLM do by default? at most 8,192 tokens and 1,024 texts in a pass unless told otherwise, and elsewhere 2,048 and 256
"""
