"""What the course promises a learner: what each lesson needs, how long it takes, what it rests on, what it answers."""
