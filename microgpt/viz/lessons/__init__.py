"""One module or folder a lesson, called as its widget is: `view(settings)` gives what its templates place,
and `thumb(view)` the boxes of its small picture on the front page (viz/drawing/thumbs.py).
from_checkpoint.py makes some of them of a large model.

A view is computed from real runs of the model and gives numbers, tokens and names; its templates write them by filters
(viz/text/formats.py). What is live about a
lesson are its HOOKS, and what the page takes back where they break off is in STOPPED (see viz/views.py).
"""
