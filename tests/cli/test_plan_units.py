"""`repro plan` calls replicates what they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands import repro


def test_folds_are_not_called_seeds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The claim that `repro compare` writes of ten folds plans ten folds per arm."""
    monkeypatch.chdir(tmp_path)
    cells = [(arm, n) for arm in "ab" for n in range(10)]
    rows = [f"{arm},{n},{0.8 + 0.01 * (n % 4) + 0.003 * n * (arm > 'a')}" for arm, n in cells]
    Path("f.csv").write_text("\n".join(["model,fold,acc", *rows]))
    repro("compare", "f.csv", "--baseline", "a", "--better", "higher")
    assert "better: 10 folds per arm" in repro("plan", "b_vs_a.claim.yaml").stdout
