"""A shelf of real faults: what people have really got wrong in a KV cache, each as a change of `original`.

The threads are public, and by their number in `origins`. The change is of the kind that the thread tells of, made in
this code: the code there was another one. What a fault does to the answers is computed, by microgpt/apps/bugs.
Left out is what cannot be seen in models as small as ours, such as scores that overflow float16.
"""

from __future__ import annotations

from typing import NamedTuple

from microgpt.errors import N_
from microgpt.workbench.original import original

MODEL_NAMES = ("names", "stories")  # only the second has RoPE, layers above the first, and heads that share keys


class Bug(NamedTuple):
    """A fault: what was done, where it was told of, the edit that makes it, and the check that notices it first.

    `caught_by` names, by model, a function of `checks`; None where that model has nothing that could go wrong.
    `lesson` is the page that explains what is broken, `repair` says what the right line does and why.
    """

    name: str
    title: str
    story: str
    origins: tuple[str, ...]
    edits: tuple[tuple[str, str], ...]
    caught_by: dict[str, str | None]
    lesson: str
    repair: str

    def text(self) -> str:
        """The program with this fault. Raises ValueError where a line that it changes is not there, or there twice."""
        return replace_once(original(), self.edits)


def replace_once(text: str, edits: tuple[tuple[str, str], ...]) -> str:
    """The text with the first of each pair replaced by the second. Raises ValueError unless it stands there once."""
    for old, new in edits:
        if text.count(old) != 1:
            raise ValueError(f"This line must stand there once, not {text.count(old)} times: {old!r}")
        text = text.replace(old, new)
    return text


def in_both(check: str) -> dict[str, str | None]:
    """What notices a fault, where it is the same in both models."""
    return dict.fromkeys(MODEL_NAMES, check)


def in_stories(check: str) -> dict[str, str | None]:
    """What notices a fault that `names` cannot have."""
    return {"names": None, "stories": check}


# Lines that several faults change.
SKIP_MASK = "    if len(queries) == 1 and not window:\n"
POSITIONS = "else range(start, start + n)\n"
APPEND = (
    "            keys, values, key_positions = cache[layer].append(k, v)"
    "  # two of [n_kv_head, t, head_dim]: old rows and new\n"
)
PLACES = "        old, new = self._len, self._len + len(k)\n"
KEEP_KEYS = "        self._keys[:, old:new] = k.swapaxes(0, 1)\n"
HAND_OUT = "        return self._keys[:, :new], self._values[:, :new], range(new)\n"
CROP = "        check_crop(self._len, n)\n        self._len = "  # and then n
EMPTY = "        self._len = 0\n"
LAYERS = (
    "        self.layers = ["
    "KVLayer(config.n_kv_head, config.n_ctx, k_dim, dtype, v_dim) for _ in range(config.n_layer)]\n"
)


MASK_BUGS = (
    Bug(
        "mask-corner",
        N_("The mask is aligned to the wrong corner"),
        N_(
            "The mask let the first new token see the first row, the second one the first two, as if nothing had been "
            "cached before. From the second chunk of a prompt on, or the second turn of a chat, what came before was "
            "hidden from attention."
        ),
        ("hyprstream/hyprstream#1521", "pytorch/executorch#21749", "gittensor-ai-lab/sparkinfer#3"),
        (
            (
                "    at, of = (one if isinstance(one, range) else tuple(one) for one in (queries, keys))\n",
                "    at, of = range(len(queries)), range(len(keys))\n",
            ),
        ),
        in_both("in_threes"),
        "prefill-and-decode",
        N_(
            "A query sees the keys up to its own position in the text, so positions are compared, not places in this "
            "pass: the triangle lies in the lower right corner."
        ),
    ),
    Bug(
        "mask-left-out",
        N_("There is no mask where there is a cache"),
        N_(
            "The mask was applied only where no cache was given, and generation gives one already for the prompt, so "
            "that its tokens saw those after them. The rows of all further layers were made of that, and a model that "
            "knew its text by heart wrote something else."
        ),
        ("Mikyx-1/TinyLLM#17", "osaurus-ai/vmlx-swift#429"),
        ((SKIP_MASK, "    if not window:\n"),),
        in_both("all_at_once"),
        "attention",
        N_(
            "Only a single new token needs no mask, since all rows lie in its past; where there are several, each is "
            "kept from those after it, with a cache or without."
        ),
    ),
    Bug(
        "mask-square",
        N_("There is a mask only while nothing is cached"),
        N_(
            "The mask was applied where a pass had as many queries as keys, which is so in the first chunk alone. In "
            "every later chunk of several tokens, a token also saw those of its own chunk that come after it."
        ),
        ("mlx-node/mlx-node#24",),
        ((SKIP_MASK, "    if len(queries) != len(keys) and not window:\n"),),
        in_both("in_threes"),
        "prefill-and-decode",
        N_(
            "Whether a mask is needed depends on the number of new tokens alone; how many rows are cached makes no "
            "difference."
        ),
    ),
    Bug(
        "left-padding",
        N_("Padding is read as if it were text"),
        N_(
            "Texts of different lengths were filled up on the left to the length of the longest, and the mask that "
            "hides the padding never reached attention. The answer to a text then depended on how long the texts "
            "beside it were."
        ),
        ("TransformerLensOrg/TransformerLens#1005", "ml-explore/mlx-lm#1906", "Blaizzy/mlx-vlm#1946"),
        (
            (
                APPEND,
                APPEND
                + "            pad = max(first + len(places) for _, first, places, *_ in parts) - keys.shape[1]\n"
                + "            keys, values = (np.pad(one, ((0, 0), (pad, 0), (0, 0))) for one in (keys, values))\n"
                + "            key_positions = [-1] * pad + list(key_positions)\n",
            ),
        ),
        in_both("side_by_side"),
        "many-at-once",
        N_(
            "Each text reads the rows of its own cache and no others, so that nothing has to be filled up; where "
            "padding is needed, the mask hides it at every step."
        ),
    ),
)

POSITION_BUGS = (
    Bug(
        "positions-restart",
        N_("Positions start at 0 in every call"),
        N_(
            "The positions of a pass were counted from 0, whatever the cache already held, so that in decoding each "
            "new token was run at position 0. The prompt was right, and every token after it was not."
        ),
        ("Blaizzy/mlx-vlm#1983", "PaddlePaddle/PaddleFleet#904", "ml-explore/mlx-lm#93"),
        ((POSITIONS, "else range(n)\n"),),
        in_both("one_by_one"),
        "next-token",
        N_("The first new token comes after all that are cached, so its position is their number."),
    ),
    Bug(
        "positions-twice",
        N_("Cached tokens are counted twice"),
        N_(
            "The loop added the length of the chunks so far to the position, and so did the cache, which had grown by "
            "them already. From the second pass on, tokens were run at positions far after their own."
        ),
        ("mlx-node/mlx-node#33", "skyzh/tiny-llm#46"),
        ((POSITIONS, "else range(2 * start, 2 * start + n)\n"),),
        in_both("one_by_one"),
        "next-token",
        N_("One place alone says what the next position is, here the cache; whoever adds to it counts tokens twice."),
    ),
    Bug(
        "rotated-twice",
        N_("Cached keys are rotated again"),
        N_(
            "Keys were rotated by their position when they were cached, and all of them once more at each step that "
            "read them. The angle between a query and a key no longer said how far apart their tokens are."
        ),
        ("NeuraLegion/shainet#110",),
        (
            (
                APPEND,
                APPEND
                + "            again = ROTATIONS[config.position](config, range(keys.shape[1]), keys.dtype)\n"
                + "            keys = again(keys.swapaxes(0, 1)).swapaxes(0, 1)\n",
            ),
        ),
        in_stories("all_at_once"),
        "kv-cache",
        N_("The position of a token never changes: its key is rotated once, before it is kept, and read as it is."),
    ),
    Bug(
        "unrotated-in-pass",
        N_("The rotated key goes into the cache alone"),
        N_(
            "The rotated keys were written into the cache, while attention in the same pass went on with the keys as "
            "they were before. Rotated queries were compared with unrotated keys, and a large model answered in "
            "gibberish."
        ),
        ("kvcache-ai/sglang#31", "kvcache-ai/sglang#66"),
        (
            (
                '        k = rotate(project(a, params, here + "wk", config.n_kv_head, eps))',
                '        k = project(a, params, here + "wk", config.n_kv_head, eps)',
            ),
            (
                APPEND,
                "            turn = ROTATIONS[config.position](config, places, k.dtype)\n"
                + APPEND.replace("append(k, v)", "append(turn(k), v)")
                + "            keys = np.concatenate([keys[:, : -len(k)], k.swapaxes(0, 1)], axis=1)\n",
            ),
        ),
        in_stories("all_at_once"),
        "kv-cache",
        N_("The key is rotated before anything uses it, so that the cache keeps the very rows that this pass reads."),
    ),
    Bug(
        "query-late",
        N_("The query is rotated as if it came later"),
        N_(
            "The position of the key was looked up before the cache had grown by the new rows, that of the query "
            "after. Every query asked from too far away, and the text fell into repeating itself."
        ),
        ("ml-explore/mlx-lm#1699", "ml-explore/mlx-swift-lm#234"),
        (
            (
                '        q = rotate(project(a, params, here + "wq", config.n_head, eps))',
                "        moved = [at + len(token_ids) for at in positions]\n"
                "        late = ROTATIONS[config.position](config, moved, x.dtype)\n"
                '        q = late(project(a, params, here + "wq", config.n_head, eps))',
            ),
        ),
        in_stories("all_at_once"),
        "kv-cache",
        N_("The positions of a pass are taken down once, before the first row is added, for queries and keys alike."),
    ),
    Bug(
        "batch-position",
        N_("All texts of a batch share one position"),
        N_(
            "The positions of a step were worked out once for the whole batch, although its texts were not equally "
            "long. One text came out right, the others did not."
        ),
        ("unslothai/unsloth#3699", "rasbt/reasoning-from-scratch#33"),
        (("start, rows, end = one.next_position,", "start, rows, end = caches[0].next_position,"),),
        in_both("side_by_side"),
        "many-at-once",
        N_("Each text has a cache of its own, and its next position is what that one holds."),
    ),
)

ROW_BUGS = (
    Bug(
        "a-hole",
        N_("The first decode step writes one row too far"),
        N_(
            "The first decode step counted its own token as cached already, and wrote its row one place further on. "
            "The place between was never written, and every later step read whatever lay there."
        ),
        ("microsoft/onnxruntime-genai#2354",),
        (
            (EMPTY, EMPTY + "        self._decoding = False\n"),
            (
                PLACES,
                "        if self._len and len(k) == 1 and not self._decoding:\n"
                "            self._len, self._decoding = self._len + 1, True\n" + PLACES,
            ),
        ),
        in_both("one_by_one"),
        "kv-cache",
        N_("New rows go directly after those that are held: their number before the pass is the first free place."),
    ),
    Bug(
        "empty-rows",
        N_("Rows that nobody has written are read"),
        N_(
            "The cache handed out its whole buffer, with the zeros of all places that were still free, and nothing hid "
            "those from attention. Each got some of the weight that the rows of the text should have had."
        ),
        ("meta-pytorch/gpt-fast#233",),
        ((HAND_OUT, "        return self._keys, self._values, range(n_ctx)\n"),),
        in_both("all_at_once"),
        "memory",
        N_("Reserved is not used: only the rows that are held are handed out, old ones and new ones."),
    ),
    Bug(
        "one-place-too-far",
        N_("All rows are read one place too far"),
        N_(
            "The new rows were written to places 0 to 3 and read from places 1 to 4. Each token was given the key and "
            "the value of the next one, and the last token those of nobody."
        ),
        ("sgl-project/sglang#8675",),
        ((HAND_OUT, "        return self._keys[:, 1 : new + 1], self._values[:, 1 : new + 1], range(new)\n"),),
        in_both("all_at_once"),
        "pages",
        N_("Rows are read from the places that they were written to, and the first place is 0."),
    ),
    Bug(
        "own-row-missing",
        N_("A token does not see itself"),
        N_(
            "In a decode step, attention read the cache as it was before the step, without the row that had just been "
            "written. Each generated token mixed what came before it, and nothing of its own."
        ),
        ("harvard-edge/cs249r_book#1953",),
        ((HAND_OUT, "        new = old if old and len(k) == 1 else new\n" + HAND_OUT),),
        in_both("one_by_one"),
        "next-token",
        N_("First the new row joins, then attention reads: a token sees all rows up to its own, which is one of them."),
    ),
    Bug(
        "keys-for-values",
        N_("Keys are handed out as values"),
        N_(
            "The keys and the values of a layer were looked up at one and the same address. The attention weights "
            "were right, and what was mixed by them was not."
        ),
        ("vllm-project/vllm-ascend#11021", "huggingface/transformers#34232"),
        ((HAND_OUT, "        return self._keys[:, :new], self._keys[:, :new], range(new)\n"),),
        in_both("all_at_once"),
        "why-q",
        N_("Keys are there to be compared with, values to be mixed: both are kept, each in a buffer of its own."),
    ),
    Bug(
        "layers-share",
        N_("All layers write to the same rows"),
        N_(
            "What kept the rows was told the number of the layer, and its buffer had no place for that number, so each "
            "layer wrote over the rows of the layer before. No error came, only worse text."
        ),
        ("EfficientMoE/MoE-Infinity#195",),
        (
            (
                LAYERS,
                LAYERS
                + "        for one in self.layers:\n"
                + "            one._keys, one._values = self.layers[0]._keys, self.layers[0]._values\n",
            ),
        ),
        in_stories("one_by_one"),
        "memory",
        N_("Each layer makes other keys and values of a token, so each keeps rows of its own."),
    ),
    Bug(
        "another-scale",
        N_("Rows are read with the scale of another row"),
        N_(
            "Each row was kept as small whole numbers with a scale of its own, and the scales were looked up at places "
            "that did not fit the layout of the memory. Rows came back too large or too small, and under load the text "
            "was corrupted."
        ),
        ("vllm-project/vllm#49716", "ovg-project/kvcached#424"),
        (
            (
                KEEP_KEYS,
                "        scale = np.abs(k).max(axis=2, keepdims=True).swapaxes(0, 1)  # of each new row\n"
                "        self._keys[:, old:new] = k.swapaxes(0, 1) / scale\n",
            ),
            (HAND_OUT, "        return self._keys[:, :new] * scale[:, -1:], self._values[:, :new], range(new)\n"),
        ),
        in_both("all_at_once"),
        "fewer-bits",
        N_("A row means nothing without its own scale: the scales are kept beside the rows, one for each of them."),
    ),
)

HEAD_BUGS = (
    Bug(
        "heads-tiled",
        N_("Shared heads are handed out in the wrong order"),
        N_(
            "A key head serves a group of neighbouring query heads; here the key heads were dealt out in turn, 0, 1, "
            "0, 1 in place of 0, 0, 1, 1. Half of the query heads read the keys and values of another group."
        ),
        ("ekzhang/jax-js#180", "apple/axlearn#842", "onnx/onnx#7274"),
        (
            (
                "    grouped = q.swapaxes(0, 1).reshape(n_kv_head, -1, head_dim)",
                "    keys, n_kv_head = np.tile(keys, (n_head // n_kv_head, 1, 1)), n_head\n"
                "    grouped = q.swapaxes(0, 1).reshape(n_kv_head, -1, head_dim)",
            ),
            (
                "    mixed = weights.reshape(n_kv_head, -1, t) @ values",
                "    values, n_kv_head = np.tile(values, (n_head // n_kv_head, 1, 1)), n_head\n"
                "    mixed = weights.reshape(n_kv_head, -1, t) @ values",
            ),
        ),
        in_stories("all_at_once"),
        "fewer-heads",
        N_(
            "Query heads that share a key head lie side by side, as the weights were trained: each key head is "
            "repeated, not the row of all key heads."
        ),
    ),
    Bug(
        "head-neighbour",
        N_("The rows of a head land in its neighbour"),
        N_(
            "The place of each row was counted on from the one before, across the end of a head, where the memory goes "
            "on in larger steps. Rows of one head were written over those of the head before: no error, wrong keys."
        ),
        ("tenstorrent/tt-metal#54742", "tenstorrent/tt-metal#54743"),
        ((KEEP_KEYS, "        self._keys[:, old:new] = np.roll(k, -1, axis=1).swapaxes(0, 1)\n"),),
        in_both("all_at_once"),
        "inside",
        N_("The place of a row follows from its head and its position, both of them, and not from the row before."),
    ),
    Bug(
        "heads-joined",
        N_("Heads are joined without being put side by side"),
        N_(
            "The outputs of all heads, one head after the other, were cut into rows as if those of a token lay side by "
            "side already. A token’s row then held pieces of other tokens, and with a single token nothing is wrong."
        ),
        ("jsbaan/transformer-from-scratch#6", "ajhalthor/Transformer-Neural-Network#4"),
        (
            (
                "    return mixed.reshape(n_head, n, head_dim).swapaxes(0, 1).reshape(n, -1)\n",
                "    return mixed.reshape(n_head, n, head_dim).reshape(n, -1)\n",
            ),
        ),
        in_both("all_at_once"),
        "inside",
        N_("The axes of heads and tokens change places first, so that the rows of all heads of a token lie together."),
    ),
    Bug(
        "softmax-axis",
        N_("The softmax adds up the wrong way"),
        N_(
            "The softmax divided by a sum over the queries, not over the keys. With a single query, every attention "
            "weight was 1, whatever the scores were."
        ),
        ("PetrochukM/PyTorch-NLP#2", "nerdai/llms-from-scratch-rs#30"),
        (("    e /= e.sum(axis=-1, keepdims=True)\n", "    e /= e.sum(axis=-2, keepdims=True)\n"),),
        in_both("all_at_once"),
        "attention",
        N_("The attention weights of each query sum to 1, so the sum runs along the keys, which is the last axis."),
    ),
)

CROP_BUGS = (
    Bug(
        "crop-two",
        N_("A crop takes two rows too many"),
        N_(
            "After a rejected guess, the cache of the draft model was cropped by two rows too many. With "
            "every round it held less of the text, its guesses got worse, and in the end guessing did not pay."
        ),
        ("lablup/mlxcel#994",),
        ((CROP + "n\n", CROP + "max(0, n - 2)\n"),),
        in_both("crop_back"),
        "guess-and-check",
        N_("A crop says how many rows stay, so that nobody has to count how many have to go."),
    ),
    Bug(
        "crop-never",
        N_("The crop never runs"),
        N_(
            "How many rows had to go was worked out from the size by which a cache grows, in place of the rows that it "
            "held; the number was negative, and nothing was cropped. The rows of the chat before stayed, and answers "
            "came back empty."
        ),
        ("nicedreamzapp/claude-code-local#47",),
        ((CROP + "n\n", CROP + "max(n, self._len)\n"),),
        in_both("crop_back"),
        "shared-prefixes",
        N_("After a crop the cache holds exactly as many rows as the two texts share."),
    ),
    Bug(
        "crop-one-left",
        N_("A crop leaves one row too many"),
        N_(
            "Tokens of the prompt had been run twice, so that the cache held more rows than the text had tokens, and "
            "cropping by the number of tokens left stale ones. A new chat saw something of the one before."
        ),
        ("ml-explore/mlx-lm#1039",),
        ((CROP + "n\n", CROP + "min(n + 1, self._len)\n"),),
        in_both("crop_back"),
        "old-rows",
        N_("The first n rows stay and no other, since each row belongs to the token at its position."),
    ),
    Bug(
        "rollback-clears",
        N_("A rollback clears the whole cache"),
        N_(
            "After the guesses of a draft, the cache was reset to no rows, and not to those that it had held before. "
            "Whatever was checked next saw hardly any of the text, and the wrong tokens were accepted."
        ),
        ("paiml/aprender#2014",),
        ((CROP + "n\n", CROP + "0\n"),),
        in_both("crop_back"),
        "guess-and-check",
        N_("Going back means to give up the newest rows; those before them are still right, and stay."),
    ),
    Bug(
        "rows-return",
        N_("Cropped rows come back"),
        N_(
            "A crop made the count smaller and left the rows where they were; the next append took the count from the "
            "rows. What had been cropped was part of the text again."
        ),
        ("ml-explore/mlx-lm#1502",),
        (
            (EMPTY, "        self._len = self._stored = 0\n"),
            (PLACES, "        old, new = self._stored, self._stored + len(k)\n"),
            ("        self._len = new\n", "        self._len = self._stored = new\n"),
        ),
        in_both("crop_back"),
        "old-rows",
        N_("One number says how many rows are held, and crop and append both go by it."),
    ),
    Bug(
        "branch-order",
        N_("The branch that stays is not moved into its place"),
        N_(
            "Beam search goes on with the best branches, whose rows take the places of those that fall away; for some "
            "kinds of cache this was skipped, without a word. The text went on from one branch, attention read another."
        ),
        ("huggingface/transformers#46612", "allenai/OLMo#526"),
        (
            (
                "        self._keys[:, : len(rows)] = self._keys[:, rows]\n"
                "        self._values[:, : len(rows)] = self._values[:, rows]\n"
                "        self._len = len(rows)\n",
                "        self._len = len(rows)\n",
            ),
        ),
        in_both("keep_a_branch"),
        "guess-and-check",
        N_("The rows that stay are copied to the front, in the order of the text, before the count becomes smaller."),
    ),
)

TEXT_BUGS = (
    Bug(
        "not-emptied",
        N_("The cache is not emptied for a new text"),
        N_(
            "The rows and their count were part of the model, and nothing set the count back to 0 when a new prompt "
            "came. The model went on as if it belonged to the text before, and knew things from a chat that had been "
            "deleted."
        ),
        ("casper-hansen/AutoAWQ#170", "casper-hansen/AutoAWQ#125", "oobabooga/textgen#4482"),
        (
            (
                LAYERS,
                LAYERS.replace("self.layers", "new")
                + '        self.layers = KVCache.__dict__.get("kept", new)\n'
                + "        KVCache.kept = self.layers\n",
            ),
        ),
        in_both("one_by_one"),
        "with-and-without",
        N_("A cache belongs to one text: for a new one it is made anew, with no rows."),
    ),
    Bug(
        "shared-by-two",
        N_("Two texts write into one cache"),
        N_(
            "Several people’s texts were run in one batch, and the rows were read from the cache of one person for all "
            "of them. All others were answered from rows that were not of their text."
        ),
        ("tenstorrent/tt-metal#35141",),
        (
            (
                "(cache, start, positions, q[rows], k[rows], v[rows])",
                "(texts[0][0], start, positions, q[rows], k[rows], v[rows])",
            ),
        ),
        in_both("side_by_side"),
        "many-at-once",
        N_("In attention, and only there, each text of a batch goes by itself, with its own cache."),
    ),
)

BUGS = (*MASK_BUGS, *POSITION_BUGS, *ROW_BUGS, *HEAD_BUGS, *CROP_BUGS, *TEXT_BUGS)
