"""A model that talks: the stepper, drawn from the trace of a trained model that lies in the repository.

No weights travel: the page is made of the excerpt alone, which says where its model comes from. What only a trained
model shows is counted by rules that are stated here. `python -m tools.trained` makes the traces.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np

from microgpt.apps.records import TRACES
from microgpt.config import n_params
from microgpt.cost import kv_bytes
from microgpt.errors import N_
from microgpt.trace import from_json
from microgpt.viz.large.from_trace import ExcerptPicture, picture_of_excerpt
from microgpt.viz.large.heads import attention, tell_most
from microgpt.viz.large.overview import HALF_WEIGHT, HeadKind
from microgpt.viz.settings import Settings

__all__ = ["HALF_WEIGHT", "view"]  # and what the templates read


class Text(NamedTuple):
    """What the model was given; `new` tokens are its own. Where `layers` and `heads` are empty, the rule opens some.

    Of what the trace has of these, the page opens `opened`, each as layer and head, or all. It is to weigh little, so
    it says of `told` heads how their numbers come about; the page of its numbers does so of the others.
    """

    file: str
    prompt: str
    new: int
    layers: tuple[int, ...]
    heads: tuple[int, ...]
    digits: int
    opened: tuple[str, ...]
    told: int


DAY = Text("smollm2.json", "The next day is bright", 7, (), (), 4, (), 1)
CHAT_TEXT = Text(
    "smollm2-chat.json",
    "<|im_start|>user\nWhat is the capital of France?<|im_end|>\n<|im_start|>assistant\n",
    6,
    (17, 18),
    (4, 6),
    3,
    ("17.4", "18.6"),
    2,
)
TEXTS = (DAY, CHAT_TEXT)


class Rest:
    """What the token that most heads rest on is like, against the middle one of the others, in the layer where its
    residual stream is longest."""

    def __init__(self, shown: ExcerptPicture) -> None:
        lengths = np.array(shown.about["whole"]["resid_lengths"])  # [n_layer, n]
        self.layer = int(lengths[:, 0].argmax())
        first, *others = lengths[self.layer]
        self.stream, self.others = round(first), round(sorted(others)[len(others) // 2])
        self.v = shown.map.short or 1.0  # how long its V row is, others = 1, the middle one of the resting heads


class Peak:
    """The channel of the keys that is largest against the middle one, and the smallest such ratio of all key heads."""

    def __init__(self, shown: ExcerptPicture) -> None:
        found = [
            (times, layer, head, channel)
            for layer, heads in enumerate(shown.about["whole"]["k_peaks"])
            for head, (channel, times) in enumerate(heads)
        ]
        times, *place = max(found)
        self.layer, self.head, self.channel = place
        self.times, self.least = times, min(found)[0]


@cache
def picture(text: Text = DAY) -> ExcerptPicture:
    """A trace of the repository, drawn; it opens on the head and the step that show most."""
    shown = picture_of_excerpt(from_json((TRACES / text.file).read_text("utf-8")), text.layers, text.heads)
    heads = tuple(one for one in shown.heads if not text.opened or one.value in text.opened)
    head, step = tell_most(attention(shown.trace, shown.config, shown.n), heads)
    return replace(shown, heads=heads, at_head=head, selected=step, apart=True, told=text.told)


class View:
    def __init__(self, _: Settings) -> None:
        shown = picture()
        about, c = shown.about, shown.config
        self.choices = shown.choices
        self.fields = shown.fields
        self.picture = shown
        self.params, self.bytes = n_params(c), kv_bytes(c, 1, 2)  # of a token, in 16 bits
        self.written = "".join(shown.tokens[about["n_prompt"] :])  # by the model
        self.kinds = kinds(shown)
        self.heads = shown.map.heads
        self.rest, self.peak = Rest(shown), Peak(shown)
        self.about = about


view = View


def kinds(shown: ExcerptPicture) -> list[tuple[str, HeadKind]]:
    """By name, heads of which one key has more than HALF_WEIGHT of the weight on average, from the third step on."""
    first, before, own = shown.map.first, shown.map.before, shown.map.own
    assert first and before and own, "the text has three tokens or more"
    return [(N_("the first token"), first), (N_("the token before"), before), (N_("its own token"), own)]
