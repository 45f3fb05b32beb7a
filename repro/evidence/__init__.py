"""Evidence: where the values of each arm come from, and what they are.

Reading judges nothing and trains nothing. A damaged artefact is kept as a problem, so that the
claim is reported INVALID rather than not at all.
"""
