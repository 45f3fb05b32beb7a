"""Ranks of matrices of the papers' size, beside an SVD and the machine's rate."""
