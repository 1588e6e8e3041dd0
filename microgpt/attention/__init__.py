"""Attention in another order. The answer is that of `microgpt.model`, up to the last bits; what is moved is less.

- `tiles`: softmax that never sees a whole row: tile by tile, and in splits that are joined; and what that moves less
- `ranks`: heads, or rows, over several processors
- `cross`: an encoder and its decoder, whose second cache never grows
"""
