"""What the page on old rows claims."""

from tests.support.claims import Claim

P = "old-rows"
CLAIMS = [
    Claim("REFERENCE 4", "in layer 0 k, v depend on token and position alone", P, "layer0", (r"position 1 changes, 1 row of layer 0 is stale",)),
    Claim("REFERENCE 4", "deeper rows depend on the whole prefix", P, "deeper", (r"“names-deep”, has 4 layers", r"4 of 5 rows of the last layer are stale")),
    Claim("REFERENCE 4", "and never on later tokens", P, "append", (r"0 of 20 cached rows change",)),
    Claim("REFERENCE 4", "needs a causal mask, the same positions and weights", P, "careful", (r"if the places and the weights stay too, and in a model with a causal mask",)),
    Claim("REFERENCE 5", "I edit the middle of a prompt: what may I keep?", P, "edit", (r"at position 2, m becomes n", r"may stay in all layers: 8 of 20", r"The other 12 must be run again", r"Only 2 rows, in layer 0, come out as they were", r"prefix caching")),
    Claim("REFERENCE 4", "the same weights", P, "fixed", (r"makes 20 of 20 rows stale",)),
    Claim("REFERENCE 4", "the same positions", P, "place", (r"Here \d+ of \d+ rows were stale",)),
    Claim("seed 0", "if past tokens do not change, their keys and values do not", P, "careful", (r"names only the first of the three",)),
    Claim("seed 4", "past entries are never rewritten", P, "append", (r"not even in the last bit",)),
    Claim("REFERENCE 5", "why are old rows still valid in deeper layers?", P, "append", (r"no token reads ahead",)),
    Claim("seed 1", "masked self-attention is what makes caching possible; encoders gain nothing like it", P, "encoder", (r"makes 15 of 20 rows stale", r"decoder, whose tokens look back only")),
]  # fmt: skip
