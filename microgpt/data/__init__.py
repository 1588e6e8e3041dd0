"""What the models that ship have learned from, the models themselves, and what was measured once and for all."""
