"""What is written where: what goes out, what a build wrote before, and what differs from it."""
