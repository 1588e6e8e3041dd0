"""Other ways to keep K and V. Each is a cache as `forward` asks for it (microgpt/cache.py); attention stays as it is.

- `blocks`: a pool of blocks that many texts draw from, with a count of the tables that hold each
- `paged`: the cache of one text in such a pool: its rows lie wherever a block was free
- `prefix`: a text that begins like an earlier one takes over its rows
- `ring`: the cache of a model that sees a window: a row makes room for a later one

They know arrays and positions; not attention, not tokens, and not when which text is run.
"""
