"""Writes the page about the small famous claims, from their files and their committed reports."""

from __future__ import annotations

import re
from pathlib import Path

from repro.judging.document import Document, Result
from repro.report.write import read_document
from repro.specs.load import load_claims

ROOT = Path(__file__).parents[1]
CLAIMS = ROOT / "claims" / "library"
REPORTS = ROOT / "reports" / "library"

ABOUT = """# Small famous claims

Claims that everybody knows, each with a program of its own that tries it on two cores: on
scikit-learn's digits (1,797 images of 8 x 8 pixels) or on data that it draws. None is the
paper's experiment, and each report says what is smaller. What a verdict says is that the claim
does, or does not, hold in this small experiment.

```sh
pip install 'repro-verdict[library]'        # scikit-learn and torch
repro verify amsgrad                        # any claim of the tables, by its id
repro verify dropout label_smoothing mixup  # these three are one family (Holm)
```

In a clone of the repository `repro verify claims/library` runs all of them.

A claim that is as it came with repro needs no `--allow-code`, wherever it lies, and its
`python` is the one that runs repro. It is known by its content: the command, its arguments and
environment, and the SHA-256 of every file in the folder of its program. After an edit, and with
any other file beside it, it needs your consent like any program, and the message names the
file.

Both tables are generated from the claim files in `claims/library/` and the reports in
`reports/library/`. *Seconds* are those of all runs together, each on one core, on a machine
with two that had other work too."""

NOTES = """A verdict with flags is fragile, and its report says why. What is context does not
decide, and may go against the words that the claim quotes: read that column, too.

Margins and limits were chosen after tries of single runs, and before a claim was first run as a
whole. Seven claims were declared again and run again on 2026-11-24, after mistakes in their
programs and designs had been found: `adam_against_sgd` and `random_labels` had read the same
batches in every epoch; `amsgrad` had too few steps for AMSGrad, whose limit is only context
now, because the words that it quotes are about Adam; `attention_rank`, `batch_norm`,
`split_noise` and `unargmaxable` had arms that shared their randomness and were declared
independent. What those runs had shown was known when the new files were written. `grokking` and
`lottery_ticket` were run again with shorter programs.

A run may not reach its target in the budget. For the steps of grokking that is declared
(`censored`), and no mean is made of them. Its ratio of steps has the whole budget in the place of
such a run; no expectation is about that ratio without weight decay. For batch normalisation such a
run counts as the whole budget, the label of the measurement says so, and it can only make the
effect smaller than it is."""


def page() -> str:
    """The page."""
    documents = [_document(path) for path in sorted(CLAIMS.rglob("*.claim.yaml"))]
    parts = [ABOUT, _claims(documents), "## What came out", _verdicts(documents), NOTES]
    return "\n\n".join(parts) + "\n"


def _document(path: Path) -> Document:
    """The committed report of a claim as it is today."""
    (claim,) = load_claims([path], None)
    document = read_document(REPORTS / claim.id / claim.scale / "report.json")
    if document.claim.digest != claim.digest():
        raise ValueError(f"the report of {claim.id} is of another claim: verify it again")
    return document


def _claims(documents: list[Document]) -> str:
    lines = ["| claim | what it says | paper | runs | seconds |", "|---|---|---|---|---|"]
    for document in documents:
        claim, seconds = document.claim, document.provenance.run_seconds.values()
        cells = (f"`{claim.id}`", claim.title, _paper(document), len(seconds))
        lines.append(_line(*cells, f"{sum(seconds):.0f}"))
    return "\n".join(lines)


def _paper(document: Document) -> str:
    """`Wilson 2017`."""
    return re.sub(r"(\D+)(\d+)", r"\1 \2", document.claim.source.paper).capitalize()


def _verdicts(documents: list[Document]) -> str:
    """Verdict, decisive expectations, context and flags of each claim, as its report has them."""
    lines = ["| claim | verdict | what decides it | context | flags |", "|---|---|---|---|---|"]
    for document in documents:
        verdict = document.verdict
        word = verdict.conclusion if verdict.validity == "VALID" else verdict.validity
        flags = ", ".join(sorted({flag.kind for flag in verdict.flags}))
        decisive, context = (_found(document, role) for role in ("decisive", "context"))
        cells = (f"`{document.claim.id}`", f"{word}", decisive, context or "–", flags or "–")
        lines.append(_line(*cells))
    return "\n".join(lines)


def _found(document: Document, role: str) -> str:
    """What was found of the expectations with a role."""
    return " ".join(map(_said, (each for each in document.results if each.role == role)))


def _said(result: Result) -> str:
    return f"{result.conclusion}: {result.sentence}"


def _line(*cells: object) -> str:
    return f"| {' | '.join(' '.join(str(cell).split()).replace('|', '/') for cell in cells)} |"


PAGES = {"library": page}
