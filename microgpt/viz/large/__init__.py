"""A large model on a page: some heads opened, the others at a glance."""
