"""What build.py uses: the browser runtime, and a server to look at the result."""
