"""Specifications: the language in which claims, configurations and runs are written."""
