"""What is measured in a browser: what a reader waits for."""
