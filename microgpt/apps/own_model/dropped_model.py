"""A model of the reader's own, between two answers of a page: read piece by piece, run step by step, drawn.

What was read and run is remembered to save time; what comes of it depends on the files and the settings alone.
Knows no HTML.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from microgpt.checkpoints.assemble import Precision
from microgpt.checkpoints.loading import Loading, mark
from microgpt.config import Config, n_params
from microgpt.errors import UserError
from microgpt.files import Readable
from microgpt.record import Recording
from microgpt.viz.drawing.phases import stage
from microgpt.viz.drawing.picture import Picture, most_tokens
from microgpt.viz.large.heads import attention, choose_heads, tell_most
from microgpt.viz.large.picture import BigPicture, complete_trace
from microgpt.viz.settings import Settings, radio
from microgpt.viz.text.formats import megabytes
from microgpt.weights import Model

SLICE = 1.0  # seconds of work between two signs of life
# up to here a model is drawn with all its numbers, as ours are
SMALL_MODEL = {"n_layer": 4, "n_head": 4, "head_dim": 8}
PART = 4  # tokens in a pass of such a run
QUICK = 2_000_000  # parameters up to which each step is run again without the cache


class OwnPicture(Picture):
    """A small model with all its numbers. Not every tokenizer has a token that starts a text."""

    def kind(self, i: int) -> str:
        return "prompt" if i == 0 and not self.about["started"] else super().kind(i)

    def stops(self, i: int) -> bool:
        return self.trace.number("sample", i) in self.about["stops"]

    @property
    def temperatures(self) -> tuple[str, ...]:
        """None: the form of this page asks for any."""
        return ()


class OwnBigPicture(BigPicture):
    """A large one. Its reader chooses in the page which heads are open, and which steps are compared."""

    live = True


@dataclass
class Loaded:
    """The files last chosen: how far they are read, and the model that came of them."""

    key: str = ""
    loading: Loading | None = None
    model: Model | None = None


current = Loaded()
_recordings: dict[Settings, Recording] = {}
_comparing: dict[tuple[int, int], Iterator[int]] = {}  # by the recording and the step


def forget() -> None:
    """As after a new start."""
    global current
    current = Loaded()
    _recordings.clear()
    _comparing.clear()


def load_slice(files: Sequence[Readable]) -> tuple[Model | None, Loading | None]:
    """The model of these files, or how far its reading is after one more slice."""
    global current
    if not files:
        raise UserError("No file is chosen. Choose the files of a checkpoint, or drop them on the field.")
    key = mark(files)
    if current.key != key:
        fresh = Loading(files, precision)
        forget()  # two models at once could be more than there is room for
        current = Loaded(key, fresh)
        return None, fresh  # the page says what is read before the reading begins
    if current.loading is not None:
        try:
            current.model = current.loading.go_on(SLICE)
        except UserError:
            forget()
            raise
        except MemoryError:
            size = megabytes(current.loading.total)
            forget()
            raise UserError(
                "The browser has no room for this model (%(size)s MB). Close other pages, or use the command "
                "line: python build.py --model FOLDER --prompt TEXT --out lesson.",
                size=size,
            ) from None
        if current.model is not None:  # the page says that all is read before the model runs
            done, current.loading = current.loading, None
            return None, done
    return current.model, current.loading


def precision(config: Config) -> Precision:
    """What is drawn with all its numbers is computed as our models are."""
    return "float64" if small(config) else "float32"


def small(config: Config) -> bool:
    return all(getattr(config, name) <= most for name, most in SMALL_MODEL.items())


def run_step(recording: Recording) -> None:
    """One step; a recording that has broken off is not kept."""
    try:
        recording.step()
    except UserError:
        _recordings.clear()
        raise


def compare_slice(recording: Recording, i: int) -> int:
    """Run step i again without the cache, for one slice: how many of its tokens have run, or 0 when all is done."""
    going = _comparing.pop((id(recording), i), None) or recording.compare_in_parts(i, PART)
    _comparing.clear()
    end = time.monotonic() + SLICE
    for done in going:
        if time.monotonic() > end:
            _comparing[id(recording), i] = going
            return done
    return 0


def recording_of(settings: Settings, model: Model, anew: bool = False) -> Recording:
    """The recording that is kept, however far it has run; else a new one."""
    kept = None if anew else _recordings.get(settings)
    if kept is None:
        n, most = len(model.tokenizer.encode(settings.prompt)), most_tokens(model.config)
        if n > most:
            raise UserError("The prompt has %(n)s tokens; a page shows at most %(limit)s. Shorten it.", n=n, limit=most)
        kept = Recording(
            model,
            settings.prompt,
            settings.temperature,
            settings.top_k,
            settings.seed,
            most - n,
            compares=n_params(model.config) <= QUICK,
        )
        _recordings.clear()
        _recordings[settings] = kept
    return kept


def picture(
    recording: Recording, fields: Mapping[str, str], layers: Sequence[int], heads: Sequence[int], at: int
) -> Picture:
    """The picture of what was run; `at` is the step that is shown."""
    trace, config = complete_trace(recording), recording.model.config
    if small(config):
        layer, head = radio(fields, "layer", 0, config.n_layer - 1), radio(fields, "head", 0, config.n_head - 1)
        return OwnPicture(trace, at, layer, head, stage(fields))
    return big_picture(recording, fields, layers, heads, at)


def big_picture(
    recording: Recording, fields: Mapping[str, str], layers: Sequence[int], heads: Sequence[int], at: int
) -> OwnBigPicture:
    """The same, of a model of any size, as a large one is drawn: a few heads are open, and all heads at once."""
    # by the prompt alone: other heads at every new token would be hard to follow
    trace, config = complete_trace(recording), recording.model.config
    weights = attention(trace, config, recording.n_prompt)
    found = choose_heads(weights, config.head_dim, layers, heads)
    same = [index for index, one in enumerate(found) if one.value == fields.get("head")]
    return OwnBigPicture(
        trace,
        at,
        phase=stage(fields),
        heads=tuple(found),
        at_head=same[0] if same else tell_most(weights, found)[0],
        by_rule=not heads,
        layers_by_rule=not layers,
    )
