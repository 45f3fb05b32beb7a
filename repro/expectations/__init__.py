"""Expectation kinds: what each declares, how it is tested, ruled, worded and planned."""
