"""Regular expressions as a tokenizer.json writes them, for Oniguruma: in plain Python, with every step counted.

In reading order: unicode_classes (what \\p{L} is), matching (how a pattern looks for its matches, each step counted),
patterns (from the text of an expression to such a pattern), finding (all matches in a text).
"""
