"""What the log says, by another way: memory counted tensor by tensor, and a run of the scheduler that is timed anew."""

import re
from itertools import pairwise

import pytest

from microgpt.architectures import parameters
from microgpt.course.on_your_server import service as at_work
from microgpt.course.on_your_server.lesson import TRIED, UTILISATIONS
from microgpt.course.on_your_server.service import EVERY, LIMITS, Service, service
from microgpt.course.on_your_server.start import SERVED_MODEL, SMALL_GPU, ServerSettings, Start
from microgpt.serving.hardware import Load, lower_bound
from microgpt.serving.scheduler import Policy, Request, Scheduler
from microgpt.serving.simulate import GroupBlocks
from tests.support.pages import by_id, drawn, find, folded, numbers, text, view_of

ALL = sorted({*TRIED, *(ServerSettings(share) for share in UTILISATIONS), ServerSettings()})


def test_the_model_is_as_its_config_json_has_it() -> None:
    c = SERVED_MODEL.config
    assert (c.n_layer, c.n_embd, c.n_head, c.n_kv_head, c.head_dim) == (32, 4096, 32, 8, 128)
    assert (c.n_mlp, c.n_ctx, c.vocab_size, c.tied) == (14336, 131072, 128256, False)
    assert SERVED_MODEL.n_params == 8_030_261_248  # as its card says


@pytest.mark.parametrize("settings", ALL, ids=str)
def test_a_start_hands_out_what_weights_and_the_largest_pass_leave(settings: ServerSettings) -> None:
    """Bytes are taken one kind after the other, then blocks one by one; each number of the log is one of them."""
    share, longest, dtype, gpus = settings
    found, free = Start(settings), 24e9 * share
    for shape in parameters(SERVED_MODEL).values():
        size = 2.0
        for side in shape:
            size *= side
        free -= size / gpus
    free -= 3 * 14336 * 2048 * 2 / gpus
    block = 16 * 2 * 32 * (8 // gpus) * 128 * (1 if dtype == "fp8" else 2)
    blocks = 0
    while (blocks + 1) * block <= free:
        blocks += 1
    assert (found.blocks, found.tokens) == (blocks, 16 * blocks)
    said = "".join(map("".join, found.lines[-1]))
    texts = blocks / (longest // 16)
    assert found.starts == (texts >= 1) == ("ValueError" not in said)
    if found.starts:
        assert said == (
            f"GPU KV cache size: {16 * blocks:,} tokens, "
            f"Maximum concurrency for {longest:,} tokens per request: {texts:.2f}x"
        )
    else:
        figures = re.search(r"len \((\d+)\), \(([\d.]+) GiB .*\(([\d.]+) GiB\)\. .* is (\d+)\.", said)
        assert figures is not None
        needed = longest / 16 * block / 2**30
        assert figures.groups() == (f"{longest}", f"{needed:.2f}", f"{free / 2**30:.2f}", f"{16 * blocks}")


class Run:
    """The requests of the page once more, in a loop of its own that knows no server: step by step, with a clock."""

    def __init__(self, blocks: int) -> None:
        memory = GroupBlocks(blocks, 16)
        scheduler, coming = Scheduler(Policy(2048, 256), memory), at_work.arrivals()
        self.n, self.clock, self.area = len(coming), 0.0, 0.0
        self.written, self.begun = dict[str, list[float]](), dict[str, float]()
        self.came = {one.name + one.group + str(one.arrival): one.arrival for one in coming}
        self.most = 0
        while coming or scheduler.running or scheduler.waiting:
            if not scheduler.running and not scheduler.waiting:
                self.clock = max(self.clock, coming[0].arrival)
            while coming and coming[0].arrival <= self.clock:
                scheduler.add(coming.pop(0))
            plan = scheduler.schedule()
            running = len(scheduler.running)
            parts = [(request, n, request.computed) for request, n in plan]
            load = Load(
                sum(n for _, n, _ in parts),
                sum(sum(range(had + 1, had + n + 1)) for _, n, had in parts),
                sum(had + n for _, n, had in parts),
                sum(had + n == request.prompt + request.written for request, n, had in parts),
            )
            for request, _, _ in parts:
                self.begun.setdefault(self.key(request), self.clock)
            seconds = lower_bound(SERVED_MODEL, load).seconds(SMALL_GPU)
            self.clock += seconds
            self.area += running * seconds
            self.most = max(self.most, running)
            for request in scheduler.finish_step(plan):
                self.written.setdefault(self.key(request), []).append(self.clock)
        self.preemptions = scheduler.preemptions

    @staticmethod
    def key(request: Request) -> str:
        return request.name + request.group + str(request.arrival)


@pytest.mark.parametrize("share", UTILISATIONS)
def test_a_service_is_that_of_a_loop_of_its_own(share: float) -> None:
    seen, blocks = service(ServerSettings(share)), Start(ServerSettings(share)).blocks
    mine = Run(blocks)
    assert (seen.n, seen.preemptions) == (mine.n, mine.preemptions)
    assert seen.seconds == pytest.approx(mine.clock) and seen.running == pytest.approx(mine.area / mine.clock)
    waits = sorted(at[0] - mine.came[key] for key, at in mine.written.items())
    assert seen.first == pytest.approx((waits[(mine.n - 1) // 2], waits[(mine.n - 1) * 99 // 100]))
    assert seen.wait == pytest.approx(sum(waits) / mine.n)
    good = 0
    for key, at in mine.written.items():
        gaps = [later - sooner for sooner, later in pairwise(at)]
        good += at[0] - mine.came[key] <= LIMITS[0] and sum(gaps) / max(1, len(gaps)) <= LIMITS[1]
    assert seen.good == good and seen.goodput == pytest.approx(good / mine.clock)


def test_littles_law_holds_and_what_is_apart_is_the_waiting_of_preempted_requests() -> None:
    """With none that is preempted the two ways of counting come to the same."""
    tight, roomy = (service(ServerSettings(share)) for share in (0.8, 0.9))
    assert not roomy.preemptions and roomy.running == pytest.approx(roomy.rate * roomy.stay, rel=1e-9)
    assert tight.preemptions and 1 < tight.rate * tight.stay / tight.running < 1.03


def test_the_lines_of_the_service_add_up() -> None:
    """All tokens of answers are told by some line, but for those after the last; none is beyond its bounds."""
    seen = service(ServerSettings())
    asked = at_work.arrivals()
    told = since = 0.0
    for at, line in enumerate(seen.lines, 1):
        assert EVERY * at <= line.seconds < EVERY * at + 1
        told += line.generation * (line.seconds - since)
        since = line.seconds
        assert 0 <= line.hit_rate < 256 / 257 and 0 < line.used <= line.blocks
        form = (
            "Engine 000: Avg prompt throughput: %.1f tokens/s, Avg generation throughput: %.1f tokens/s, "
            "Running: %d reqs, Waiting: %d reqs, %sGPU KV cache usage: %.1f%%, Prefix cache hit rate: %.1f%%"
        )  # vLLM's, in loggers.py
        lost = f"Preemptions: {line.preemptions}, " if line.preemptions else ""
        counts = (line.prompt, line.generation, line.running, line.waiting, lost, 100 * line.usage, 100 * line.hit_rate)
        assert "".join(map("".join, line.parts)) == form % counts
        assert line.rows <= 16 * (line.used + line.running * 256 // 16)
    left = sum(request.answer for request in asked) - told
    assert -1e-6 <= left < 300
    assert sum(line.preemptions for line in seen.lines) == seen.preemptions
    # a prompt finds its beginning, but for the first of each group, those beside them, and what was taken meanwhile
    most = 256 * len(asked) / sum(request.prompt for request in asked)
    assert 0.9 * most < seen.lines[-1].hit_rate <= most


@pytest.mark.parametrize("seed", [0, 3, 12])
def test_more_room_takes_preemptions_away_and_keeps_more_within_the_limits(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The comparison of the page, and the same for other requests."""
    monkeypatch.setattr(at_work, "DRAWN_FROM", seed)
    few, many = (Service(Start(ServerSettings(share)).blocks) for share in (0.8, 0.9))
    assert few.preemptions > many.preemptions and few.good < many.good


def test_the_page_says_what_was_run() -> None:
    shown, said = view_of("on-your-server"), {name: folded(e) for name, e in by_id("on-your-server").items()}
    full = shown.fullest.line
    assert (
        f"At {100 * full.usage:.1f} %, though, {full.waiting} requests wait, and {full.preemptions} times"
        in said["usage"]
    )
    assert full.running > 20 * shown.start.texts and shown.start.texts < 2  # as the notice says
    assert full.usage == max(stop.line.usage for stop in shown.stops) and full.waiting
    calm = [stop.line for stop in shown.stops if stop.line.seconds <= shown.quiet]
    assert len(calm) == 3 and not any(line.waiting or line.preemptions for line in calm)
    assert f"Here {shown.rates[0]:.0f} requests per second come, for a while {shown.rates[1]:.0f}," in said["rates"]
    base, *_, two = shown.tried
    assert [one.starts for one in shown.tried] == [False, False, True, False, True, True]
    assert two.left > 2 * base.left and two.tokens > 4 * base.tokens
    assert "far more than twice the room" in said["ways"]
    assert [run.served.preemptions for run in shown.runs][1:] == [0, 0]
    assert shown.runs[1].served.good == shown.runs[2].served.good == shown.runs[1].served.n
    assert shown.even < shown.tiers[-1].speed < shown.tiers[1].speed < shown.tiers[0].speed


def test_each_line_is_there_once_for_the_eye_and_its_panel_has_its_numbers() -> None:
    shown, tree = drawn("on-your-server", "names", "emma")
    panels, lines = find(find(tree, "cases")[0], "C"), find(find(tree, "now")[0], "D")
    assert len(panels) == len(lines) == len(shown.log)
    for parts, line, panel in zip(shown.log, lines, panels, strict=True):
        assert text(line) == "".join(map("".join, parts)) and text(line) in text(panel)
    size, tokens = shown.start.blocks, shown.start.tokens
    assert numbers(panels[2])[-7:] == [16, 131072, size, tokens, tokens, 16384, 1.38]
    *_, share, memory, weights, more, left = numbers(panels[1])
    assert left == pytest.approx(share * memory - weights - more, abs=0.011)
