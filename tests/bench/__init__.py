"""The little that the benchmarks compute themselves."""
