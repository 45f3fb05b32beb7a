"""The search for hyper-parameters: stages of settings, trained like all runs, ranked on validation.

A search sees the training of a run and its validation losses; it asks for no measurement, so
nothing of the test split reaches a choice.
"""

from repro.tuning.plan import SearchPlan, plan_search
from repro.tuning.run import Tuned, tune
from repro.tuning.write import write_tuned

__all__ = ["SearchPlan", "Tuned", "plan_search", "tune", "write_tuned"]
