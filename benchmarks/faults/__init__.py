"""Faults: how the work of every loader grows with what a stranger gives it, and kills."""
