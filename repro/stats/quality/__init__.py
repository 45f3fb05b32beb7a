"""Signs that a table of results is not what it seems, before any test looks at it.

Pure functions on the values of arms. Each looks for one kind of fault and is given a level: the
largest chance of a false alarm in an honest table, to be divided among the samples or pairs that
are looked at. Honest are normal, uniform, t4 and lognormal(0.5) values, at full precision or
rounded, shares k of N, constant arms, three or more seeds per arm, standard deviations up to 4:1.
`python -m benchmarks.quality` measures the false alarms and what is found.
"""
