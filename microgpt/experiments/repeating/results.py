"""Everything that is measured of how a model repeats itself, as one record that can be written to a file."""

from typing import Any

from microgpt.errors import UserError
from microgpt.experiments.repeating.rounds import Looks, chances, circle, without_earlier_rounds
from microgpt.experiments.repeating.temperatures import texts
from microgpt.weights import Model

TEMPERATURES, RUN_SEEDS = (0.3, 0.7, 1.0, 1.5), range(1, 9)
LONG, SHORT_TEXT = 220, 100  # tokens of the text that goes in circles, and of each of the others
FILE_DIGITS = 4  # behind the point, of probabilities and weights


def measure(model: Model, prompt: str, long: int = LONG, short: int = SHORT_TEXT) -> dict[str, Any]:
    """A text of likeliest tokens and its rounds, and texts at several temperatures.

    Of the first: `ids`, `chances` of all tokens but the first, `looks` [rounds][n_layer][n_head], and `without`, the
    chances in the last round with the rows of the earlier ones gone. Of the others: `texts`. `vocabulary` has the text
    of each token id. Raises UserError if the first does not go in circles.
    """
    config, given = model.config, model.tokenizer.encode(prompt)
    ids = next(texts(model, given, [0], RUN_SEEDS, long)).ids
    found = circle(ids)
    if found is None:
        raise UserError("Within %(n)s tokens this text does not repeat itself; give more, or another one.", n=long)
    turns = found.rounds(len(ids))
    ids = ids[: turns[-1].stop]
    looks = Looks(config, found, len(ids))
    sure = chances(model, ids, hook=looks)
    others = list(texts(model, given, TEMPERATURES, RUN_SEEDS, short))
    used = sorted({*ids, *(token for text in others for token in text.ids)})
    return {
        "model": model.name,
        "prompt": prompt,
        "n_prompt": len(given),
        "ids": ids,
        "chances": sure.round(FILE_DIGITS).tolist(),
        "looks": looks.found.round(FILE_DIGITS).tolist(),
        "without": without_earlier_rounds(model, ids, turns[-1], found.start).round(FILE_DIGITS).tolist(),
        "short": short,
        "texts": [text._asdict() | {"chances": [round(x, FILE_DIGITS) for x in text.chances]} for text in others],
        "vocabulary": {str(token): model.tokenizer.vocabulary[token] for token in used},
    }
