"""The old place of ``repro.store.work``, until nobody imports it from here."""

from repro.store.work import cost, is_complete, merged, missing_measurements, remaining

__all__ = ["cost", "is_complete", "merged", "missing_measurements", "remaining"]
