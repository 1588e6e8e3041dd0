"""What the lesson "with and without" must say."""

from tests.support.claims import Claim

PAGE = "with-and-without"
CLAIMS = [
    Claim("REFERENCE 2", "closed forms at 16 tokens, one, two and four layers, three ways", PAGE, "sums", (
        r"60,416 1\.00 times ?121,856 2\.02 times ?450,816 7\.46 times",
        r"113,920 .*565,760 .*894,720", r"220,928 .*1,453,568 .*1,782,528",
    )),
    Claim("REFERENCE 2", "only what the last token needs is a fairer baseline; one layer needs only old k and v",
          PAGE, "baseline", (r"leave out what the last token does not need", r"one layer.*for its k and v alone")),
    Claim("REFERENCE 2", "with the cache projections and MLP are O(n), attention O(n²); a rerun is O(n³)", PAGE,
          "orders", (r"O\(n²\) with the cache, O\(n³\) without", r"projections and MLP, goes from O\(n²\) to O\(n\)")),
    Claim("REFERENCE 2", "attention equals all other work only at 6 d keys", PAGE, "crossing",
          (r"only at 96 keys", r"4,608 keys, beyond the 1,024")),
    Claim("REFERENCE 2", "curves to a thousand tokens", PAGE, "far",
          (r"1,000 tokens.*19,520,000 .*6,887,312,000 without", r"context ends at 16 tokens")),
    Claim("REFERENCE 4", "the cache turns O(N^2) into O(N)", PAGE, "orders",
          (r"Half of that is true", r"for one step, attention goes from quadratic to linear", r"28 pairs against 84")),
    Claim("REFERENCE 4", "total work becomes O(n), regardless of how many came before", PAGE, "still-reads",
          (r"one pass per token", r"still reads all 7 rows, its own included")),
    Claim("REFERENCE 4", "only K and V recomputation is saved", PAGE, "saved",
          (r"not only the keys and values", r"output projection, the norms and the MLP", r"MLP alone makes [\d,]+")),
    Claim("REFERENCE 4", "the MLP is the largest share", PAGE, "largest", (r"largest part .* 56 percent",)),
    Claim("REFERENCE 4", "exactly the same output", PAGE, "same",
          (r"differ by less than 1e-12", r"In exact arithmetic", r"same order, on arrays of the same shape")),
    Claim("REFERENCE 4", "exponential growth of the cache", PAGE, "linear", (r"64 bytes", r"linear growth, not exp")),
    Claim("REFERENCE 5", "is the output really the same?", PAGE, "same", (r"changes nothing about what the model say",)),
    Claim("REFERENCE 5", "why floats differ", PAGE, "order", (r"gives 0\.6000+1 on this machine.*gives 0\.6\.",)),
    Claim("TEACHING 2.2", "sixteen-bit numbers: in one order the two agree to the last bit; engines have several kernels", PAGE,
          "short", (r"sum is taken in 4 interleaved parts", r"agree to the last bit, in every format")),
    Claim("TEACHING 2.2", "tokens flip where sums are rounded too", PAGE, "flips",
          (r"no choice changes in these models", r"in bfloat16 4 of 200 texts of names go on otherwise",
           r"14 of 186 of stories")),
    Claim("seed 0", "at every step without optimization the entire sequence is processed again", PAGE, "saved",
          (r"run the old tokens through the whole model", r"21 times for nothing")),
    Claim("seed 0", "the past is not recomputed, the model stays the same", PAGE, "same", (r"changes nothing",)),
    Claim("seed 1", "complexity becomes O(N) instead of O(N²)", PAGE, "orders", (r"quadratic work into linear work",)),
    Claim("seed 2", "O(n²) total work without the cache, O(n) with", PAGE, "orders", (r"O\(n³\) without",)),
    Claim("seed 2", "one pass per token, regardless of how many came before", PAGE, "still-reads",
          (r"does not make that pass free of the past",)),
    Claim("seed 3", "a full pass for every new token: is all of it necessary?", PAGE, "saved", (r"for nothing",)),
]  # fmt: skip
