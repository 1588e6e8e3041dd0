"""What every drawing is made of: a figure, a card, a small picture on the front page or in the glossary.

A drawing is a list of pieces (pieces.py) at places (places.py), with text that fits (words.py). It is written as SVG
for a file, as paths for a page, or on a canvas (svg.py, sketch.py, canvas.py). Knows no page.
"""
