"""Texts that begin alike, in one pool: what they share, event by event, and what a changed token does to rows.

- `events`: a text is run, a second finds its blocks, a third is a fork that writes, and one token is changed
"""
