"""What several lessons draw with: the steps of a run, strips of cells, charts, counters, tables of tensors."""
