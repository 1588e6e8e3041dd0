"""One token's journey through the model, where it meets other tokens, and what the model is made of. Knows no HTML."""

from __future__ import annotations

from microgpt.architectures import Architecture, inventory
from microgpt.architectures.known import PRESETS
from microgpt.architectures.names import GPT2, LLAMA, public_names
from microgpt.config import Array
from microgpt.course.inside import path
from microgpt.course.inside.bars import BEHIND_LAYER, Levels, drawing
from microgpt.course.inside.lines import lines_of
from microgpt.course.inside.path import QKV
from microgpt.course.inside.questions import asks
from microgpt.course.inside.route import token_paths
from microgpt.course.inside.swaps import swaps_of
from microgpt.errors import N_
from microgpt.model import softmax
from microgpt.viz.controls import Choice
from microgpt.viz.drawing.counters import Guess, candidates
from microgpt.viz.drawing.inventories import inventory_of
from microgpt.viz.drawing.lens import shares
from microgpt.viz.settings import Settings
from microgpt.viz.text.formats import show
from microgpt.weights import Model

NEIGHBOURS = 4
GUESSES = 3
NOTHING = N_("nothing")  # is swapped
MODELS_IN_USE = {"GPT-2 124M": GPT2, "SmolLM2-135M": LLAMA, "Llama-3-8B": LLAMA}
FIRST_LAYER = 0
STAGES = (  # of the way through a layer, with the stops that each adds; after the last one only k and v are left
    (N_("embedding"), ("embed", "resid_pre")),
    (N_("norm"), ("attn_norm",)),
    ("q, k, v", QKV),
    (N_("scores"), ("attn_scores",)),
    (N_("weights"), ("attn_weights",)),
    (N_("mixed values"), ("head_out",)),
    (N_("attention out"), ("attn_out", "resid_mid")),
    (N_("norm"), ("mlp_norm",)),
    (N_("MLP, inside"), ("mlp_hidden",)),
    (N_("MLP out"), ("mlp_out", BEHIND_LAYER)),
    (N_("logits"), ("logits",)),
    (N_("the step is over"), ()),
)
FACES = (  # of the same, in short, on the rail
    *(N_("embed"), N_("norm"), "q, k, v", N_("scores"), N_("weights"), N_("mixed")),
    *(N_("out"), N_("norm"), "MLP", N_("out"), N_("logits"), N_("over")),
)
READERS = {  # what each stop is read by: it is lit where one of these is asked
    "embed": ("resid_pre",),
    "resid_pre": ("attn_norm", "resid_mid"),
    "attn_norm": QKV,
    "q": ("attn_scores",),
    "head_out": ("attn_out",),
    "attn_out": ("resid_mid",),
    "resid_mid": ("mlp_norm", BEHIND_LAYER),
    "mlp_norm": ("mlp_hidden",),
    "mlp_hidden": ("mlp_out",),
    "mlp_out": (BEHIND_LAYER,),
    BEHIND_LAYER: ("logits",),
    "logits": ("guess",),
}
STAGE_OF = {name: at for at, (_, names) in enumerate(STAGES) for name in names}


class View:
    """Everything that the page places."""

    def __init__(self, settings: Settings) -> None:
        recording = settings.run()
        model, trace, c, n_prompt = recording.model, recording.trace, recording.model.config, recording.n_prompt
        tokens = [show(token) for token in trace.about["tokens"]]
        ways = [path.stops(trace, c, pos) for pos in range(len(tokens))]
        journeys = token_paths(c, tokens, ways)
        ids, last = recording.ids[:n_prompt], n_prompt - 1
        swaps = swaps_of(model, ids)
        states = {f"t{pos}": way for pos, way in enumerate(ways)} | {one.state: one.ways[last] for one in swaps}
        alone = path.mlp_alone(model.params, c, ids)
        large = [inventory_of(name, PRESETS[name].config, public_names(one)) for name, one in MODELS_IN_USE.items()]
        inventories = [inventory_of(model.name, c), *large]
        self.trace, self.journeys, self.swaps, self.inventories = trace, journeys, swaps, inventories
        self.labels = list(enumerate(tokens))
        self.at = last  # the token whose way the prose tells
        told = lines_of(model, recording.ids, ways)
        self.places, self.branches = drawing(tokens, journeys[last].stops, states, swaps, told)
        self.choices = (
            Choice("token", range(len(tokens)), last),
            Choice("swap", range(len(swaps) + 1), len(swaps), in_figure=False),  # the last case is none
            *[Choice("layer", range(c.n_layer), FIRST_LAYER, in_figure=False)] * (c.n_layer > 1),
            Choice("stage", range(len(STAGES)), STAGE_OF["logits"], in_figure=False),
            Choice("inventory", range(len(inventories)), in_figure=False),
        )
        self.guesses = [(state, guesses_of(model, way[-1].value[0])) for state, way in states.items()]
        self.shares = {
            state: shares([one.logit for one in found], [one.probability for one in found])
            for state, found in self.guesses
        }
        self.config = c
        self.last = tokens[last]
        self.swap_labels = [*(f"{s.at} {s.old} → {s.new}" for s in swaps), NOTHING]
        self.same = max(alone.moved, alone.replaced)  # rows of the MLP by itself that were only moved, or not touched
        self.others = alone.others  # and those that were replaced
        self.adds_up = max(path.adds_up(trace, c, pos) for pos in range(len(tokens)))
        self.near = [near(model, token_id) for token_id in dict.fromkeys(ids[1:])]
        self.smol, self.llama = PRESETS["SmolLM2-135M"], PRESETS["Llama-3-8B"]
        self.q_width = self.smol.config.n_head * self.smol.config.head_dim
        self.kv_width = self.smol.config.n_kv_head * self.smol.config.head_dim
        self.head = parameters(self.llama, "head")
        self.without_head = self.llama.n_params - self.head
        self.mlp_percent = 100 * parameters(self.llama, "mlp") / self.llama.n_params
        self.embedding_percent = 100 * parameters(self.smol, "embedding") / self.smol.n_params
        self.percent_kept = 100 * journeys[0].kept / journeys[0].made  # of the numbers that a step makes
        self.asks = asks(model, trace, last)

    @property
    def fields(self) -> tuple[Choice, ...]:
        """What is asked where it comes from: numbers of a stop, the matrices that it is made with, guesses."""
        places = [place for branch in self.branches for _, place in branch.places]
        names = [
            f"{one.order}-{key}" for one in places for key in (*one.replies, *(name for name, *_ in one.stop.weights))
        ]
        return (Choice("lens", ("", *dict.fromkeys(names), *(f"g{i}" for i in range(GUESSES))), "", in_figure=False),)

    def levels(self, state: str, groups: list[list[Levels]]) -> list[list[int]]:
        """How high the bars of the drawing are in one state."""
        return [[dict(levels).get(state, 0) for levels in group] for group in groups]


view = View


def guesses_of(model: Model, logits: Array) -> list[Guess]:
    """The likeliest next tokens by logits [vocab_size]."""
    return candidates(logits, softmax(logits), None, GUESSES, lambda i: show(model.tokenizer.vocabulary[i]))


def near(model: Model, token_id: int) -> tuple[str, list[str]]:
    """A token and those whose embeddings are most like its own."""
    vocabulary = model.tokenizer.vocabulary
    found = path.neighbours(model.params, token_id, NEIGHBOURS)
    return show(vocabulary[token_id]), [show(vocabulary[i]) for i in found]


def parameters(model: Architecture, part: str) -> int:
    return inventory.totals(model.config)[part]
