"""GLOSSARY: the words of the course, one meaning each, the lesson where each is at work, their order. Knows no HTML."""

from __future__ import annotations

from typing import NamedTuple
from unicodedata import normalize

from microgpt.errors import N_
from microgpt.viz.text.language import translate


class Term(NamedTuple):
    """A word: its anchor on the glossary page, the name of its page, how it is written, what it means.

    Its picture is its own, in apps/glossary/pictures.svg, or the small one of its page.
    """

    slug: str
    page: str
    word: str
    meaning: str
    own_picture: bool = True


TERMS = (
    Term("absorption", "latent-row", N_("absorption"),
         N_("The keys’ matrix applied to the query in place of every latent, and the values’ matrix to the "
            "weighted sum: the same scores, without making keys and values."), own_picture=False),
    Term("acceptance", "guess-and-check", N_("acceptance"),
         N_("Whether a guess of the draft stays. Its rate, the share of guesses that stay, decides what "
            "speculative decoding gains."), own_picture=False),
    Term("attention", "attention", N_("attention"),
         N_("The part of a layer in which a token reads itself and earlier tokens: its query meets the keys and "
            "takes the values by weight. In symbols: softmax(q · Kᵀ / √head_dim) · V.")),
    Term("attention-sink", "full-cache", N_("attention sink"),
         N_("A row, mostly the first of a text, that takes the weight which a query has no use for. A window that "
            "drops it ruins the answer."), own_picture=False),
    Term("batch", "in-your-code", N_("batch"),
         N_("Several texts that run through the model in one pass, each with a cache of its own.")),
    Term("block-table", "pages", N_("block table"),
         N_("For each block of rows of a text, the number of the block of memory in which they lie.")),
    Term("chunked-prefill", "many-at-once", N_("chunked prefill"),
         N_("Running a long prompt in parts, over several passes, so that others can decode in the same passes."),
         own_picture=False),
    Term("continuous-batching", "many-at-once", N_("continuous batching"),
         N_("Choosing anew for every pass which requests take part: who is done leaves, who waits joins."),
         own_picture=False),
    Term("copy-on-write", "shared-prefixes", N_("copy on write"),
         N_("A block that several texts hold is copied only when one of them writes into it."), own_picture=False),
    Term("decode", "prefill-and-decode", N_("decode"),
         N_("Running the newest token alone, with a cache, to get the next one.")),
    Term("dot-product", "attention", N_("dot product"),
         N_("Two rows of numbers, multiplied number by number, and the products added: q · k. The more the two "
            "point the same way, the larger it is.")),
    Term("embedding", "next-token", N_("embedding"),
         N_("The row of numbers that stands for a token when it enters the model.")),
    Term("eviction", "full-cache", N_("eviction"),
         N_("Giving up cached rows or blocks when memory runs short. What is evicted must be computed again, or is"
            " missing."), own_picture=False),
    Term("flash-attention", "in-pieces", N_("FlashAttention"),
         N_("Exact attention over tiles of keys, which carries the sums of softmax along and never stores a whole "
            "row of scores."), own_picture=False),
    Term("gqa", "fewer-heads", N_("grouped-query attention (GQA)"),
         N_("Several query heads share one key head and one value head, so the cache holds fewer rows.")),
    Term("gradient", "training", N_("gradient"),
         N_("How much the loss would change with each number; training follows it downwards.")),
    Term("head", "kv-cache", N_("head"),
         N_("One of several attentions that run side by side in a layer, each on its own slice of the vectors.")),
    Term("key", "kv-cache", N_("key (k)"), N_("What a token shows to later queries. It is kept in the cache.")),
    Term("kv-cache", "kv-cache", N_("KV cache"),
         N_("For each layer, the k and v row of every token so far, kept so that they need not be computed again.")),
    Term("latent", "latent-row", N_("latent"),
         N_("A short row per token from which the keys and values of all heads can be computed. MLA caches it in "
            "their place."), own_picture=False),
    Term("layer", "inside", N_("layer"), N_("One attention and one MLP. A model is a stack of them.")),
    Term("left-padding", "in-your-code", N_("left padding"),
         N_("Filling up the shorter texts of a batch on the left, so that all of them end in the last column.")),
    Term("logits", "next-token", N_("logits"),
         N_("One number for every token of the vocabulary: the larger, the likelier it comes next.")),
    Term("mask", "attention", N_("causal mask"),
         N_("Minus infinity, added to the scores of later tokens, so that no token reads ahead.")),
    Term("mla", "latent-row", N_("multi-head latent attention (MLA)"),
         N_("One short row per token is cached, from which the keys and values of all heads are computed.")),
    Term("mlp", "inside", N_("MLP"),
         N_("The part of a layer that works on each token alone: a matrix that makes its row wider, an activation "
            "function such as ReLU, and a matrix that brings it back.")),
    Term("mqa", "fewer-heads", N_("multi-query attention (MQA)"),
         N_("All query heads share a single key head and value head.")),
    Term("multiply-add", "with-and-without", N_("multiply-add"),
         N_("One multiplication and one addition: the unit in which the work of a model is counted here.")),
    Term("n-ctx", "prefill-and-decode", N_("context (n_ctx)"), N_("The most tokens that the model can see at once.")),
    Term("norm", "inside", N_("norm"), N_("Scales a vector to a steady size before it is worked on.")),
    Term("past-key-values", "in-your-code", N_("past_key_values"),
         N_("What transformers calls the KV cache: for each layer, keys and values of the tokens so far.")),
    Term("paged-attention", "pages", N_("PagedAttention"),
         N_("Attention over a cache that lies in small blocks, wherever there is room; a block table says where. "
            "It came with vLLM."), own_picture=False),
    Term("position", "next-token", N_("position"), N_("The place of a token in the text, counted from zero.")),
    Term("prefill", "prefill-and-decode", N_("prefill"),
         N_("Running the whole prompt in one pass, which fills the cache.")),
    Term("preemption", "many-at-once", N_("preemption"),
         N_("Taking its blocks from a request that runs, when there are too few. It waits, and its rows are "
            "computed again later."), own_picture=False),
    Term("prefix-cache", "shared-prefixes", N_("prefix cache"),
         N_("Rows that are kept after their text has ended, for requests that begin with the same tokens: prefix "
            "caching.")),
    Term("quantisation", "fewer-bits", N_("quantisation"),
         N_("Writing each number with fewer bits: as the nearest of a few points, of which only the number is "
            "kept, beside a scale."), own_picture=False),
    Term("query", "why-q", N_("query (q)"),
         N_("What a token asks of the keys. It is read at its own step and never again.")),
    Term("recompute", "with-and-without", N_("recompute"),
         N_("Running all tokens again for every new one, as a model without a cache must.")),
    Term("request", "many-at-once", N_("request"),
         N_("What is sent to an engine, a prompt with its settings, and the text that is written for it."),
         own_picture=False),
    Term("residual-stream", "inside", N_("residual stream"),
         N_("The vector of a token that runs through all layers; each part adds to it.")),
    Term("roofline", "reading-limit", N_("roofline"),
         N_("How fast a processor can compute at so many operations per byte: first as fast as memory brings the "
            "bytes, then at its peak."), own_picture=False),
    Term("rope", "inside", N_("rotary positions (RoPE)"),
         N_("q and k are turned by an angle that grows with the position. There are no weights in it.")),
    Term("sampling", "next-token", N_("sampling"),
         N_("Choosing the next token by chance, the likelier ones more often. Temperature says how bold.")),
    Term("score", "attention", N_("score"),
         N_("The dot product of a query and a key, divided by a root: (q · k) / √head_dim. It says how well they "
            "agree.")),
    Term("softmax", "attention", N_("softmax"),
         N_("Turns scores into weights: e to each score, divided by the sum of them all. None is below zero, and "
            "together they are one.")),
    Term("speculative-decoding", "guess-and-check", N_("speculative decoding"),
         N_("A small model guesses the next tokens and the large one checks all of them in one pass, without "
            "changing the distribution of what is written."), own_picture=False),
    Term("tensor-parallelism", "reading-limit", N_("tensor parallelism"),
         N_("Each of several processors holds some of the heads, with their rows, and a part of each matrix; their"
            " results are added up."), own_picture=False),
    Term("tile", "in-pieces", N_("tile"),
         N_("A few keys and values at a time, which a processor keeps in its own small memory while it works on "
            "them."), own_picture=False),
    Term("token", "next-token", N_("token"), N_("The piece of text that a model works on: here a letter or a word.")),
    Term("training", "training", N_("training"),
         N_("Changing the weights, a little at a time, so that the right next token becomes likelier.")),
    Term("tpot", "prefill-and-decode", N_("time per later token (TPOT)"),
         N_("Time per output token: how long each token after the first takes. Decode sets it."), own_picture=False),
    Term("ttft", "prefill-and-decode", N_("time to the first token (TTFT)"),
         N_("How long a reader waits before an answer begins. Queue and prefill set it."), own_picture=False),
    Term("value", "kv-cache", N_("value (v)"),
         N_("What a token hands to those who read it. It is kept in the cache.")),
    Term("weight", "attention", N_("attention weight"),
         N_("How much of a value row is taken: what softmax makes of a score.")),
)  # fmt: skip
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
