import numpy as np

n_kv_head, n_tokens, head_dim = 2, 24, 8
row = np.ones((n_kv_head, 1, head_dim))

grown, written = row[:, :0], 0
for _ in range(n_tokens):
    grown = np.concatenate([grown, row], axis=1)  # a new array
    written += grown.nbytes
print("concatenated:", written, "bytes written")

reserved, written = np.empty((n_kv_head, n_tokens, head_dim)), 0
for at in range(n_tokens):
    reserved[:, at : at + 1] = row
    written += row.nbytes
print("preallocated:", written, "bytes written")
assert (grown == reserved).all()
