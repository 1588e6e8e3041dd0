"""What makes and shows the site: the browser runtime, its archives, a local server."""
