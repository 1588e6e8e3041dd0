"""GLOSSARY: the words of the course, one meaning each, the lesson where each is at work, their order. Knows no HTML."""

from __future__ import annotations

from typing import NamedTuple
from unicodedata import normalize

from microgpt.errors import N_
from microgpt.viz.text.language import translate


class Term(NamedTuple):
    """A word: its anchor on the glossary page, how it is written, what it means, the name of its page."""

    slug: str
    word: str
    meaning: str
    page: str


TERMS = (
    Term(
        "attention",
        N_("attention"),
        N_(
            "The part of a layer in which a token reads itself and earlier tokens: its query meets the keys and "
            "takes the values by weight. In symbols: softmax(q · Kᵀ / √head_dim) · V."
        ),
        "attention",
    ),
    Term(
        "batch",
        N_("batch"),
        N_("Several texts that run through the model in one pass, each with a cache of its own."),
        "in-your-code",
    ),
    Term(
        "block-table",
        N_("block table"),
        N_("For each block of rows of a text, the number of the block of memory in which they lie."),
        "pages",
    ),
    Term(
        "decode",
        N_("decode"),
        N_("Running the newest token alone, with a cache, to get the next one."),
        "prefill-and-decode",
    ),
    Term(
        "dot-product",
        N_("dot product"),
        N_(
            "Two rows of numbers, multiplied number by number, and the products added: q · k. The more the two point "
            "the same way, the larger it is."
        ),
        "attention",
    ),
    Term(
        "embedding",
        N_("embedding"),
        N_("The row of numbers that stands for a token when it enters the model."),
        "next-token",
    ),
    Term(
        "gqa",
        N_("grouped-query attention (GQA)"),
        N_("Several query heads share one key head and one value head, so the cache holds fewer rows."),
        "fewer-heads",
    ),
    Term(
        "gradient",
        N_("gradient"),
        N_("How much the loss would change with each number; training follows it downwards."),
        "training",
    ),
    Term(
        "head",
        N_("head"),
        N_("One of several attentions that run side by side in a layer, each on its own slice of the vectors."),
        "kv-cache",
    ),
    Term("key", N_("key (k)"), N_("What a token shows to later queries. It is kept in the cache."), "kv-cache"),
    Term(
        "kv-cache",
        N_("KV cache"),
        N_("For each layer, the k and v row of every token so far, kept so that they need not be computed again."),
        "kv-cache",
    ),
    Term("layer", N_("layer"), N_("One attention and one MLP. A model is a stack of them."), "inside"),
    Term(
        "left-padding",
        N_("left padding"),
        N_("Filling up the shorter texts of a batch on the left, so that all of them end in the last column."),
        "in-your-code",
    ),
    Term(
        "logits",
        N_("logits"),
        N_("One number for every token of the vocabulary: the larger, the likelier it comes next."),
        "next-token",
    ),
    Term(
        "mask",
        N_("causal mask"),
        N_("Minus infinity, added to the scores of later tokens, so that no token reads ahead."),
        "attention",
    ),
    Term(
        "mla",
        N_("multi-head latent attention (MLA)"),
        N_("One short row per token is cached, from which the keys and values of all heads are computed."),
        "fewer-heads",
    ),
    Term(
        "mlp",
        N_("MLP"),
        N_(
            "The part of a layer that works on each token alone: a matrix that makes its row wider, an activation "
            "function such as ReLU, and a matrix that brings it back."
        ),
        "inside",
    ),
    Term(
        "mqa",
        N_("multi-query attention (MQA)"),
        N_("All query heads share a single key head and value head."),
        "fewer-heads",
    ),
    Term(
        "multiply-add",
        N_("multiply-add"),
        N_("One multiplication and one addition: the unit in which the work of a model is counted here."),
        "with-and-without",
    ),
    Term("n-ctx", N_("context (n_ctx)"), N_("The most tokens that the model can see at once."), "prefill-and-decode"),
    Term("norm", N_("norm"), N_("Scales a vector to a steady size before it is worked on."), "inside"),
    Term(
        "past-key-values",
        N_("past_key_values"),
        N_("What transformers calls the KV cache: for each layer, keys and values of the tokens so far."),
        "in-your-code",
    ),
    Term("position", N_("position"), N_("The place of a token in the text, counted from zero."), "next-token"),
    Term(
        "prefill",
        N_("prefill"),
        N_("Running the whole prompt in one pass, which fills the cache."),
        "prefill-and-decode",
    ),
    Term(
        "prefix-cache",
        N_("prefix cache"),
        N_("Rows that are kept after their text has ended, for texts that begin with the same tokens."),
        "shared-prefixes",
    ),
    Term(
        "query",
        N_("query (q)"),
        N_("What a token asks of the keys. It is read at its own step and never again."),
        "why-q",
    ),
    Term(
        "recompute",
        N_("recompute"),
        N_("Running all tokens again for every new one, as a model without a cache must."),
        "with-and-without",
    ),
    Term(
        "residual-stream",
        N_("residual stream"),
        N_("The vector of a token that runs through all layers; each part adds to it."),
        "inside",
    ),
    Term(
        "rope",
        N_("rotary positions (RoPE)"),
        N_("q and k are turned by an angle that grows with the position. There are no weights in it."),
        "inside",
    ),
    Term(
        "sampling",
        N_("sampling"),
        N_("Choosing the next token by chance, the likelier ones more often. Temperature says how bold."),
        "next-token",
    ),
    Term(
        "score",
        N_("score"),
        N_(
            "The dot product of a query and a key, divided by a root: (q · k) / √head_dim. It says how well they agree."
        ),
        "attention",
    ),
    Term(
        "softmax",
        N_("softmax"),
        N_(
            "Turns scores into weights: e to each score, divided by the sum of them all. None is below zero, and "
            "together they are one."
        ),
        "attention",
    ),
    Term("token", N_("token"), N_("The piece of text that a model works on: here a letter or a word."), "next-token"),
    Term(
        "training",
        N_("training"),
        N_("Changing the weights, a little at a time, so that the right next token becomes likelier."),
        "training",
    ),
    Term("value", N_("value (v)"), N_("What a token hands to those who read it. It is kept in the cache."), "kv-cache"),
    Term(
        "weight",
        N_("attention weight"),
        N_("How much of a value row is taken: what softmax makes of a score."),
        "attention",
    ),
)
GLOSSARY = {term.slug: term for term in TERMS}


ALPHABET = N_("abcdefghijklmnopqrstuvwxyz")  # in the order of the language


class Initial(NamedTuple):
    """A letter of the alphabet, and the first word that begins with it; "" where none does."""

    letter: str
    slug: str


def sort_terms() -> list[Term]:
    """The glossary in the order of its words, as they are in the language that is set."""
    alphabet = translate([ALPHABET])[0]
    return sorted(TERMS, key=lambda term: places(translate([term.word])[0], alphabet))


def places(word: str, alphabet: str) -> list[int]:
    """Where each of its letters stands in the alphabet, accents aside; what is no letter comes first."""
    letters = normalize("NFC", word.lower())
    return [alphabet.find(c if c in alphabet else normalize("NFKD", c)[0]) for c in letters]


def initials() -> list[Initial]:
    """The alphabet of the language that is set."""
    alphabet = translate([ALPHABET])[0]
    first: dict[int, str] = {}
    for term in sort_terms():
        first.setdefault(places(translate([term.word])[0], alphabet)[0], term.slug)
    return [Initial(letter, first.get(at, "")) for at, letter in enumerate(alphabet)]
