"""What the page on old rows claims."""

from tests.viz.claims import Claim

P = "old-rows"
CLAIMS = [
    Claim("REFERENCE 4", "in layer 0 k, v depend on token and position alone", P, "layer0", (r"position 1 changes, 1 row of layer 0 is stale",)),
    Claim("REFERENCE 4", "deeper rows depend on the whole prefix", P, "deeper", (r"4 of 5 rows of the last layer are stale",)),
    Claim("REFERENCE 4", "and never on later tokens", P, "append", (r"0 of 20 cached rows change",)),
    Claim("REFERENCE 4", "needs a causal mask, the same positions and weights", P, "careful", (r"causal mask, the same places and the same weights",)),
    Claim("REFERENCE 4", "the same weights", P, "fixed", (r"makes 20 of 20 rows stale",)),
    Claim("REFERENCE 4", "the same positions", P, "place", (r"Here \d+ of \d+ rows were stale",)),
    Claim("seed 0", "if past tokens do not change, their keys and values do not", P, "careful", (r"true only with all three",)),
    Claim("seed 4", "past entries are never rewritten", P, "append", (r"not by the last bit",)),
    Claim("REFERENCE 5", "why are old rows still valid in deeper layers?", P, "append", (r"no token reads ahead",)),
    Claim("seed 1", "masked self-attention is what makes caching possible; encoders gain nothing like it", P, "encoder", (r"makes 15 of 20 rows stale", r"decoder, whose tokens look back only")),
]  # fmt: skip
