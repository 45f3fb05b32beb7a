"""The engine's own error rates: how often it confirms what is false, measured.

``python -m benchmarks.levels --help``. Many draws are judged at once by array versions of the
tests (``Rule.decide``); each is tied to the public function and rule that judge claims
(``Rule.judge``) by ``tests/proof/test_same_decisions.py``.
"""
