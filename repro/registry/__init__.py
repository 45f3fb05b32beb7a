"""The audit log of a claim: what was looked at, when, and what the claim said at the time.

One file for each claim and scale, in a folder that the caller names. It holds two kinds of
entries, registrations of the claim's decisive fields and looks at results, one JSON object a
line, in the order in which they happened: so *edited after results were visible* is a matter of
lines, not of clocks. Looks with one digest of the decisive fields are one process, which never
resets; an edit starts another and the earlier ones stay.

Nothing is ever rewritten. A line goes down in one write under a lock, is flushed to the disk,
and carries the digest of everything before it, so that a changed or removed line is noticed. A
line that a crash cut short is kept, reported and passed over.
"""
