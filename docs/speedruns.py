"""Writes the page about the speedruns: what of their history stands, by the claims in the library.

The runs are judged while the page is written; what stopping early does is simulated.
"""

from __future__ import annotations

import csv
import math
import tempfile
import textwrap
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import mean, median, stdev

from scipy.stats import norm, ttest_1samp

from repro.judging.assemble import check_claim
from repro.judging.gather import gather, read_tables
from repro.specs.load import load_claim
from repro.stats import optional_stopping as stopping
from repro.stats.anytime import one_sided_e_value
from repro.store.run_store import RunStore

FOLDER = Path(__file__).parents[1] / "claims" / "speedruns"
TARGET = 3.28
KNOWN_SD = 0.0013
"""The standard deviation that the rule of track 3 assumes."""

ABOUT = """# What of the speedruns stands

[KellerJordan/modded-nanogpt](https://github.com/KellerJordan/modded-nanogpt) keeps the records of a
community that trains a small GPT-2 to a validation loss of 3.28 on FineWeb, as fast as possible,
with the log of every run. This page judges those logs by the community's own rules; nothing was
trained for it. It is generated from the claim files in `claims/speedruns/`. `repro verify
speedrun_88` judges one record again.

## The rules

| | track 1: speedrun | track 3: optimizers |
|---|---|---|
| a record takes | less time | fewer steps |
| target | a mean validation loss of at most 3.28 | a validation loss below 3.28 |
| how sure | "a statistical significance level of p<0.01 that their mean val loss is ≤3.28"; the example is a one-sided t-test | "a one-sided z-test assuming σ=0.0013 that achieves p<.001": `(3.28 - avg_loss) * num_runs**0.5 >= 0.004` |
| sd | estimated from the runs | 0.0013 |
| exempt | "submissions which improve speed by optimizing the systems performance, without touching the ML" | nothing |
| which loss | that at the end | that at a step which is the same for all runs; the earliest that passes may be chosen |

The words are those of `README.md` and `records/track_3_optimization/README.md` at commit f411b3d.
Track 2 has the target 2.92 and the other rules of track 1. None of its folders has three logs of
one length, so none is judged here."""  # noqa: E501

NOTES = """What to keep in mind:

- **This is no list of wrong records.** The rule dates from 4 December 2024, and record 13 is older.
  A record that does not pass with the logs in its folder may have had others.
- **Which records are exempt is our reading of their titles**: the repository does not mark them.
- **The number of runs was not fixed beforehand**, and nobody recorded who stopped when. A level of
  1 % holds only for a number that did not depend on the losses. The e-value, *e*, is evidence
  whenever one stops: see below. It decides at 100 in track 1, and at 1,000 in track 3.
- In track 3 the step was chosen after looking, as its rule allows. No p-value here accounts for it.
- **Rule 4 of track 1 is not judged**: "Run faster than the prior record when baselined on the same
  hardware". `runs.csv` has the time of each run and not its machine, and machines differ within a
  folder: two sets of baseline runs of record 88, both with 1,390 steps, took {times} seconds on
  average. Nor is a *baseline* always the prior record.
- Runs are taken as independent, and the logs as they are: that some were left out cannot be seen.
- Track 1 prints losses to four digits, which adds about 0.00003 to their standard deviation."""

STOPPING = """## What stopping early does

Somebody runs a program whose true mean is *exactly* the target, tests after each run from the
{first}th to the {last}th, and stops at the first success. How often does that happen? And how often
where the true mean is half a standard deviation below the target, or one? Losses are normal here,
and each number is from {draws:,} simulated records.

{table}

Asked after each run, the rule of track 1 accepts {rate:.1f} % of the programs that only just reach
the target, and not 1 %. There are two remedies. One is to fix the number of runs first, and to test
once. The other is an e-process: it accepts at an e-value of 100, may be asked after each run, and
keeps its 1 % whenever one stops. It needs more runs: five can give an e-value of {largest:.0f} at
most, so that six are the fewest that decide. A claim file asks for it with
`sequential: {{method: eprocess_t}}`, on a `level` as on a difference of two arms; *e* in these
tables is the same e-value of one sample, with all runs."""

MADE = """## How it was made

`claims/speedruns/read_logs.py` reads the losses from a clone of the repository. It writes
`claims/speedruns/track_*/runs.csv`, with the record, the log, the step, the loss and the time of
each run. `make.py` there writes a claim file for each set of runs in `records.csv`: runs of one
program and one number of steps, at least three. Source: KellerJordan/modded-nanogpt at commit
f411b3d, MIT licence, copyright 2024 Keller Jordan.

{left_out}

Three folders have no claims. `2024-10-29_Optimizers` and `2024-11-06_ShortcutsTweaks` compare
programs and have one run of each; the 20 runs of `2025-05-09_SkipMLPBlocks` are in another folder,
too. In track 3 the loss is that at the declared number of steps, and the means are those that its
README prints, but for result 8: 3.2778 there, 3.2780 in its logs. Records whose folder has fewer
than three runs are not judged."""


@dataclass(frozen=True)
class Row:
    """A set of runs: which they are, their losses, and what the claim about them comes to."""

    record: dict[str, str]
    losses: tuple[float, ...]
    seconds: tuple[float, ...]
    verdict: str

    @property
    def p(self) -> float:
        """By the test of the track: a z-test in track 3."""
        if self.record["track"] == "track_1":
            return self.p_estimated
        return float(norm.cdf((mean(self.losses) - TARGET) / (KNOWN_SD / len(self.losses) ** 0.5)))

    @property
    def p_estimated(self) -> float:
        """By the t-test, which estimates the standard deviation."""
        return float(ttest_1samp(self.losses, TARGET, alternative="less").pvalue)

    @property
    def e(self) -> float:
        n = len(self.losses)
        t = (TARGET - mean(self.losses)) / (stdev(self.losses) / math.sqrt(n))
        return float(one_sided_e_value(t, n, None))

    @property
    def z_rule(self) -> bool:
        """Whether the formula of track 3 is met, on losses of five digits."""
        return round((TARGET - mean(self.losses)) * len(self.losses) ** 0.5, 9) >= 0.004


def page() -> str:
    """The page."""
    short = [row for row in rows() if row.record["track"] == "track_1"]
    optimizers = [row for row in rows() if row.record["track"] == "track_3"]
    records = [row for row in short if row.record["role"] == "record"]
    parts = [
        *(ABOUT, "## What stands", summary(), NOTES.format(times=times())),
        *("## Track 1: records", table(records)),
        *("## Track 1: further runs in the folders of records", FURTHER),
        table([row for row in short if row.record["role"] != "record"]),
        *("## Track 3", table(optimizers), stopped(), MADE.format(left_out=left_out())),
    ]
    return "\n\n".join(parts) + "\n"


@cache
def rows() -> tuple[Row, ...]:
    """Every set of runs that has a claim, judged."""
    sets: dict[tuple[str, ...], list[dict[str, str]]] = {}
    for track in ("track_1", "track_3"):
        for run in _read(f"{track}/runs.csv"):
            sets.setdefault((track, run["record"], run["step"]), []).append(run)
    found = []
    for record in sorted(_read("records.csv"), key=lambda record: record["id"]):
        runs = sets[record["track"], record["record"], record["step"]]
        losses = tuple(float(run["val_loss"]) for run in runs)
        times = tuple(int(run["train_time_ms"]) / 1000 for run in runs if run["train_time_ms"])
        found.append(Row(record, losses, times, judged(record)))
    return tuple(found)


def times() -> str:
    """`601 and 79`: the mean times of two sets of one program and one number of steps."""
    named = {row.record["id"]: row for row in rows()}
    both = (named["speedrun_88_baseline_1390"], named["speedrun_88_baseline_1390_8x"])
    return " and ".join(f"{mean(row.seconds):.0f}" for row in both)


def left_out() -> str:
    """How many text files of the folders gave no run, and why."""
    counted = Counter(_reason(each["why"]) for each in _read("left_out.csv"))
    runs = sum(len(_read(f"track_{track}/runs.csv")) for track in (1, 2, 3))
    listed = "; ".join(f"{n} {why}" for why, n in counted.most_common())
    said = f"""It read {runs:,} runs. {counted.total()} other text files in the folders gave none:
{listed}. `claims/speedruns/left_out.csv` names them. A run whose loss is no number would be read as
one that diverged; there is none."""
    return textwrap.fill(said, 100, break_on_hyphens=False)


def _reason(why: str) -> str:
    """The reason without its numbers of steps."""
    if why.startswith("ends at step"):
        return "ended before their last step, at none that was declared"
    return REASONS.get(why, why)


REASONS = {
    "no line with a val_loss": "are of another form, or no logs",
    "repeats other files": "repeat other files",
    "not in the clone that was read": "could not be read",
}


def judged(record: dict[str, str]) -> str:
    """The verdict of the claim about a set of runs."""
    claim = load_claim(FOLDER / record["track"] / f"{record['id']}.claim.yaml", "paper")
    with tempfile.TemporaryDirectory() as empty:
        evidence = gather(claim, RunStore(Path(empty)), read_tables(claim))
    verdict = check_claim(claim, evidence).verdict
    return str(verdict.conclusion) if verdict.validity == "VALID" else verdict.validity


def _read(name: str) -> list[dict[str, str]]:
    with (FOLDER / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


GROUPS = {
    "track 1, records": ("track_1", "record", ""),
    "track 1, records that the rule exempts": ("track_1", "record", "systems"),
    "track 1, earlier programs for comparison": ("track_1", "baseline", ""),
    "track 1, further runs": ("track_1", "trial", ""),
    "track 3, results": ("track_3", "record", ""),
    "track 3, further runs": ("track_3", "trial", ""),
}
"""Sets of runs by track, role and exemption."""


def summary() -> str:
    """How many sets of runs stand, by what they are."""
    verdicts = ("CONFIRMED", "INCONCLUSIVE", "CONTRADICTED")
    lines = [
        f"| at least three logs | sets of runs | {' | '.join(verdicts)} | e-value decides |",
        "|---|---|---|---|---|---|",
    ]
    for name, group in GROUPS.items():
        found = [row for row in rows() if _group(row) == group]
        counted = Counter(row.verdict for row in found)
        decided = sum(row.e >= 1 / ALPHAS[group[0]] for row in found)
        lines.append(_line(name, len(found), *(counted[each] for each in verdicts), decided))
    return "\n".join([*lines, "", _in_words()])


ALPHAS = {"track_1": 0.01, "track_3": 0.001}


def _in_words() -> str:
    """Which records do not stand, how scattered losses are, and how the third track's rule does."""
    records = [row for row in rows() if row.record["role"] == "record"]
    short = [row for row in records if row.record["track"] == "track_1"]
    results = [row for row in records if row.record["track"] == "track_3"]
    failed = [row for row in short if row.verdict != "CONFIRMED" and not row.record["waived"]]
    named = " and ".join(f"record {row.record['number']} (p = {row.p:.3f})" for row in failed)
    passed = sum(row.z_rule for row in results)
    estimated = sum(row.p_estimated < ALPHAS["track_3"] for row in results)
    return f"""Not confirmed in track 1, and not exempt: {named}.
The median record there has {median(len(row.losses) for row in short):.0f} runs, with a
standard deviation of {median(stdev(row.losses) for row in short):.4f}.

By the formula of track 3, {passed} of its {len(results)} results stand. By a t-test, which
estimates the standard deviation from the runs, {estimated} of them would: a few runs rarely give
a p of 0.001."""


def _group(row: Row) -> tuple[str, str, str]:
    return row.record["track"], row.record["role"], row.record["waived"]


FURTHER = """Nobody submitted these as records, and no rule asks them to pass. A *baseline* is an
earlier program that was run again, for comparison."""


def table(shown: Sequence[Row]) -> str:
    """A row per set of runs."""
    optimizers = shown[0].record["track"] == "track_3"
    last = "p, sd estimated" if optimizers else "exempt?"
    lines = [
        f"| claim | what | steps | n | mean | sd | p | verdict | {last} | *e* |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    return "\n".join([*lines, *(_cells(row) for row in shown)])


def _cells(row: Row) -> str:
    record = row.record
    if record["track"] == "track_3":
        last = _p(row.p_estimated)
    else:
        last = "by its title" if record["waived"] else "–"
    what = record["description"] or f"{record['role']}: `{record['record']}`"
    return _line(
        f"`{record['id']}`",
        what.replace("|", "/"),
        record["step"],
        len(row.losses),
        f"{mean(row.losses):.5f}",
        f"{stdev(row.losses):.5f}",
        _p(row.p),
        row.verdict,
        last,
        _e_value(row.e),
    )


def _p(p: float) -> str:
    return f"{p:.3g}" if p >= 1e-4 else "< 0.0001"


def _e_value(e: float) -> str:
    if e > 1e6:
        return "> 1,000,000"
    return f"{e:.2g}" if e < 100 else f"{e:,.0f}"


RULES = {
    "t-test at 0.01, once after the 20th run": (stopping.t_test, 0.01, False),
    "t-test at 0.01, after each run": (stopping.t_test, 0.01, True),
    "z-test at 0.001 (track 3), after each run": (stopping.z_test, 0.001, True),
    "e-process at 0.01, after each run": (stopping.e_process, 0.01, True),
}


def stopped() -> str:
    """What stopping early does to each rule."""
    lines = ["| rule | at the target | 0.5 sd below | 1 sd below |", "|---|---|---|---|"]
    for name, (rule, alpha, looks) in RULES.items():
        shares = (stopping.found(rule, below, alpha, looks=looks) for below in (0.0, 0.5, 1.0))
        lines.append(_line(name, *(f"{100 * share:.1f} %" for share in shares)))
    return STOPPING.format(
        first=stopping.FIRST,
        last=stopping.LAST,
        draws=stopping.DRAWS,
        table="\n".join(lines),
        rate=100 * stopping.found(stopping.t_test, 0.0, 0.01),
        largest=one_sided_e_value(1e9, 5, None),
    )


def _line(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"


PAGES = {"speedruns": page}
