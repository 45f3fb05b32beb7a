"""Output layers: from the context of a position to the log-probabilities of the next word."""
