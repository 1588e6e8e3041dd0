"""One text in the cache, and several words that could come next: what the q of each asks of the same rows.

The text is run once. Each word is run after it, and its row is cropped again, so that all of them read the very same K
and V. Which noun a pronoun looks at is measured in every head, and one head is chosen by rule. Knows no page.
"""

from collections.abc import Sequence
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np

from microgpt.cache import KVCache
from microgpt.config import Array
from microgpt.decode import prefill
from microgpt.errors import UserError
from microgpt.model import forward
from microgpt.trace import Trace
from microgpt.weights import Model

DIGITS = 4  # behind the point, of what is written to a file


class Sentence(NamedTuple):
    """A text, the nouns in it, and for each word that may follow, the noun that it stands for ("" for none alone)."""

    text: str
    nouns: tuple[str, ...]
    words: dict[str, str]


SENTENCES = (
    Sentence(
        "The boy saw the girl in the garden, and",
        (" boy", " girl", " garden"),
        {" he": " boy", " she": " girl", " it": " garden", " they": ""},
    ),
    Sentence(
        "The woman gave the dogs a ball, and",
        (" woman", " dogs", " ball"),
        {" she": " woman", " they": " dogs", " it": " ball"},
    ),
    Sentence(
        "The old man bought a house from two women, and",
        (" man", " house", " women"),
        {" he": " man", " they": " women", " it": " house"},
    ),
    Sentence("My mother wrote to my father that", (" mother", " father"), {" she": " mother", " he": " father"}),
    Sentence("The king and the queen were at home when", (" king", " queen"), {" he": " king", " she": " queen"}),
    Sentence("The woman has two dogs, and", (" woman", " dogs"), {" she": " woman", " they": " dogs"}),
    Sentence("The girl lost the keys, so", (" girl", " keys"), {" she": " girl", " they": " keys"}),
    Sentence("Anna told Peter a story while", ("Anna", " Peter"), {" she": "Anna", " he": " Peter"}),
    Sentence("Mary met John at the station, and", ("Mary", " John"), {" she": "Mary", " he": " John"}),
)


class Asked(NamedTuple):
    """A text in the cache, and what the last row of each word that was run after it has."""

    tokens: list[str]
    weights: dict[str, Array]  # [n_layer, n_head, n + 1]: what it gives to each row, its own the last
    q: dict[str, Array]  # [n_layer, n_head, head_dim]
    own: dict[str, Array]  # its own key, [n_layer, n_kv_head, head_dim]
    keys: Array  # of the text, [n_layer, n_kv_head, n, head_dim]


def ask(model: Model, sentence: Sentence) -> Asked:
    """Run the text once, and each of its words after it. Raises UserError for a word of several tokens."""
    config, tokenizer = model.config, model.tokenizer
    ids = tokenizer.encode(sentence.text)
    cache = KVCache(config, model.params["wte"].dtype)
    prefill(model.params, config, ids, cache)
    n = len(cache)
    keys = np.array([cache[layer].keys.copy() for layer in range(config.n_layer)])
    found = Asked([tokenizer.vocabulary[i] for i in ids], {}, {}, {}, keys)
    for word in sentence.words:
        token = tokenizer.encode(sentence.text + word)[n:]
        if len(token) != 1:
            raise UserError("“%(word)s” is %(n)s tokens to this model; give words of one.", word=word, n=len(token))
        trace = Trace()
        forward(model.params, config, token, cache, trace)
        cache.crop(n)
        found.weights[word] = np.array([trace["attn_weights", n, layer][:, 0] for layer in range(config.n_layer)])
        found.q[word], found.own[word] = (
            np.array([trace[name, n, layer][0] for layer in range(config.n_layer)]) for name in "qk"
        )
    return found


def measure(model: Model, sentences: Sequence[Sentence] = SENTENCES) -> dict[str, Any]:
    """A record of all sentences: what each word gives to each noun in all heads, and to all rows in the chosen one.

    The head is the one that prefers the right noun most: see `margins`. Of the first sentence there are also its keys
    and the queries of the words there, so that the weights can be computed again.
    """
    every = [ask(model, one) for one in sentences]
    nouns = [[one.tokens.index(noun) for noun in of.nouns] for one, of in zip(every, sentences, strict=True)]
    told: list[dict[str, Any]] = [
        {
            "text": of.text,
            "tokens": one.tokens,
            "nouns": at,
            "words": [
                {
                    "word": word,
                    "noun": one.tokens.index(noun) if noun else None,
                    "on_nouns": one.weights[word][:, :, at].round(DIGITS).tolist(),  # [n_layer][n_head][nouns]
                }
                for word, noun in of.words.items()
            ],
        }
        for of, one, at in zip(sentences, every, nouns, strict=True)
    ]
    layer, head = best_head(told)
    for sentence, one in zip(told, every, strict=True):
        for word in sentence["words"]:
            word["weights"] = one.weights[word["word"]][layer, head].round(DIGITS).tolist()
    first, of_keys = every[0], head // (model.config.n_head // model.config.n_kv_head)
    for word in told[0]["words"]:
        word["q"] = first.q[word["word"]][layer, head].round(DIGITS).tolist()
        word["k"] = first.own[word["word"]][layer, of_keys].round(DIGITS).tolist()
    keys = first.keys[layer, of_keys].round(DIGITS).tolist()
    return {"model": model.name, "layer": layer, "head": head, "keys": keys, "sentences": told}


def margins(sentences: Sequence[dict[str, Any]]) -> Array:
    """For each word that stands for one noun, what it gives that noun more than any other: [words, n_layer, n_head]."""
    return np.concatenate([ahead[range(len(means)), means] for ahead, means in map(by_noun, sentences)])


def best_head(sentences: Sequence[dict[str, Any]]) -> tuple[int, int]:
    """The layer and the head that prefers the right nouns most."""
    mean = margins(sentences).mean(axis=0)
    layer, head = np.unravel_index(mean.argmax(), mean.shape)
    return int(layer), int(head)


def by_noun(sentence: dict[str, Any]) -> tuple[Array, list[int]]:
    """What each word that stands for one noun gives to each noun more than to any other, [words, nouns, n_layer,
    n_head]; and which of the nouns each stands for."""
    words = [said for said in sentence["words"] if said["noun"] is not None]
    on = np.array([said["on_nouns"] for said in words])
    ahead = [on[..., j] - np.delete(on, j, axis=-1).max(axis=-1) for j in range(on.shape[-1])]
    return np.stack(ahead, axis=1), [sentence["nouns"].index(said["noun"]) for said in words]


def cross_validate(sentences: Sequence[dict[str, Any]]) -> tuple[list[tuple[int, int]], int]:
    """The layer and the head that the rule chooses without each of the sentences, and at how many words of the sentence
    that was left out such a head is right, over all of them."""
    heads, right = list[tuple[int, int]](), 0
    for i, sentence in enumerate(sentences):
        layer, head = best_head([*sentences[:i], *sentences[i + 1 :]])
        heads.append((layer, head))
        right += int((margins([sentence])[:, layer, head] > 0).sum())
    return heads, right


def dealt(sentences: Sequence[dict[str, Any]]) -> Array:
    """At how many words a head is right that the rule chooses once the nouns of each sentence are dealt out to its
    words, for all ways to do so: the best of many heads, where nothing is to find."""
    total = right = np.zeros((1, 1))
    for ahead, means in map(by_noun, sentences):
        flat = ahead.reshape(*ahead.shape[:2], -1)
        ways = np.array([flat[range(len(means)), way] for way in permutations(range(flat.shape[1]), len(means))])
        total = (total[:, None] + ways.sum(axis=1)).reshape(-1, flat.shape[-1])
        right = (right[:, None] + (ways > 0).sum(axis=1)).reshape(-1, flat.shape[-1])
    found: Array = right[range(len(right)), total.argmax(axis=1)].astype(int)
    return found
