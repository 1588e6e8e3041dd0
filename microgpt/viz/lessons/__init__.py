"""One module or folder a lesson, called as its widget is: `view(settings)` gives what its templates place.

A view is computed from real runs of the model; text, widths and heat levels are finished here. What is live about a
lesson are its HOOKS, and what the page takes back where they break off is in STOPPED (see viz/views.py).
"""
