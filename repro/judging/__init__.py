"""Judging: claims and their evidence -> verdicts and the record of them. Never imports torch."""
