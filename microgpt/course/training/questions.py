"""Questions about training: its mask, blind guessing, who hears from later steps, and a loss by hand."""

import math
from types import SimpleNamespace as Numbers

from microgpt.decode import probabilities
from microgpt.errors import N_
from microgpt.tokenizer import START
from microgpt.trace import Trace
from microgpt.viz.settings import Settings
from microgpt.viz.text.answers import answers
from microgpt.viz.text.formats import show
from microgpt.viz.text.tasks import Task, calc, triangle
from microgpt.weights import shipped

NAME, DIGITS = Settings("names", "iva"), 3  # digits of the probabilities


def asks(n: int, deaf: str, words: int) -> Numbers:
    """`deaf` is the one of the first and the last row that hears less from later steps; `words` are the tokens of the
    vocabulary of microgpt's training."""
    alone = round(math.log(words), 2)
    return Numbers(
        deaf=deaf,
        longer=n + 1,
        masked=answers(n * (n + 1) // 2, own=(n + 1) * (n + 2) // 2, one=n * (n - 1) // 2 + 1),
        words=words,
        guess=alone,
        twice=answers(round(math.log(2 * words), 2), same=alone, doubled=round(2 * alone, 2)),
        more=math.log(2),
    )


def loss() -> Numbers:
    """A text as training reads it: the probability of each token that really comes next."""
    trace, vocab = NAME.trace(), shipped(NAME.model).config.vocab_size
    guesses = [guess(trace, i) for i in range(len(trace.about["tokens"]))]
    losses, n = [one.loss for one in guesses], len(guesses)
    return Numbers(
        guesses=guesses,
        mean=calc("(" + " + ".join(["{}"] * n) + ") ÷ {} = {}", *losses, n, sum(losses) / n),
        even=calc("ln {} = {}", vocab, math.log(vocab)),
        scores=calc("{} × {} ÷ {} = {}", n, n + 1, 2, triangle(n)),
        masked=calc("{} × {} − {} = {}", n, n, triangle(n), n * n - triangle(n)),
        vocab=vocab,
    )


def guess(trace: Trace, i: int) -> Numbers:
    """What the model gave the token that comes after position i: the text's next one, or its end."""
    tokens, ids = trace.about["tokens"], shipped(NAME.model).tokenizer.encode("".join(trace.about["tokens"][1:]))
    comes, id_ = [*tokens[1:], START][i], [*ids[1:], ids[0]][i]
    p = round(float(probabilities(trace["logits", i, -1][0])[id_]), DIGITS)
    return Numbers(read=show(tokens[i]), comes=show(comes), p=p, loss=-math.log(p))


TASKS = (Task("loss", N_("A loss by hand"), 8, "compute", 15, 9, loss),)
