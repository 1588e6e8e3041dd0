"""What a page says of a model that our own code does not compute: what is different, as its trace shows it.

The picture is the same. What its words and formulas take for granted, a row in every layer, scores over the root of
head_dim, weights that come to 1, is looked up here, and what does not hold is said. Knows traces; knows no HTML.
"""

from __future__ import annotations

import numpy as np

from microgpt.errors import N_
from microgpt.viz.drawing.picture import NEAR
from microgpt.viz.large.heads import Open, with_rows
from microgpt.viz.large.picture import BigPicture
from microgpt.viz.text.formats import layers_text, number, whole
from microgpt.viz.text.language import say

FAMILY = N_(
    "It is a model of the family %(family)s. What is drawn was read from its run; its multiply-adds are counted by the "
    "size of its matrices."
)
BEFORE = N_(
    "Before the first token that is shown, %(n)s others ran. Their rows are in the cache too; the picture leaves them "
    "out, and says what weight they get together."
)
SOME_BEFORE = N_(
    "Before the first token that is shown, %(n)s others ran. Their rows are in the cache too, in layers with a window "
    "the newest of them; the picture leaves them out, and says what weight they get together."
)
NO_ROWS = N_(
    "Of its layers, only these are of this kind: %(kept)s. The others carry a state of fixed size from token to token, "
    "or none; they are not drawn, and work on such a state is not counted."
)
STATE = N_("Such states hold %(n)s numbers in the cache, however long the text is.")
WINDOWS = N_(
    "Layers with a sliding window: %(layers)s. There a query sees %(window)s rows at most, its own among them, and the "
    "cache keeps one row fewer for the next step, however long the text is."
)
CHUNKS = N_(
    "In these layers, a query sees the rows of its own chunk of %(window)s tokens, and none of the chunk before: "
    "%(layers)s. The cache keeps the newest %(kept)s rows all the same."
)
AGAIN = N_(
    "At these steps the engine dropped its cache and ran the whole text again, as this family asks of it: %(steps)s. "
    "It turns the positions of longer texts in another way; from there on, older rows are drawn as that run has made "
    "them."
)
LATENT = N_(
    "Its rows of K and V are made of a latent of %(n)s numbers per token. The cache keeps that one and a short key for "
    "all heads: %(row)s numbers per token and layer, in place of %(rows)s. At every step, the rows of all tokens are "
    "made of them again."
)
EXPANDED = N_(
    "Its rows of K and V are made of a latent of %(n)s numbers per token. Other engines keep that one in their place; "
    "this one keeps the rows themselves."
)
SAME = N_("At step %(step)s, PyTorch’s own counter finds as many multiply-adds as this page: %(n)s.")
MORE = N_(
    "At step %(step)s, PyTorch’s own counter finds %(n)s multiply-adds, and this page %(ours)s: it leaves out work on "
    "states, scores that a mask hides, and experts that the router has not chosen."
)
FEWER = N_(
    "At step %(step)s, PyTorch’s own counter finds %(n)s multiply-adds, and this page %(ours)s: some products are not "
    "known to that counter."
)
QUANTISED = N_("Its weights are quantised, by %(method)s.")
SCALED = N_("Its scores are not q · k over the root of %(head_dim)s: the family scales or bounds them in its own way.")
SINK = N_(
    "The weights of a step come to less than 1, to %(sum)s on the mean: each head has learned a number that takes the "
    "rest and brings no row."
)


def of_family(view: BigPicture) -> list[str]:
    """Sentences, in the language that is set; none where nothing is different."""
    about, c = view.about, view.config
    found = [say(FAMILY, family=about["family"])] if "family" in about else []
    if "row" in about:
        rows = c.n_kv_head * (c.head_dim + view.v_dim)
        found.append(say(LATENT, n=whole(about.get("latent", 0)), row=whole(about["row"]), rows=whole(rows)))
    elif "latent" in about:
        found.append(say(EXPANDED, n=whole(about["latent"])))
    if "quantised" in about:
        found.append(say(QUANTISED, method=about["quantised"]))
    found += count_sentences(view)
    kept = with_rows(about)
    if len(kept) < c.n_layer:
        found.append(say(NO_ROWS, kept=", ".join(map(str, kept))))
        found += [say(STATE, n=whole(about["state"]))] if "state" in about else []
    for window in sorted({*view.windows} - {0}):
        all_of_it = [layer for layer in kept if view.windows[layer] == window]
        chunked = [layer for layer in all_of_it if layer in about.get("chunked", ())]
        for sentence, layers in ((WINDOWS, sorted({*all_of_it} - {*chunked})), (CHUNKS, chunked)):
            if layers:
                texts = {"layers": layers_text(runs(layers)), "window": whole(window), "kept": whole(window - 1)}
                found.append(say(sentence, **texts))
    if "again" in about:
        found.append(say(AGAIN, steps=", ".join(whole(view.place(i) + 1) for i in about["again"])))
    if any(has_other_scale(view, one) for one in view.heads):
        found.append(say(SCALED, head_dim=whole(c.head_dim)))
    last = view.n - 1
    sums = []
    for one in view.heads:
        weights = view.trace["attn_weights", last, one.layer][one.head, 0]
        sums.append(float(weights.sum()) + view.earlier(last, one.layer, one.head, weights))
    if np.mean(sums) < 1 - NEAR:
        found.append(say(SINK, sum=number(float(np.mean(sums)))))
    if view.before:
        found.append(say(SOME_BEFORE if view.windows else BEFORE, n=whole(view.before)))
    return found


def count_sentences(view: BigPicture) -> list[str]:
    """What PyTorch has counted at one step, beside what the page says of it."""
    if "counted" not in view.about:
        return []
    i, n = view.about["counted"]
    ours = view.step(i).costs[-1].with_cache
    sentence = SAME if n == ours else MORE if n > ours else FEWER
    return [say(sentence, step=whole(view.place(i) + 1), n=whole(n), ours=whole(ours))]


def runs(layers: list[int]) -> list[tuple[int, int]]:
    """First and last of each run of neighbours; the wing of checkpoints, which has the same, is no part of a page."""
    ends = [layer for layer in layers if layer + 1 not in layers]
    return list(zip([layer for layer in layers if layer - 1 not in layers], ends, strict=True))


def has_other_scale(view: BigPicture, one: Open) -> bool:
    """Whether a score of this head is other than q . k over the root of head_dim."""
    c, trace, last = view.config, view.trace, view.n - 1
    q = trace["q", last, one.layer][0, one.head]
    k = trace["k", last, one.layer][0, one.head * c.n_kv_head // c.n_head]
    score = trace["attn_scores", last, one.layer][one.head, 0, -1]  # with its own key
    longest = float(np.linalg.norm(q) * np.linalg.norm(k)) / c.head_dim**0.5
    return bool(abs(score - q @ k / c.head_dim**0.5) > NEAR * longest)
