"""Numerical rank of a matrix of log-probabilities that is never held whole; without torch."""
