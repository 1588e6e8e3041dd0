def kept(old, new):
    n = 0
    while n < min(len(old), len(new) - 1) and old[n] == new[n]:
        n += 1
    return n
