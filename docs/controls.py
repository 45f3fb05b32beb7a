"""Writes the page about the controls: what trained models and printed numbers say of rank.

The numbers in its text are those of the committed reports and of the claims from print; a test
holds that they are as the text says.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import papers

from repro.judging.document import ArmPart, Document, Result, SummaryPart
from repro.report.write import read_document

REPORTS = Path(__file__).parents[1] / "reports" / "library"

ABOUT = """# What the controls say of rank

The papers explain perplexity by rank, or deny that it can be explained so. The claims in
`claims/controls/` are statements of this project that no paper makes, each a control of theirs.
This page is generated from the claim files and from the reports that are committed. *From print*
judges printed numbers, and trains nothing; `quick` trains small models for minutes on a synthetic
language of 1,000 words, whose true rank is known. `repro verify ID` runs a claim: its id is the
name of its file."""

MEANING = """## What it says of rank as an explanation of perplexity

**A high rank does not show that the language has one.** On a language whose own matrix of
log-probabilities has rank 50, MoS has a rank of {low_mos} of 1,000, and on one of rank 18 a rank of
{free_mos}; Softmax stays at {low_softmax}, its bound. So the layer makes a high rank, whatever the
language.

**Where Softmax does not lack rank, MoS predicts better all the same.** On the language of rank 18 a
Softmax with as many parameters as MoS has a bound of {free_bound}. Test perplexity there is
{free_mos_perplexity} with MoS and {free_matched_perplexity} with this Softmax (p = {free_p}). A
shortage of rank cannot be why, so something else in MoS helps. How much that is elsewhere these
runs do not tell. The difference is {free_gain} here, {low_gain} on the language of rank 50 and
{mixture_gain} on a mixture of four softmaxes. In the last two Softmax lacks rank, and the last is
of MoS's own kind, a mixture of as many softmaxes. Which of the two makes that gain large is not
separated.

**MoC has a part of the gain without the rank.** In the papers' own numbers for Penn Treebank, of
one run each, MoC has {shares} of the gain of MoS over Softmax, at a rank below that of Softmax; on
WikiText-2 it has none of it.

What this does not show: that rank never matters, or that the gain of MoS on Penn Treebank and
WikiText-2 comes from what helps it here. The models are small and the training is short. The
differences of perplexity on the languages of rank 50 and 18, and on the mixture, are shown beside
what those claims decide (*context*), with five seeds to an arm."""


def page() -> str:
    """The page about the controls."""
    rows = sorted(_rows(), key=lambda row: (row.printed != "–", row.file.name))
    head = ["| claim | from print | quick |", "|---|---|---|"]
    table = "\n".join([*head, *map(_cells, rows)])
    found = "\n".join(_found(rows))
    return (
        "\n\n".join([ABOUT, table, MEANING.format(**numbers()), "## What was found", found]) + "\n"
    )


def _rows() -> Iterator[papers.Row]:
    return (row for row in papers.claims() if row.claim.paper == "repro")


def _cells(row: papers.Row) -> str:
    title = f"{row.claim.title} (`{row.file.relative_to(papers.CLAIMS)}`)"
    return f"| {title} | {row.printed} | {row.trained.get('quick', '–')} |"


def _found(rows: list[papers.Row]) -> Iterator[str]:
    """What the reports of trained claims say of each of their expectations."""
    for row in rows:
        for result in report(row.claim.id).results if row.trained else ():
            kind = " (context)" if result.role == "context" else ""
            yield f"- `{row.claim.id}`{kind}: {result.sentence}"


@cache
def report(claim: str) -> Document:
    """The committed report of a claim at `quick`."""
    return read_document(REPORTS / claim / "quick" / "report.json")


def numbers() -> dict[str, str]:
    """The numbers of the text, by the names that it has for them."""
    low, free, mixture = map(
        report, ("low_rank_language", "no_bottleneck_language", "nearer_to_the_truth")
    )
    better = _result(free, "predicts_otherwise")
    return {
        "low_mos": _range(low, "mos"),
        "low_softmax": _range(low, "softmax"),
        "free_mos": _range(free, "mos"),
        "free_bound": f"{_arm(free, 'matched').bound}",
        "free_mos_perplexity": f"{_summary(free, 'mos', 'test_perplexity').mean:.2f}",
        "free_matched_perplexity": f"{_summary(free, 'matched', 'test_perplexity').mean:.2f}",
        "free_p": f"{better.p:.4f}".removeprefix("0"),
        "free_gain": f"{-better.effect:.2f}",
        "low_gain": f"{-_result(low, 'predicts_better_than_equal_size').effect:.2f}",
        "mixture_gain": f"{-_result(mixture, 'lower_perplexity').effect:.2f}",
        "shares": _shares(),
    }


def _arm(document: Document, name: str) -> ArmPart:
    return next(arm for arm in document.arms if arm.id == name)


def _summary(document: Document, arm: str, measurement: str) -> SummaryPart:
    summaries = _arm(document, arm).summaries
    return next(each for each in summaries if each.measurement == measurement)


def _range(document: Document, arm: str) -> str:
    """The ranks of an arm: one number, or the lowest and the highest."""
    rank = _summary(document, arm, "rank")
    return f"{rank.low:.0f}" if rank.low == rank.high else f"{rank.low:.0f} to {rank.high:.0f}"


def _result(document: Document, expectation: str) -> Result:
    return next(each for each in document.results if each.id == expectation)


def _shares() -> str:
    """The shares of the gain that MoC has on Penn Treebank: `65, 34 and 47 per cent`."""
    (row,) = (row for row in papers.claims() if row.claim.id == "moc_has_a_part_of_the_gain")
    runs = papers.printed(row.claim).finished("ptb")
    *others, last = (f"{run.values['share']:.0%}".rstrip("%") for run in runs)
    return f"{', '.join(others)} and {last} per cent"


PAGES = {"papers/controls": page}
