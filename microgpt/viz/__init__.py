"""From a trace to HTML. The only part that knows HTML, in CPython and in the browser alike."""
