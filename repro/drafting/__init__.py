"""First claims: what results are, and the claim file that they stand for."""
