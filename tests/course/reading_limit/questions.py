"""Reading limit: its questions, answered step by step, and by what a step waits for."""

from microgpt.architectures.known import PRESETS
from microgpt.attention.ranks import kv_heads_of
from microgpt.course.reading_limit.lesson import GPU, LARGE, LONGEST
from microgpt.serving.hardware import PROCESSORS, decoding, lower_bound
from tests.support.questions import View


def ask_tokens(view: View) -> str:
    """Step by step for a minute."""
    asks, seconds, written = view.asks, 0.0, 0
    while seconds < 60:
        seconds += asks.weights / asks.speed
        written += asks.texts
    return f"{round(written / seconds):.2f}"


def ask_faster(view: View) -> str:
    old = PROCESSORS[GPU]
    step = lower_bound(PRESETS[LARGE], decoding(1, LONGEST))
    assert step.seconds(old._replace(operations=2 * old.operations)) == step.seconds(old)
    return "not at all"


def ask_part(view: View) -> str:
    """By the heads that each rank must keep."""
    asks = view.asks
    assert {len(kv_heads_of(rank, asks.ranks, 2 * asks.ranks, asks.heads)) for rank in range(asks.ranks)} == {1}
    return str(asks.heads)


def ask_bug(view: View) -> str:
    seconds = 8 * view.asks.rows * 10**9 / (view.asks.network * 10**9)
    assert seconds == view.asks.seconds == 8 * view.asks.wrong
    return "eight times as long"


LEARNED = r"""
What does a step wait for? a decode step lasts as long as the slower of the two
What is a roofline? Below 295 operations per byte it waits for memory: that is the slope in the picture
How fast can one text be? One text alone takes 4\.6 ms per token, 219 tokens per second, and nearly all of that is weights
What do many texts share? are read once for all texts
What do they not share? each text brings its own rows, 131,072 bytes per token, which nobody else can use
When are rows as large as weights? With 114,516 tokens over all texts, rows take as long to read as the weights
Does a large batch make decoding limited by arithmetic? is true for very short texts only
Up to which length? Llama-2-7B85 tokens per textLlama-3-8B393 tokens per textLlama-3-70B1,476 tokens per text
Do shared key heads save arithmetic? They save no arithmetic, they save bytes
Is decoding slow because of the cache? is wrong for one text: it is slow because of the weights
Is every prompt limited by arithmetic? A prompt of a few tokens is not
Does tensor parallelism divide the cache? With 4 processors and 2 key heads, all together hold 2\.0 times the rows
What is context parallelism? each processor reads some of them for all heads and sends its answer, 8 numbers per head, and the logarithm of its sum
Is fetching rows quicker than computing them? take 2\.4 ms between two GPUs and 153 ms from a disk\. To compute them again takes 267 ms
What is disaggregation? run prompts on some GPUs and to write on others
"""
