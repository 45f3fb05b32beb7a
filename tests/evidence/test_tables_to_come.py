"""A claim is declared before its results: its table need not be there to be checked or planned."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from scipy import stats

from repro.report.write import read_document
from tests.commands import repro

CLAIM = """\
schema: 1
id: mixup
title: Mixup lowers the test error
source: {own: "we train with mixup from now on, if it helps"}
arms:
  mixup: {label: with mixup, table: mixup.csv}
  plain: {label: without mixup, table: mixup.csv}
design: independent
seeds: {min: 5, plan: 5}
measurements:
  error: {kind: reported, label: test error, better: lower}
expectations:
  - {id: better, kind: difference, measurement: error, of: [mixup, plain], direction: lower}
"""


@pytest.fixture(autouse=True)
def _declared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REPRO_STORE", str(tmp_path / "store"))
    Path("c.claim.yaml").write_text(CLAIM)


def test_a_claim_is_checked_and_planned_before_its_table_is_there() -> None:
    for command in ("check", "plan"):
        done = repro(command, "c.claim.yaml")
        assert (done.returncode, "not there yet: mixup.csv" in done.stdout) == (0, True), done
    (told,) = json.loads(repro("check", "c.claim.yaml", "--json").stdout)
    assert (told["ok"], told["to_come"]) == (True, ["mixup.csv"])
    early = repro("verify", "c.claim.yaml")
    assert early.returncode == 2
    assert "the table is not there yet" in early.stderr
    assert "columns arm, seed, measurement, value" in early.stderr
    draw = random.Random(3)
    values = {arm: [draw.gauss(mean, 0.1) for _ in range(5)] for arm, mean in
              (("mixup", 4.2), ("plain", 5.0))}  # fmt: skip
    rows = [f"{arm},{n},error,{v}" for arm, each in values.items() for n, v in enumerate(each)]
    Path("mixup.csv").write_text("\n".join(("arm,seed,measurement,value", *rows)))
    assert "not there yet" not in repro("check", "c.claim.yaml").stdout
    assert repro("verify", "c.claim.yaml").returncode == 0
    (found,) = read_document(Path("reports/mixup/declared/report.json")).results
    p = stats.ttest_ind(values["mixup"], values["plain"], equal_var=False).pvalue
    assert found.p == pytest.approx(p, rel=1e-6)


def test_a_table_whose_name_is_nearly_that_of_another_is_misspelt() -> None:
    Path("mixup1.csv").write_text("arm,seed,measurement,value\n")
    assert repro("check", "c.claim.yaml").returncode == 0  # the results of another day
    Path("mixpu.csv").write_text("arm,seed,measurement,value\n")
    done = repro("check", "c.claim.yaml")
    assert (done.returncode, "did you mean 'mixpu.csv'?" in done.stderr) == (2, True)
