"""Rates: of honest tables that raise a flag, and of faults that are found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from scipy.stats import beta

from benchmarks.quality.faults import FAULTS, Fault
from benchmarks.quality.gate import gate
from benchmarks.quality.honest import Drawn, Kind, draw, kinds
from repro.expectations.verdict_words import FlagKind

PROMISED = 0.01
"""The largest share of honest tables in which a rule may raise a flag."""

RULES = (
    *(FlagKind.UNITS, FlagKind.COPIED, FlagKind.SHARED, FlagKind.REPEATED, FlagKind.GAPS),
    *(FlagKind.OUTLIER, FlagKind.CORRELATED, FlagKind.FOLLOWING, FlagKind.UNEQUAL),
)
FACTORS = ("shape", "digits", "seeds", "design")


@dataclass(slots=True)
class Alarms:
    """How many tables were looked at, and in how many of them each rule raised a flag."""

    tables: int = 0
    found: Counter[str] = field(default_factory=Counter)
    exempt: Counter[str] = field(default_factory=Counter)

    def add(self, raised: set[str], exempt: set[str]) -> None:
        """One more table, which is not honest for the rules of which it is ``exempt``."""
        self.tables += 1
        self.found.update(raised - exempt)
        self.exempt.update(exempt)

    def of(self, rule: str) -> int:
        """How many tables are honest for a rule."""
        return self.tables - self.exempt[rule]

    def rate(self, rule: str) -> float:
        """The share of honest tables in which a rule raised a flag."""
        return self.found[rule] / max(1, self.of(rule))

    def bound(self, rule: str, level: float = 0.95) -> float:
        """The one-sided upper Clopper-Pearson bound of that share."""
        k, n = self.found[rule], self.of(rule)
        return 1.0 if k >= n else float(beta.ppf(level, k + 1, n - k))


def false_alarms(
    *, draws: int, seed: int, of: Callable[[Kind], bool] = lambda kind: True
) -> Alarms:
    """Alarms in so many honest tables of each kind."""
    alarms = Alarms()
    for kind in filter(of, kinds()):
        for raised, exempt in looked_at(kind, draws, seed):
            alarms.add(raised, exempt)
    return alarms


def looked_at(kind: Kind, draws: int, seed: int) -> Iterable[tuple[set[str], set[str]]]:
    """Of each table of a kind the flags, and the rules for which it is no honest table."""
    rng = np.random.default_rng([seed, *map(ord, str(kind))])
    for _ in range(draws):
        drawn = draw(kind, rng)
        yield {flag.kind.value for flag in gate(drawn).flags}, exempt(kind, drawn)


def exempt(kind: Kind, drawn: Drawn) -> set[str]:
    """The rules that should raise a flag: seeds that collapsed are far, 3 against 30 unequal."""
    found: set[str] = set()
    if kind.shape == "collapsed":
        found.add(FlagKind.OUTLIER.value)
    sizes = sorted(len(next(iter(measured.values()))) for measured in drawn.columns.values())
    if sizes[0] < 8 and sizes[-1] >= 2 * sizes[0]:
        found.add(FlagKind.UNEQUAL.value)
    return found


@dataclass(frozen=True, slots=True)
class Found:
    """How often a fault raised its own flag, and which others it raised with it."""

    fault: str
    flag: str
    rate: float
    others: Mapping[str, float]


def found(fault: Fault, *, draws: int, seed: int) -> Found:
    """The rate at which a fault is found."""
    rng = np.random.default_rng([seed, *map(ord, fault.name)])
    raised: Counter[str] = Counter()
    for _ in range(draws):
        raised.update({flag.kind.value for flag in gate(fault.draw(rng)).flags})
    rates = {kind: count / draws for kind, count in raised.items()}
    own = rates.pop(fault.flag, 0.0)
    return Found(fault.name, fault.flag, own, rates)


def all_faults(*, draws: int, seed: int) -> list[Found]:
    """The rates of all faults."""
    return [found(fault, draws=draws, seed=seed) for fault in FAULTS]
