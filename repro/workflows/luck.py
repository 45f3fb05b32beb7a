"""What luck alone does: the noise floor, what of a loop stands above it, and stopping in time."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING

from repro.drafting.claim_text import Better, MeanLimit
from repro.errors import ClaimError, DataError
from repro.expectations.verdict_words import Validity
from repro.judging.document import Document
from repro.results.forms import refused
from repro.results.loop_log import Experiment, read_loop
from repro.results.record_logs import read_alone
from repro.results.run_fields import Hints
from repro.schema import numbers as fmt
from repro.schema.numbers import number_of
from repro.stats.noise_floor import LEAST_RUNS, NoiseFloor, lucky_records

if TYPE_CHECKING:
    from repro.stats.optional_stopping import Crossed

SEEDS = (3, 5, 10)
"""Seeds per side of which the smallest difference is said."""

SHOWN = 10


@dataclass(frozen=True, slots=True)
class NoiseOptions:
    """The baseline, the size that is to be found, and the log of a loop with it."""

    baseline: Path
    hints: Hints = field(default_factory=Hints)
    find: float | None = None
    log: Path | None = None
    better: Better | None = None
    alpha: float = 0.05
    step: int | None = None


@dataclass(frozen=True, slots=True)
class Loop:
    """A log against the noise floor: what luck would keep, and what gains more than luck.

    ``limit`` is the gain of one of ``experiments`` that luck gives in alpha of such logs.
    ``gains`` are those of what was kept, by name, over the best before it, ``first`` is the value
    that was kept first.
    """

    experiments: int
    crashed: int
    lucky: float
    limit: float
    gains: tuple[tuple[str, float], ...]
    first: float

    @property
    def real(self) -> tuple[tuple[str, float], ...]:
        """The gains above the limit."""
        return tuple(each for each in self.gains if each[1] > self.limit)

    @property
    def again(self) -> tuple[tuple[str, float], ...]:
        """The gains that luck explains; what was kept for another reason has none."""
        return tuple(each for each in self.gains if 0 < each[1] <= self.limit)


@dataclass(frozen=True, slots=True)
class Noise:
    """The noise floor of the number ``measure``; ``find`` is the size that is to be found."""

    measure: str
    mean: float
    floor: NoiseFloor
    find: float
    read: tuple[str, ...]
    loop: Loop | None = None


def noise(options: NoiseOptions) -> Noise:
    """Read the baseline, and the log. ClaimError where they cannot be read, or say nothing."""
    try:
        results = read_alone(options.baseline, options.baseline.parent, options.hints, options.step)
    except DataError as error:
        raise ClaimError(str(error)) from error
    if len(results.runs) > 1:
        mistake = f"several arms are in it: {', '.join(results.runs)}"
        raise refused(options.baseline, mistake, "runs of the baseline alone", "leave out the rest")
    if results.tasks:
        advice = f"name one, as in --task {results.tasks[0]}"
        raise refused(options.baseline, "the runs are of several tasks", "runs of one task", advice)
    ((_, runs),) = results.runs.items()
    values = [run.value for run in runs if run.value is not None]
    if len(values) < LEAST_RUNS:
        mistake = f"{number_of(len(values), 'run')} with a value: too few to see how runs scatter"
        expected = f"{LEAST_RUNS} or more; ten say it to a factor of 1.8"
        raise refused(options.baseline, mistake, expected, "run the baseline with more seeds")
    try:
        floor = NoiseFloor(len(values), stdev(values), options.alpha)
    except ClaimError as error:
        expected, advice = "runs that differ", "write more digits, or change the seed of each run"
        raise refused(options.baseline, str(error), expected, advice) from None
    said = list(results.said)
    if lost := len(runs) - len(values):
        said.append(f"without a value, and not counted: {number_of(lost, 'run')}")
    loop = None
    if options.log is not None:
        if options.better is None:
            advice = "to do: say which numbers are better, --better lower or higher"
            raise ClaimError(f"--log needs --better\n  {advice}")
        log, left = read_loop(options.log, results.called)
        loop = loop_of(log, floor, options.better)
        said += left
    mean, find = fmean(values), options.find or floor.sd
    return Noise(results.called, mean, floor, find, tuple(said), loop)


def loop_of(log: Sequence[Experiment], floor: NoiseFloor, better: Better) -> Loop:
    """Each that was kept against the best before it; the first that was kept is the baseline."""
    sign = 1 if better == "higher" else -1
    kept = [
        (each.name, sign * each.value)
        for each in log
        if each.fate == "kept" and each.value is not None
    ]
    tried = len(log) - 1
    best, gains = kept[0][1], list[tuple[str, float]]()
    for name, value in kept[1:]:
        gains.append((name, value - best))
        best = max(best, value)
    crashed = sum(each.fate == "crashed" for each in log)
    limit = floor.single(max(tried, 1), sides=1)
    lucky = lucky_records(tried - crashed)
    return Loop(tried, crashed, lucky, limit, tuple(gains), sign * kept[0][1])


def doubts_of(found: Noise) -> Iterator[str]:
    """What speaks against the log: another direction, or runs unlike those of the baseline."""
    if (loop := found.loop) is None:
        return
    if loop.gains and all(gain < 0 for _, gain in loop.gains):
        yield (
            "all that was kept is worse than the first experiment: check the direction of --better"
        )
    if abs(loop.first - found.mean) > found.floor.single():
        first, mean = (fmt.significant(each, 4) for each in (loop.first, found.mean))
        yield (
            f"the first experiment of the log has {first}, and the mean of the baseline is {mean}, "
            "further apart than two runs of one program: the noise floor may be of another one"
        )


def told(found: Noise) -> Iterator[str]:
    """The noise floor in a few lines."""
    floor, (low, high) = found.floor, found.floor.reach
    mean = fmt.fixed(found.mean, max(1 - math.floor(math.log10(floor.sd)), 0))
    reach = f"{fmt.significant(low, 2)} to {fmt.significant(high, 2)}"
    yield (
        f"noise floor of {found.measure}: {floor.runs} runs, mean {mean}, standard "
        f"deviation {fmt.significant(floor.sd, 3)} (the true one, with 95 %: {reach})"
    )
    first, *others = (fmt.significant(floor.between_means(n), 2) for n in SEEDS)
    more = [f"{n}: {limit}" for n, limit in zip(SEEDS[1:], others, strict=True)]
    more.insert(0, f"one run per side: {fmt.significant(floor.single(), 2)}")
    yield (
        f"  with {SEEDS[0]} seeds per side a difference under {first} cannot be told from luck at "
        f"{fmt.percent(floor.alpha)} ({'; '.join(more)})"
    )
    few, many = (floor.seeds_to_find(found.find, sd=sd) for sd in (low, high))
    needed = floor.seeds_to_find(found.find)
    yield (
        f"  to find {fmt.significant(found.find, 3)} four times in five takes {_count(needed)} "
        f"seeds per side ({_count(few)} to {_count(many)}, for the scatter is known no better)"
    )
    why = f"{floor.runs} runs of the baseline"
    pairs = math.sqrt(2) * floor.sd
    yield f'  for a claim: planned_sd: {{{found.measure}: {{sd: {floor.sd:.4g}, why: "{why}"}}}}'
    less = "less where pairs share luck"
    yield f"  for `design: paired`: sd_of_differences: {pairs:.4g} there, {less}"
    if found.loop is not None:
        yield from _told_of_loop(found.loop, floor)
        yield from (f"  caution: {doubt}" for doubt in doubts_of(found))


def as_json(found: Noise) -> dict[str, object]:
    """What a program reads of it; sizes are in the units of the number."""
    floor, (low, high) = found.floor, found.floor.reach
    shown: dict[str, object] = {
        "measure": found.measure,
        "runs": floor.runs,
        "mean": found.mean,
        "sd": floor.sd,
        "sd_low": low,
        "sd_high": high,
        "alpha": floor.alpha,
        "single_runs": floor.single(),
        "with_seeds": {str(n): floor.between_means(n) for n in SEEDS},
        "find": found.find,
        "seeds_to_find": floor.seeds_to_find(found.find),
    }
    if (loop := found.loop) is not None:
        shown["loop"] = {
            "experiments": loop.experiments,
            "crashed": loop.crashed,
            "kept": len(loop.gains),
            "kept_by_luck": loop.lucky,
            "limit": loop.limit,
            "above": [{"name": name, "gain": gain} for name, gain in loop.real],
            "run_again": [{"name": name, "gain": gain} for name, gain in loop.again],
            "doubts": [*doubts_of(found)],
        }
    return shown


def _told_of_loop(loop: Loop, floor: NoiseFloor) -> Iterator[str]:
    kept, real = len(loop.gains), loop.real
    crashed = f", {loop.crashed} without a value" if loop.crashed else ""
    yield (
        f"research loop: {number_of(loop.experiments, 'experiment')} after the first, {kept} "
        f"kept{crashed}; without any effect luck alone would keep {fmt.significant(loop.lucky, 2)}"
    )
    limit, level = fmt.significant(loop.limit, 2), fmt.percent(floor.alpha)
    yield (
        f"  {len(real)} of {kept} gain more than {limit}, which luck gives one of so many "
        f"experiments in at most {level} of such loops{_names(real)}"
    )
    if rest := loop.again:
        yield f"  run again with fresh seeds before building on them: {len(rest)}{_names(rest)}"


def _names(gains: Sequence[tuple[str, float]]) -> str:
    """`: abc123 (0.012), ...`, the largest first."""
    first = sorted(gains, key=lambda each: -each[1])[:SHOWN]
    shown = [f"{name} ({fmt.significant(gain, 2)})" for name, gain in first]
    more = ["..."] if len(gains) > SHOWN else []
    return f": {', '.join((*shown, *more))}" if shown else ""


def _count(seeds: int | None) -> str:
    return "too many" if seeds is None else fmt.count(seeds)


FIRST_LOOK = 3
"""The run after which somebody may first have looked: no fewer are judged."""

KNOWN = 1e9
"""Degrees of freedom at which a known standard deviation is as good as an estimated one."""

WIDER = 4
"""So many times as much as the old record a new one may scatter."""


def stopping(document: Document, level: MeanLimit | None, gain: tuple[Better, float] | None) -> str:
    """What it does to a record that its number of runs was decided after looking; empty without n.

    The record is held against a ``level``, or is to be better than another by more than a
    ``gain``. How often it passes at some look, exactly at that border, is simulated; the e-value
    is valid however one stops, if values are about normal.
    """
    if document.verdict.validity != Validity.VALID or not document.results:
        return ""
    if level is not None:
        return _at_level(document, level)
    return "" if gain is None else _against(document, *gain)


def _at_level(document: Document, level: MeanLimit) -> str:
    from repro.stats import optional_stopping as simulated

    if not document.arms[0].summaries:
        return ""
    result, summary = document.results[0], document.arms[0].summaries[0]
    spread = level.sd[0] if level.sd else summary.sd
    n, alpha = summary.n or 0, result.alpha
    if not (n > 1 and spread and result.p is not None):
        return ""
    below = level.limit - summary.mean if level.side == "at_most" else summary.mean - level.limit
    looks = _Looks(n, None, KNOWN if level.sd else None, alpha)
    rule = simulated.z_test if level.sd else simulated.t_test
    return looks.told(below / spread * math.sqrt(n), rule, "exactly at the limit")


def _against(document: Document, better: Better, by: float) -> str:
    """The same of a record against another, which has its runs; of pairs each is a new one."""
    from repro.stats import optional_stopping as simulated
    from repro.stats.contrast import Contrast

    result = document.results[0]
    sizes = {arm.id: each.n for arm in document.arms for each in arm.summaries}
    n, old = (sizes.get(arm) or 0 for arm in result.arms)
    reach, df, effect = result.interval, result.df, result.effect
    if not (df and old > 1 and reach and effect is not None):
        return ""
    if reach.low is None or reach.high is None:
        return ""
    se = (reach.high - reach.low) / 2 / Contrast(0.0, 1.0, df).interval(reach.level).high
    t = ((-effect if better == "lower" else effect) - by) / se
    paired = document.claim.design == "paired"
    looks = _Looks(round(df) + 1 if paired else n, None if paired else old, df, result.alpha)
    border = f"better by exactly {by:g}" if by else "no better"
    return looks.told(t, simulated.t_test, f"that are {border}")


@dataclass(frozen=True, slots=True)
class _Looks:
    """The runs, or pairs, after each of which somebody may have looked, and those of another."""

    n: int
    old: int | None
    df: float | None
    alpha: float

    def told(self, t: float, rule: Crossed, border: str) -> str:
        """How often ``rule`` is met at some look at a ``border``, and the e-value of ``t``."""
        from repro.stats.anytime import one_sided_e_value

        e = float(one_sided_e_value(t, self.n, self.old, df=self.df))
        largest, needed = float(one_sided_e_value(1e9, self.n, self.old)), 1 / self.alpha
        least = f"{float(f'{needed:.3g}'):g}"
        decides = "decides" if e >= needed else "does not decide"
        if self.df != KNOWN and largest < needed:
            decides = f"cannot decide with {self.n} runs"
        how = "valid" if self.old is None else "which keeps about its level"
        how += " however one stops if values are about normal"
        allowed = f"the e-value, {how}, is {fmt.e_value(e)} and {decides}"
        if self.n <= FIRST_LOOK:
            return f"{allowed} ({least} is needed)"
        return (
            f"stopping: had somebody looked after each run from run {FIRST_LOOK} on, "
            f"p < {self.alpha:g} would come by chance in {self._rate(rule)} of records {border}, "
            f"with up to {self.n} runs; {allowed} ({least} is needed)"
        )

    def _rate(self, rule: Crossed) -> str:
        from repro.stats import optional_stopping as simulated

        first, last = FIRST_LOOK, self.n
        if self.old is None:
            return fmt.share(simulated.found(rule, 0.0, self.alpha, first=first, last=last), 2)
        alike, wider = (
            simulated.found_against(self.old, self.alpha, each, first=first, last=last)
            for each in (1, WIDER)
        )
        more = f"{fmt.share(wider, 2)} where the new one has {WIDER} times that of the old"
        return f"{fmt.share(alike, 2)} (equal scatter; {more})"
