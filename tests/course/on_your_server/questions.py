"""On your server: its questions, answered by filling memory block by block and by runs of the scheduler."""

from dataclasses import replace

from microgpt.course.on_your_server import service
from microgpt.course.on_your_server.start import BUDGET, ServerSettings, Start
from microgpt.serving.scheduler import Blocks, Policy, Scheduler
from tests.support.questions import Facts, Numbers, View


def ask_texts(view: View) -> str:
    """Whole texts are let in until one finds too little room, and of that one as much as there is."""
    left, texts = view.asks.tokens, 0
    while left >= view.asks.longest:
        left, texts = left - view.asks.longest, texts + 1
    return f"{texts + left / view.asks.longest:.2f}"


def ask_grows(view: View) -> str:
    rooms = [100 * percent // 100 - 40 for percent in (50, 90)]
    return f"{len(range(0, rooms[1], rooms[0]))}"


def ask_helps(view: View) -> str:
    """By the requests of the page: other blocks, the same blocks, and more places."""
    before, blocks = service.service(ServerSettings()), Start(ServerSettings()).blocks
    assert service.service(ServerSettings(kv_cache_dtype="fp8")).preemptions < before.preemptions
    assert Start(ServerSettings(max_model_len=8192)).blocks == blocks
    assert ran(blocks, 512)[0] >= ran(blocks, 256)[0] > 0
    return "rows of one byte per number"


def ask_bug(view: View) -> str:
    """One place, for the requests of the page."""
    preemptions, waiting, usage = ran(Start(ServerSettings()).blocks, 1)
    assert not preemptions and waiting > 40 and usage < 0.35
    return "one runs, many wait, and usage stays low"


def ran(blocks: int, places: int) -> tuple[int, int, float]:
    """Preemptions, the most that wait, and the mean usage: the requests of the page, all steps as long as each other."""
    memory, waiting, used, steps = Blocks(blocks, 16), 0, 0.0, 0
    scheduler = Scheduler(Policy(BUDGET, places), memory)
    coming = [replace(request, group="", shared=0) for request in service.arrivals()]
    while coming or scheduler.running or scheduler.waiting:
        while coming and coming[0].arrival <= steps * 0.035:
            scheduler.add(coming.pop(0))
        scheduler.finish_step(scheduler.schedule())
        steps, waiting = steps + 1, max(waiting, len(scheduler.waiting))
        used += 1 - memory.n_free / blocks
    return scheduler.preemptions, waiting, used / steps


def task_log(facts: Facts) -> Numbers:
    """Memory is handed out block by block; the requests of a minute come one by one and stay as long as they do."""
    free = round((facts.share * facts.memory - facts.weights - facts.more) * 1e9)
    blocks = len(range(16 * facts.per_token, free + 1, 16 * facts.per_token))
    halved = len(range(8 * facts.per_token, free + 1, 8 * facts.per_token))
    arrivals = [i / facts.arrivals for i in range(60 * facts.arrivals)]
    (running,) = {sum(at <= now < at + facts.stay for at in arrivals) for now in (20.0, 33.3, 47.7)}
    return {
        "left": free / 1e9,
        "blocks": blocks,
        "tokens": sum(16 for _ in range(blocks)),
        "texts": blocks / (facts.allowed / 16),
        "halved": 16 * halved,
        "running": running,
        "usage": running * facts.held / (16 * blocks),
    }


LEARNED = r"""
What sets the size of the cache? It takes a share of the GPU as it starts, gpu_memory_utilization, and cuts what the weights and the largest pass leave of it into blocks
What does a larger share bring? With 0\.9 in place of 0\.8 the cache holds 40,912 tokens in place of 22,608: 1\.8 times as many
Why does my log say less than the formula? a real server measures what libraries and CUDA graphs take\. So it reports less
Is maximum concurrency a limit? 29 requests run in the fullest line, because blocks are handed out as a text grows
What is maximum concurrency, then? It is a bound for the worst case: so many run even if each is as long as allowed
Is a full cache bad? That is the sign to look for: waiting and preemptions together
What is a hit rate counted in? is counted in tokens: 32\.3 % of those in all prompts so far had rows already
Why does a server refuse to start? unless told otherwise the server promises all of them\. One such text needs 17\.2 GB of rows, and 5\.4 GB are left
What are the ways out of that error? A larger share of the GPU gives 50,064 tokens here, still too few\. A smaller context always works
What does a second GPU bring? takes half of the weights and half of the heads, so far more than twice the room is left
What does an 8-bit cache bring? halve what a token takes: 81,824 tokens in place of 40,912
What is Little's law? the mean number that run is their rate times the mean time that each stays
What is goodput? only answers within them are counted: 97 of 190\. Per second that is the goodput, 1\.16
When is fetching rows quicker than computing them? so from 508\.6 MB per second on
What is disaggregated serving? Prefill and decode can also run on different GPUs
What does an API ask of a prompt that it keeps? A prompt below the floor is never found, and after a pause longer than the lifetime you pay for the whole beginning again
"""
