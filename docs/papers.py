"""Writes a page per paper: what of it stands, by the claims and the audits that come with repro.

Printed numbers are judged while the page is written. What trained models say is taken from the
reports that are committed under `reports/`.
"""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path

from repro.audit.audit import audit_file
from repro.audit.audit_file import load_audit
from repro.audit.comparison import LEGEND, Audit, Grade
from repro.evidence.evidence import Evidence
from repro.judging.assemble import check_claim
from repro.judging.document import Document, VerdictPart
from repro.judging.gather import gather, read_tables
from repro.report.write import read_document
from repro.schema.yaml import read_document as read_yaml
from repro.specs.claim import SCALES, Claim, PrintedSource, ScaleName
from repro.specs.load import load_claim, load_claims
from repro.store.run_store import RunStore

ROOT = Path(__file__).parents[1]
CLAIMS = ROOT / "claims"
RECORDED = ("sample", "library")
OTHERS = {"library", "nightly", "speedruns"}
"""Folders of claims that are about none of these papers."""

NUMBERED = re.compile(r"(?<!upplement )(?:Tables?|Figures?|[Ss]ections?|Corollary) (\d+)")
"""A part of a paper that has a number, those of its supplement apart."""

PAPERS: Mapping[str, str] = {
    "yang2018": "Yang, Dai, Salakhutdinov and Cohen (2018)",
    "lim2018": "Lim, Lahlou and Caccia (2018)",
    "parthiban2021": "Parthiban, Mao and Inkpen (2021)",
}

ABOUT = """What each claim of the paper comes to, generated from the claim files and the audits that
come with repro. *From print* judges the numbers that the paper printed, and trains nothing: what a
file expects there is a record of that verdict, which notices a change of the program, and no
prediction. `quick` and `bench` train small models, whose verdict is not about the paper's size.
Where a claim asks more than the paper says, its title or its notice tells so. *Fragile* names what
a [verdict](../explanation/verdicts.md) hangs on, or what else a reader should know of it; the
report of the claim has the sentences. A dash: the claim has no such scale. *Not run*: it has the
scale, and no report of it is committed; at `paper` that is weeks of training. The time is that of
all its runs together, each on one core; claims that share runs train them once. `repro verify ID`
runs a claim: its id is the name of its file."""


@dataclass
class Row:
    """A claim of a paper: its verdict from print, and at each scale that trains, in words."""

    claim: Claim
    file: Path
    printed: str = "–"
    trained: dict[ScaleName, str] = field(default_factory=dict)


def page(paper: str) -> str:
    """The page about a paper."""
    rows = sorted((row for row in claims() if row.claim.paper == paper), key=_place)
    parts = [f"# What stands of {PAPERS[paper]}", ABOUT, _counts(rows), _table(rows)]
    parts += _left_out(CLAIMS / paper / "README.md")
    return "\n\n".join([*parts, "## Audits of what is printed", _audits(paper)]) + "\n"


@cache
def claims() -> tuple[Row, ...]:
    """Every claim that comes with repro, with its verdicts."""
    files = [*CLAIMS.glob("*.yaml"), *CLAIMS.rglob("*.claim.yaml")]
    return tuple(_row(file) for file in files if not OTHERS & set(file.relative_to(CLAIMS).parts))


def _row(file: Path) -> Row:
    scales = _scales(file)
    row = Row(load_claim(file, scales[0]), file)
    for scale in scales:
        claim = load_claim(file, scale)
        if claim.trained:
            row.trained[scale] = _recorded(claim)
        else:
            verdict = check_claim(claim, printed(claim)).verdict
            row.printed = _words(verdict)
    return row


def printed(claim: Claim) -> Evidence:
    """What a claim that trains nothing is judged by."""
    with tempfile.TemporaryDirectory() as empty:
        return gather(claim, RunStore(Path(empty)), read_tables(claim))


def _scales(file: Path) -> list[ScaleName]:
    """The scales that a claim declares, the smallest first."""
    return list(load_claims(file)[0].declared)


def _recorded(claim: Claim) -> str:
    """The verdict of a committed report of the claim as it is today."""
    for folder in RECORDED:
        path = ROOT / "reports" / folder / claim.id / claim.scale / "report.json"
        if path.exists():
            document = read_document(path)
            if document.claim.digest == claim.digest():
                return _of_report(document)
    return "not run"


def _of_report(document: Document) -> str:
    seconds = document.provenance.run_seconds.values()
    trained = f"; {len(seconds)} runs, {_minutes(sum(seconds))}" if seconds else ""
    return _words(document.verdict) + trained


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"


def _words(verdict: VerdictPart) -> str:
    """The conclusion, or why there is none, and what it hangs on."""
    flags = {flag.kind for flag in verdict.flags}
    fragile = f" (fragile: {', '.join(sorted(flags))})" if flags else ""
    return (str(verdict.conclusion) if verdict.validity == "VALID" else verdict.validity) + fragile


def _locator(claim: Claim) -> str:
    return claim.source.locator if isinstance(claim.source, PrintedSource) else ""


def _place(row: Row) -> tuple[object, ...]:
    """In the order of the paper: its sections and tables by number, then by file."""
    own = _locator(row.claim).partition("; repeated")[0]
    numbers = [int(each) for each in NUMBERED.findall(own)]
    return not numbers and "upplement" in own, numbers[:1], row.file.name


def _counts(rows: Sequence[Row]) -> str:
    """How many claims have which verdict from print."""
    found = Counter(row.printed.partition(" ")[0] for row in rows if row.printed != "–")
    said = ", ".join(f"{count} {word}" for word, count in sorted(found.items()))
    return f"{len(rows)} claims; {sum(found.values())} are judged from print: {said}."


def _table(rows: Sequence[Row]) -> str:
    head = [
        "| in the paper | claim | from print | quick | bench | paper |",
        "|---|---|---|---|---|---|",
    ]
    return "\n".join([*head, *map(_cells, rows)])


def _cells(row: Row) -> str:
    file = row.file.relative_to(CLAIMS)
    trained = [row.trained.get(scale, "–") for scale in SCALES]
    cells = [_locator(row.claim), f"{row.claim.title} (`{file}`)", row.printed, *trained]
    return f"| {' | '.join(' '.join(cell.split()).replace('|', '/') for cell in cells)} |"


def _left_out(readme: Path) -> Iterator[str]:
    """What the paper claims and no file does, with the reasons."""
    if readme.exists():
        yield "## Without a claim file"
        yield readme.read_text(encoding="utf-8").partition("\n")[2].strip()


def _audits(paper: str) -> str:
    """How many printed numbers follow from others, by grade."""
    files = sorted((CLAIMS / "published").glob("*.yaml"))
    files = [file for file in files if load_audit(read_yaml(file))[0].source.paper == paper]
    audits = [audit_file(file) for file in files]
    grades = [grade for grade in Grade if any(row.grade is grade for a in audits for row in a.rows)]
    head = [
        "| audit |" + "".join(f" {grade} |" for grade in grades),
        "|---|" + "---|" * len(grades),
    ]
    rows = [_graded(file, audit, grades) for file, audit in zip(files, audits, strict=True)]
    legend = [f"- {grade}: {LEGEND[grade]}" for grade in grades]
    return "\n".join([*head, *rows, "", *legend])


def _graded(file: Path, audit: Audit, grades: Sequence[Grade]) -> str:
    counts = Counter(row.grade for row in audit.rows)
    title = f"{audit.title} (`published/{file.name}`)"
    return f"| {title} |" + "".join(f" {counts[grade] or '–'} |" for grade in grades)


PAGES = {f"papers/{paper}": partial(page, paper) for paper in PAPERS}
