"""The loop: its questions, answered by counting pass by pass and by the logits themselves."""

import numpy as np
import pytest

from microgpt.weights import shipped
from tests.support.questions import Facts, Numbers, View, logits

MEASURED = ("append: the the the the",)


def ask_bug(view: View) -> str:
    """The first row is that of the first token alone, whatever comes after it."""
    model = shipped("stories")
    first = model.tokenizer.vocabulary[int(logits(model, [model.tokenizer.start])[0].argmax())]
    assert {*view.asks.stuck} == {first} and len(view.asks.stuck) > 1
    return "every pass chooses the same token"


def ask_more(view: View) -> str:
    return f"{sum(one.n for one in view.passes) + view.passes[-1].n + 1}"


def ask_colder(view: View) -> str:
    return "{:.0f}".format(*[a / b for t, a, b in view.open_table if t == 1])


def task_rows(facts: Facts) -> Numbers:
    """Pass by pass; and the passes of the real text."""

    def counted(p: int, n: int) -> tuple[int, int]:
        return sum(range(p, p + n)), len({*range(p + n - 1)})

    model, made = shipped("stories"), 0
    ids, stops = model.tokenizer.encode("The sun is"), model.tokenizer.stops
    p = len(ids)
    while made == 0 or ids[-1] not in stops:
        made += 1
        ids.append(int(logits(model, ids)[-1].argmax()))
    (runs, first), (long_runs, long_first) = counted(p, made), counted(*facts.long)
    long = {"long_runs": long_runs, "long_first": long_first, "times": long_runs / long_first}
    return {"p": p, "n": made, "runs": runs, "first": first, **long}


def task_odds(facts: Facts) -> Numbers:
    """By the probabilities, of which the page gives the logits with two digits."""
    row = logits("stories", shipped("stories").tokenizer.encode("The sun is"))[-1]
    best, second = np.sort(np.exp(row))[:-3:-1]
    assert [logit for _, logit in facts.logits] == sorted(np.round(np.sort(row)[-3:], 2), reverse=True)
    cooled = (best / second) ** (1 / facts.temperature)
    assert facts.cooled_ratio == pytest.approx(cooled, rel=0.02 / facts.temperature)
    return {"ratio": pytest.approx(best / second, rel=0.02)}


LEARNED = r"""
Is a token of a large model a word? A frequent word is one token and a rare one several
How many entries has the vocabulary of GPT-2? The vocabulary of GPT-2 124M has 50,257 entries
Why does greedy text repeat itself? a phrase that stands there once becomes likelier, comes again
Why does an answer appear word by word? it can show each token as soon as it is chosen
What is learned in pre-training? the task is always the same: predict the next token
What does a model see of a text? The text is cut into pieces from a fixed list, and each piece is called a token
How large is the vocabulary of this model? its vocabulary, has 99 entries
What is an embedding? The id picks a row from a table\. That row, 32 numbers long, is the token’s embedding
How does the order of the words come in? turn q and k inside every layer, by angles that grow with the position
What does the temperature do? A low one makes the likely likelier, a high one gives the others a chance
When does the loop stop? until the model chooses the token that ends a text, or until no more fits
What stays between two passes? Between two passes nothing stays but the text itself
How much of the work is done again? 51 of them, 81 percent, had been made before\. Only 12 were new
Why does training need no cache? side by side in one pass.*Each q, k and v is computed once, so no cache is needed
"""

CLAIMS = r"""
seed 0 | text is cut into tokens | pieces | cut into pieces from a fixed list | vocabulary, has 99 entries
seed 0 | each token becomes an embedding, which is not yet intelligent | embedding | 32 numbers long | knows nothing of this text
seed 0 | positional information is added | position | adds nothing to the embedding | turn q and k inside every layer | GPT-2 adds, Llama-3-8B turns
REFERENCE 4 | RoPE: a score depends on the distance alone | position | Turning both by the same angle leaves their product as it was | how far apart two tokens stand
REFERENCE 4 | RoPE is not applied before layer 0 but inside every layer | position | inside every layer
seed 0 | a stack of blocks of the same structure; 12, 24 or more | stack | repeats the layer 2 times | GPT-2 124M has 12 layers | Llama-3-8B has 32 layers
seed 0 | each layer refines the representation | stack | a little richer
seed 0 | attention connects the present with the past | attention | query is compared with the keys of the tokens before it and with its own
REFERENCE 4 | q is compared with previous keys and its own | attention | and with its own
seed 0 | the mask gives no memory; attention is algebra | mask | a rule and no memory | keeps nothing by itself
seed 0 | the MLP has no interaction; its cost does not depend on the context | mlp | each token alone | the same amount of work however long
seed 0 | residuals and norms keep the flow stable and trainable | norms | steady size | only adds to the residual stream | trainable
seed 0 | training: one pass, masked, no recomputation, no cache needed | training | side by side in one pass | computed once, so no cache is needed
seed 0 | inference: the loop recomputes the whole sequence | stateless | ran all 12 tokens to get one more
seed 0 | the forward pass is a stateless function | stateless | The pass is a function | forgotten both
seed 3 | training changes the weights, inference keeps them fixed | inference | the weights do not change: 21,760 numbers
REFERENCE 4 | the cache is not needed in training, but possible there | inference | not needed in training, but it is not forbidden
seed 3 | one token at a time, though it may look otherwise | loop | One pass, one token | it never does
seed 3 | the new token becomes part of the input | loop | put at the end of the text, and the longer text runs
seed 3 | it stops at the end token or at a limit | loop | the token that ends a text, or until no more fits
seed 3 | the model goes on from “The next day is bright” | open | after “the next day is bright and the” | the next day is bright and the boy walks
seed 3 | greedy choice or sampling | choice | greedy | sampling | temperature
seed 3 | only the last token’s logits are used | logits | the last token’s row becomes 99 logits | nobody needs them
seed 3 | a full pass for every token: is all of it necessary? | count | To write 7 tokens, the loop made 63 token passes | 51 of them, 81 percent, had been made before | Only 12 were new
seed 0 | past tokens’ k and v are recomputed without change | same | computed again came out as before | below 1e-12
"""
