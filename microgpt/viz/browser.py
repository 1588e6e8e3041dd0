"""The door to the page: JSON text in, JSON text out. site/worker.js calls `receive` and nothing else.

The only module that may import js or pyodide; so far strings are all that has to cross.
"""

from __future__ import annotations

import json

from microgpt.viz.session import dispatch


def receive(message: str) -> str:
    """{"state", "hook", "fields"} -> {"state", "patches"}, both as JSON text."""
    event = json.loads(message)
    state, patches = dispatch(event["state"], event["hook"], event["fields"])
    return json.dumps({"state": state, "patches": patches}, allow_nan=False)
