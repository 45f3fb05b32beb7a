"""The search for hyper-parameters: stages of settings, trained like all runs, ranked on validation.

A search sees the training of a run and its validation losses; it asks for no measurement, so
nothing of the test split reaches a choice.
"""
