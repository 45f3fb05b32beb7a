"""Evidence: where the values of each arm come from, and what they are.

Three kinds: ``runs`` of the store, a ``table`` of a user's own results, and ``published``
numbers. Gathering reads; it judges nothing and trains nothing. A damaged artefact is kept as a
problem, so that the claim is reported INVALID rather than not at all.
"""
