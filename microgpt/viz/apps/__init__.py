"""Pages that are no lessons: look inside a file, run a model of your own, make the code that embeds a lesson."""
