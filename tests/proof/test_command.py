"""``python -m benchmarks.levels``: other parameters, exit codes, JSON."""

from __future__ import annotations

import json

import pytest

from benchmarks.levels.__main__ import main


def test_other_parameters_are_measured(capsys) -> None:
    """
    Size, spreads, distribution, level, draws and seed are those that were asked for.
    """
    own = [
        "--kind",
        "ratio",
        "--n",
        "4",
        "--sd-ratio",
        "2",
        "--distribution",
        "t6",
        "--alpha",
        "0.1",
    ]
    status = main([*own, "--draws", "20000", "--seed", "7", "--only", "rates", "--json"])
    document = json.loads(capsys.readouterr().out)
    rate, of_pairs = document["rates"]
    assert of_pairs["kind"] == "ratio, paired"
    asked = {"n": 4, "sd_ratio": 2.0, "distribution": "t6", "alpha": 0.1, "draws": 20000}
    assert {name: rate[name] for name in asked} == asked
    assert document["seed"] == 7
    assert 0.08 < rate["confirmed"] < rate["upper"] <= rate["limit"] == pytest.approx(0.105)
    assert status == 0


def test_a_broken_gate_is_exit_1(capsys) -> None:
    """
    With so few draws that no bound can be small the gate fails, and says where.
    """
    status = main(["--kind", "equivalence", "--n", "30", "--draws", "300", "--only", "rates"])
    assert status == 1
    assert "FAILS: equivalence" in capsys.readouterr().out


@pytest.mark.parametrize(
    "wrong",
    [["--distribution", "cauchy"], ["--distribution", "t2"], ["--kind", "magic"],
     ["--alpha", "0.7"], ["--draws", "3"], ["--n", "one"]],
)  # fmt: skip
def test_wrong_usage_is_exit_2(wrong, capsys) -> None:
    """
    What cannot be simulated is refused with the usage.
    """
    with pytest.raises(SystemExit) as stopped:
        main(wrong)
    assert stopped.value.code == 2
    assert "usage" in capsys.readouterr().err


def test_power_alone_is_shown(capsys) -> None:
    """
    Asked for power alone, it compares what is promised with what is found.
    """
    assert main(["--kind", "separation", "--only", "power", "--draws", "20000"]) == 0
    out = capsys.readouterr().out
    assert "2 of 2 promises of power and coverage are kept." in out
