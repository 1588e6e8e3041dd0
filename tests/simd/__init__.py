"""Products without BLAS."""
