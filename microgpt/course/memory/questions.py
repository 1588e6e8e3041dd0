"""Questions about memory: bytes of a token, of two texts, what fits, a model found from its cache, a card, blocks."""

from dataclasses import replace
from types import SimpleNamespace as Numbers

from microgpt.architectures import Architecture
from microgpt.architectures.known import PRESETS
from microgpt.config import Config
from microgpt.cost import kv_bytes
from microgpt.errors import N_
from microgpt.viz.text.answers import answers
from microgpt.viz.text.tasks import Task, calc, chain, fits, ratio, unlike

GB = 10**9
FIT = 2 * GB  # a question asks what fits
OWN = Config(n_layer=24, n_embd=2048, n_head=16, n_kv_head=4, head_dim=128)  # and another, what a token takes
LARGE, PLANNED, LATENT = "Llama-3-70B", "Llama-3-8B", "DeepSeek-V3"
ROOM, CARD, POOL = 10 * GB, 80 * GB, 20 * GB
RESERVED, MEAN, SHORT = 8192, 2000, 500  # tokens that are reserved for a text, and that it has on average
PAGE = 16  # rows of a block
HALVES = ("n_head", "n_kv_head", "n_layer", "head_dim", "n_mlp", "n_ctx")  # factors of a config that are halved


def asks(model: Architecture) -> Numbers:
    """Bytes that a step of this model reads for two texts, each as long as it sees, and tokens of it that fit."""
    per, n, c = model.bytes_per_token(), model.config.n_ctx, OWN
    token, one = kv_bytes(c, 1, 2), model.weight_bytes_read() + model.cache_bytes(n)
    return Numbers(
        config=c,
        per_token=answers(token, only_k=token // 2, queries=token * c.n_head // c.n_kv_head),
        two=answers(model.weight_bytes_read(batch=2) + model.cache_bytes(n, 2), one=one, twice=2 * one),
        room=FIT,
        fit=answers(FIT // per, twice=FIT // (2 * per), only_k=2 * FIT // per),
    )


def backwards() -> Numbers:
    """A model of which the cache is known, and one of its factors is not; and one that keeps one short row."""
    a = PRESETS[LARGE]
    c, per_token = a.config, a.bytes_per_token()
    row, short = per_token // (c.n_layer * 2), PRESETS[LATENT].row
    return Numbers(
        config=c,
        per_token=per_token,
        row=calc("{} ÷ ({} × {}) = {}", per_token, c.n_layer, 2, row),
        heads=calc("{} ÷ ({} × {}) = {}", row, 2, c.head_dim, row // (2 * c.head_dim)),
        group=fits(c.n_head, c.n_kv_head),
        room=ROOM,
        tokens=fits(ROOM, per_token),
        latent=LATENT,
        short=short,
        same=calc("{} ÷ ({} × {}) = {}", short, 2, c.head_dim, short / (2 * c.head_dim)),
    )


def card() -> Numbers:
    """A deployment: bytes of a card, tokens that are reserved for each text, and how many texts fit in four ways."""
    a = PRESETS[PLANNED]
    c, per_token, left = a.config, a.bytes_per_token(), CARD - a.weight_bytes()

    def texts(per_token: int, tokens: int) -> Numbers:
        return Numbers(per_text=chain([per_token, tokens], "×"), texts=fits(left, per_token * tokens))

    ways = {
        "plain": texts(per_token, RESERVED),
        "halved": texts(a.bytes_per_token(1), RESERVED),
        "unshared": texts(a.bytes_if_mha(), RESERVED),
        "pages": texts(per_token, MEAN),
    }
    unlike(*(one.texts.values[-1] for one in ways.values()))
    return Numbers(
        name=PLANNED,
        config=c,
        memory=CARD,
        reserved=RESERVED,
        mean=MEAN,
        weights=a.weight_bytes(),
        left=calc("{} − {} = {}", CARD, a.weight_bytes(), left),
        per_token=chain([2, c.n_layer, c.n_kv_head, c.head_dim, 2], "×"),
        **ways,
        unused=calc("{} − {} ÷ {} = {}", 1, MEAN, RESERVED, 1 - MEAN / RESERVED),
    )


def halves() -> Numbers:
    """Whether half of a factor halves the cache."""
    whole = PRESETS[PLANNED].config
    halved = {name: replace(whole, **{name: getattr(whole, name) // 2}) for name in HALVES}
    return Numbers(
        halves=[Numbers(field=k, changed=kv_bytes(c, 1, 2) != kv_bytes(whole, 1, 2)) for k, c in halved.items()]
    )


def blocks() -> Numbers:
    """Texts beside each other: with room for the longest one each, and in blocks."""
    per_token = PRESETS[PLANNED].bytes_per_token()
    slots, per_text = POOL // per_token, -(-SHORT // PAGE)
    unlike(slots // RESERVED, slots // PAGE // per_text)
    return Numbers(
        name=PLANNED,
        per_token=per_token,
        room=POOL,
        reserved=RESERVED,
        mean=SHORT,
        size=PAGE,
        slots=fits(POOL, per_token),
        few=fits(slots, RESERVED),
        pool=fits(slots, PAGE),
        per_text=per_text,
        each=ratio(SHORT, PAGE),
        many=fits(slots // PAGE, per_text),
    )


TASKS = (
    Task("backwards", N_("From the cache to the model"), 1, "compute", 10, 7, backwards, also=("fewer-heads",)),
    Task("card", N_("How many readers does a GPU serve?"), 2, "plan", 20, 11, card, also=("fewer-heads",)),
    Task("halves", N_("Six ways to make a model smaller"), 5, "predict", 10, 6, halves, also=("fewer-heads",)),
    Task("blocks", N_("More readers by blocks"), 2, "plan", 15, 11, blocks, also=("pages",)),
)
