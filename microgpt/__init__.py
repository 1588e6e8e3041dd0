"""A small, real GPT in NumPy whose KV cache can be watched: keep K and V, throw Q away."""

__version__ = "0.1.0"
