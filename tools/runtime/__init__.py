"""Python for the browser: fetched, trimmed, compiled, packed, always the same bytes."""
