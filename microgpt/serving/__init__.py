"""Many texts at once, in vLLM's words."""
