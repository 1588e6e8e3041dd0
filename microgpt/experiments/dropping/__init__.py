"""When the room is full, and when rows shall be smaller: what it costs a model to be given less than it computed."""
