"""Printed numbers are shown as they are printed, and drawn with their scatter."""

from __future__ import annotations

from repro.evidence.csv_table import TableFile
from repro.evidence.evidence import PublishedArm
from repro.evidence.published import PublishedNumbers
from repro.report.blocks import DotPlot, Figure
from repro.report.view import view
from repro.specs.arm import Arm
from tests.judging.made import judged, made
from tests.judging.test_kinds import LOW, difference

ARMS = {
    "a": Arm(label="A", source=TableFile(table="made.csv")),
    "b": Arm(
        label="B",
        source=PublishedNumbers(published={"loss": PublishedArm(mean="93.4", sd="0.2", n=5)}),
    ),
}


def test_a_printed_arm_has_its_own_digits_and_its_scatter() -> None:
    """`93.40, as printed` is not what is printed, and a mean alone would look like separation."""
    document = judged(made(difference(), arms="ab").model_copy(update={"arms": ARMS}), {"a": LOW})
    (summary,) = document.arms[1].summaries
    assert summary.as_printed == "93.4 ± 0.2"
    figure = view(document).figure
    assert isinstance(figure, Figure)
    assert isinstance(figure.plot, DotPlot)
    row = figure.plot.panels[0].rows[1]
    assert row.note == "93.4 ± 0.2, 5 seeds, as printed"
    assert row.spread == (93.4 - 0.2, 93.4 + 0.2)
    assert "standard deviation" in figure.caption
