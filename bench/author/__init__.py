"""What is measured of making the site: what an author waits for."""
