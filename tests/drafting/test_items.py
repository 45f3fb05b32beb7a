"""`repro compare --items`: rows are questions, and what is said is about two trained models."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from scipy import stats

from repro.report.write import read_document
from tests.commands import repro

RIGHT = [
    (f"q{n}", f"p{n // 5}", int(value < 0.8), int(other < 0.6))
    for n, (value, other) in enumerate(
        (random.Random(f"a{n}").random(), random.Random(f"b{n}").random()) for n in range(60)
    )
]
"""Question, passage, and whether the large and the small model answer it."""


def table(rows: list[tuple[str, str, int, int]] = RIGHT) -> str:
    lines = [
        f"{arm},{q},{p},{values[k]}"
        for k, arm in enumerate(("large", "small"))
        for q, p, *values in rows
    ]
    Path("answers.csv").write_text("\n".join(["model,doc_id,passage,correct", *lines]))
    return "answers.csv"


def samples() -> str:
    """As lm-eval writes them, a file per model."""
    for k, arm in enumerate(("large", "small")):
        Path("out", arm).mkdir(parents=True)
        lines = (
            {"doc_id": n, "doc": {"passage": p, "text": "?"}, "resps": [["a"]], "acc": float(v[k])}
            for n, (_, p, *v) in enumerate(RIGHT)
        )
        file = Path("out", arm, "samples_boolq_2026-01-01T00-00-00.0.jsonl")
        file.write_text("\n".join(map(json.dumps, lines)))
    return "out"


@pytest.mark.parametrize(
    ("results", "fields"),
    [(table, ("doc_id", "passage")), (samples, ("doc_id", "doc.passage"))],
)
def test_questions_are_paired_and_never_seeds(results: object, fields: tuple[str, str]) -> None:
    assert callable(results)
    args = ("--better", "higher", "--baseline", "small", "--items", fields[0])
    done = repro("compare", results(), *args)
    (found,) = read_document(Path("reports/large_vs_small/declared/report.json")).results
    expected = stats.ttest_rel([row[2] for row in RIGHT], [row[3] for row in RIGHT])
    assert found.p == pytest.approx(expected.pvalue, rel=1e-9)
    assert found.details["items"] == "60, answered by both"
    assert "on 60 items, for these two trained models" in done.stdout
    assert "60 seeds" not in done.stdout
    done = repro(
        "compare", results() if results is table else "out", *args, "--clusters", fields[1]
    )
    (found,) = read_document(Path("reports/large_vs_small/declared/report.json")).results
    assert found.details["clusters"] == "12; the standard error is clustered"
    assert found.df == pytest.approx(11)


def test_mcnemar_is_declared_in_the_claim() -> None:
    repro("compare", table(), "--better", "higher", "--baseline", "small", "--items", "doc_id")
    claim = Path("large_vs_small.claim.yaml")
    claim.write_text(claim.read_text().replace("kind: items", "kind: items\n    test: mcnemar"))
    done = repro("verify", claim)
    won = sum(large > small for *_, large, small in RIGHT)
    lost = sum(large < small for *_, large, small in RIGHT)
    (found,) = read_document(Path("reports/large_vs_small/declared/report.json")).results
    assert found.p == pytest.approx(stats.binomtest(won, won + lost).pvalue, rel=1e-9), done.stdout
    assert found.details["right in one alone"] == f"{won} in large, {lost} in small"


def test_items_that_do_not_fit_are_refused() -> None:
    more = [*RIGHT, ("q60", "p12", 1, 1)]
    text = Path(table(more)).read_text().splitlines()
    Path("answers.csv").write_text("\n".join(text[:-1]))
    args = ("--better", "higher", "--baseline", "small")
    done = repro("compare", "answers.csv", *args, "--items", "doc_id")
    document = read_document(Path("reports/large_vs_small/declared/report.json"))
    assert document.verdict.conclusion == "NOT-TESTED"
    assert "1 of 61 items" in done.stdout
    done = repro("compare", "answers.csv", *args, "--items", "nope")
    assert (done.returncode, "there is no field 'nope'" in done.stderr) == (2, True)
    Path("answers.csv").write_text("\n".join([*text[:-1], "small,q60,p12,"]))
    done = repro("compare", "answers.csv", *args, "--items", "doc_id")
    assert (done.returncode, "to do: complete the row" in done.stderr) == (2, True)
