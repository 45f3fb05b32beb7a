"""The part of the report document that derives from time and machine."""

from __future__ import annotations

from repro.specs.base import Spec


class Provenance(Spec):
    """Everything that derives from time or machine; never compared, never in a key.

    ``code_revision`` is the commit of the checkout that judged, where it was one, with `+` where
    its files were changed. ``without_weights`` is how many runs were exported without their
    weights and spectra.
    """

    created: str
    repro_version: str
    python: str
    packages: dict[str, str]
    platform: str
    processor: str
    cores: int
    devices: tuple[str, ...]
    threads_per_run: int
    run_seconds: dict[str, float]
    command: str
    without_weights: int = 0
    code_revision: str = ""
