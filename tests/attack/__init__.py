"""The attack on the project: hostile input, damaged files, broken networks and dead interpreters, by the thousand.

    python -m tests.attack [PART ...] [--scale 0.1] [--seed 7] [--only CASE] [--write]

`make attack` runs all of it. Each part is a module in parts/: it names its cases, and says of each what came of it.
"""
