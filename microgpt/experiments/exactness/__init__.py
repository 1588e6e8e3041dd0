"""Is the answer with the cache the same? In exact arithmetic it is; here in four formats and two orders of adding.

What was found for the models that ship lies in data/exactness.json. This command makes it, in about a minute:

    python -m microgpt.experiments.exactness.measure > found.json && mv found.json microgpt/data/exactness.json
"""
