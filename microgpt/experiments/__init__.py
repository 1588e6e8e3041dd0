"""What the lessons try out on the model: each module asks one question, through the same forward, in numbers."""
