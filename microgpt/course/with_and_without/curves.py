"""How the work of a text grows, as charts and as measured slopes: the closed forms of `growth`, ready to be placed."""

from microgpt.config import Config
from microgpt.errors import N_
from microgpt.experiments import growth
from microgpt.experiments.growth import BASELINES
from microgpt.viz.drawing.chart import Chart, Series, line_chart

NEAR, FAR, FARTHER = 20, 1000, 100_000  # tokens: where slopes are measured; the curves end at FAR
CURVE_NAMES = {"cached": N_("with the cache"), "needed": N_("only needed"), "naive": N_("all again")}
CURVE_KINDS = {"cached": "with", "needed": "needed", "naive": "again"}
CURVES = {
    "projections": (
        N_("projections"),
        N_("The matrices for q, k, v and the output. With the cache, each token passes them once."),
    ),
    "mlp": (N_("MLP"), N_("Each token alone, whatever came before. With the cache it never has to be done twice.")),
    "attention": (
        N_("attention"),
        N_("Scores and mixing. Even with the cache, every new query meets all the keys there are."),
    ),
    "total": (
        N_("total"),
        N_("The sum bends: short texts are ruled by what each token does alone, long ones by attention."),
    ),
}
POWERS = {1: "O(n)", 2: "O(n²)", 3: "O(n³)"}


def curves(config: Config, group: str, log: bool) -> Chart:
    """Multiply-adds of one group for texts of 1 to FAR tokens, one line a way."""
    lengths = growth.log_spaced(FAR) if log else list(range(0, FAR + 1, 25))
    series = [
        Series(CURVE_NAMES[b], CURVE_KINDS[b], [(n, growth.group_macs(config, b, group, n)) for n in lengths])
        for b in reversed(BASELINES)
    ]
    return line_chart(CURVES[group][0], series, N_("tokens"), N_("multiply-adds"), log)


def slopes(config: Config, group: str) -> list[tuple[int, list[tuple[float, str]]]]:
    """Three slopes measured at three lengths; a power is named where the slope has come close to it."""
    found = []
    for n in (NEAR, FAR, FARTHER):
        if config.window and n > max(config.window, FAR):
            continue  # there the words beside the table, on rows that all see each other, would not hold
        measured = [growth.exponent(config, b, group, n) for b in BASELINES]
        powers = [POWERS[round(x)] if abs(x - round(x)) < 0.02 else "" for x in measured]
        found.append((n, list(zip(measured, powers, strict=True))))
    return found
