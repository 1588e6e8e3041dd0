"""Other ways to keep K and V. Each is a cache as `forward` asks for it (microgpt/cache.py); attention stays as it is.

- `blocks`: a pool of blocks that many texts draw from, with a count of the tables that hold each
- `paged`: the cache of one text in such a pool: its rows lie wherever a block was free
- `prefix`: a text that begins like an earlier one takes over its rows
- `radix`: the same to the token, by a tree of texts
- `ring`: the cache of a model that sees a window: a row makes room for a later one
- `sinks`: the first rows and the newest; `shift`: half of the text leaves and the rest moves down
- `evict`: rows leave that were looked at least (H2O, SnapKV)
- `codes`: numbers in few bits; `quantised`: rows that are kept so

They know arrays and positions; not tokens, and not when which text is run. Of attention `evict` alone is told, by a
hook.
"""
