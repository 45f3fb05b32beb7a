"""Audit: printed numbers against each other. No runs, no torch, under a second."""
