"""GLOSSARY: the words of the course, one meaning each, the lesson where each is at work, their order. Knows no HTML."""

from __future__ import annotations

from typing import NamedTuple
from unicodedata import normalize

from microgpt.errors import N_
from microgpt.viz.text.language import translate


class Term(NamedTuple):
    """A word: its anchor on the glossary page, how it is written, what it means, the name of its page.

    Its picture is its own, in apps/glossary/pictures.svg, or the small one of its page.
    """

    slug: str
    word: str
    meaning: str
    page: str
    own_picture: bool = True


TERMS = (
    Term(
        "absorption",
        N_("absorption"),
        N_(
            "The keys’ matrix applied to the query in place of every latent, and the values’ matrix to the "
            "weighted sum: the same scores, without making keys and values."
        ),
        "latent-row",
        own_picture=False,
    ),
    Term(
        "acceptance",
        N_("acceptance"),
        N_(
            "Whether a guess of the draft stays. Its rate, the share of guesses that stay, decides what "
            "speculative decoding gains."
        ),
        "guess-and-check",
        own_picture=False,
    ),
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
        "attention-sink",
        N_("attention sink"),
        N_(
            "A row, mostly the first of a text, that takes the weight which a query has no use for. A window that "
            "drops it ruins the answer."
        ),
        "full-cache",
        own_picture=False,
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
        "chunked-prefill",
        N_("chunked prefill"),
        N_("Running a long prompt in parts, over several passes, so that others can decode in the same passes."),
        "many-at-once",
        own_picture=False,
    ),
    Term(
        "continuous-batching",
        N_("continuous batching"),
        N_("Choosing anew for every pass which requests take part: who is done leaves, who waits joins."),
        "many-at-once",
        own_picture=False,
    ),
    Term(
        "copy-on-write",
        N_("copy on write"),
        N_("A block that several texts hold is copied only when one of them writes into it."),
        "shared-prefixes",
        own_picture=False,
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
        "eviction",
        N_("eviction"),
        N_(
            "Giving up cached rows or blocks when memory runs short. What is evicted must be computed again, or "
            "is missing."
        ),
        "full-cache",
        own_picture=False,
    ),
    Term(
        "flash-attention",
        N_("FlashAttention"),
        N_(
            "Exact attention over tiles of keys, which carries the sums of softmax along and never stores a whole "
            "row of scores."
        ),
        "in-pieces",
        own_picture=False,
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
    Term(
        "latent",
        N_("latent"),
        N_(
            "A short row per token from which the keys and values of all heads can be computed. MLA caches it in "
            "their place."
        ),
        "latent-row",
        own_picture=False,
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
        "latent-row",
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
    Term(
        "paged-attention",
        N_("PagedAttention"),
        N_(
            "Attention over a cache that lies in small blocks, wherever there is room; a block table says where. "
            "It came with vLLM."
        ),
        "pages",
        own_picture=False,
    ),
    Term("position", N_("position"), N_("The place of a token in the text, counted from zero."), "next-token"),
    Term(
        "prefill",
        N_("prefill"),
        N_("Running the whole prompt in one pass, which fills the cache."),
        "prefill-and-decode",
    ),
    Term(
        "preemption",
        N_("preemption"),
        N_(
            "Taking its blocks from a request that runs, when there are too few. It waits, and its rows are "
            "computed again later."
        ),
        "many-at-once",
        own_picture=False,
    ),
    Term(
        "prefix-cache",
        N_("prefix cache"),
        N_(
            "Rows that are kept after their text has ended, for requests that begin with the same tokens: prefix "
            "caching."
        ),
        "shared-prefixes",
    ),
    Term(
        "quantisation",
        N_("quantisation"),
        N_(
            "Writing each number with fewer bits: as the nearest of a few points, of which only the number is "
            "kept, beside a scale."
        ),
        "fewer-bits",
        own_picture=False,
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
        "request",
        N_("request"),
        N_("What is sent to an engine, a prompt with its settings, and the text that is written for it."),
        "many-at-once",
        own_picture=False,
    ),
    Term(
        "residual-stream",
        N_("residual stream"),
        N_("The vector of a token that runs through all layers; each part adds to it."),
        "inside",
    ),
    Term(
        "roofline",
        N_("roofline"),
        N_(
            "How fast a processor can compute at so many operations per byte: first as fast as memory brings the "
            "bytes, then at its peak."
        ),
        "reading-limit",
        own_picture=False,
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
    Term(
        "speculative-decoding",
        N_("speculative decoding"),
        N_(
            "A small model guesses the next tokens and the large one checks all of them in one pass, without "
            "changing the distribution of what is written."
        ),
        "guess-and-check",
        own_picture=False,
    ),
    Term(
        "tensor-parallelism",
        N_("tensor parallelism"),
        N_(
            "Each of several processors holds some of the heads, with their rows, and a part of each matrix; "
            "their results are added up."
        ),
        "reading-limit",
        own_picture=False,
    ),
    Term(
        "tile",
        N_("tile"),
        N_("A few keys and values at a time, which a processor keeps in its own small memory while it works on them."),
        "in-pieces",
        own_picture=False,
    ),
    Term("token", N_("token"), N_("The piece of text that a model works on: here a letter or a word."), "next-token"),
    Term(
        "training",
        N_("training"),
        N_("Changing the weights, a little at a time, so that the right next token becomes likelier."),
        "training",
    ),
    Term(
        "tpot",
        N_("time per later token (TPOT)"),
        N_("Time per output token: how long each token after the first takes. Decode sets it."),
        "prefill-and-decode",
        own_picture=False,
    ),
    Term(
        "ttft",
        N_("time to the first token (TTFT)"),
        N_("How long a reader waits before an answer begins. Queue and prefill set it."),
        "prefill-and-decode",
        own_picture=False,
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


def sort_terms() -> list[Term]:
    """The glossary in the order of its words, as they are in the language that is set."""
    alphabet = translate([ALPHABET])[0]
    return sorted(TERMS, key=lambda term: places(translate([term.word])[0], alphabet))


def places(word: str, alphabet: str) -> list[int]:
    """Where each of its letters stands in the alphabet, accents aside; what is no letter comes first."""
    letters = normalize("NFC", word.lower())
    return [alphabet.find(c if c in alphabet else normalize("NFKD", c)[0]) for c in letters]


def initials() -> list[tuple[str, str]]:
    """The alphabet of the language that is set: each letter, with the first word that begins with it, if any."""
    alphabet = translate([ALPHABET])[0]
    first: dict[int, str] = {}
    for term in sort_terms():
        first.setdefault(places(translate([term.word])[0], alphabet)[0], term.slug)
    return [(letter, first.get(at, "")) for at, letter in enumerate(alphabet)]
