def crop(table, free, n):
    keep = n // B
    while len(table) > keep:
        free.append(table.pop())
