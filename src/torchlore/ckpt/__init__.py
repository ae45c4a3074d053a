"""Checkpoints: open any of them without running it, see what is inside, move them anywhere."""
