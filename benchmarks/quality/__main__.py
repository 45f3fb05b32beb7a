"""The command: ``python -m benchmarks.quality``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import Any

from benchmarks.levels.publish import RESULTS, surroundings
from benchmarks.quality.honest import kinds
from benchmarks.quality.measure import FACTORS, PROMISED, RULES, Alarms, all_faults, looked_at

SEED = 20_261_122
DRAWS = 60
FAULTY = 200

EPILOG = """
Honest tables of every kind are drawn, and each goes through the gate of quality as a table of a
claim does. A rule holds where the one-sided 95 % bound of its rate over all tables is at most 1 %.
Tables in which seeds collapsed are not honest for the rule about a seed far from its arm, nor 3
seeds against 30 for that about unequal numbers. Exit status: 0 all rules hold, 1 one does not.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures false alarms and detection, prints them, and says whether all rules hold."""
    parser = argparse.ArgumentParser("benchmarks.quality", description=__doc__, epilog=EPILOG)
    parser.add_argument("--draws", type=int, default=DRAWS, help="honest tables of each kind")
    parser.add_argument("--faulty", type=int, default=FAULTY, help="tables of each fault")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--publish", action="store_true", help="write benchmarks/results")
    given = parser.parse_args(arguments)
    alarms = measure(given.draws, given.seed)
    every = alarms["all"]
    command = " ".join(
        ["python -m benchmarks.quality", *(sys.argv[1:] if arguments is None else arguments)]
    )
    document: dict[str, Any] = {
        "command": command,
        **surroundings(),
        "seed": given.seed,
        "tables": every.tables,
        "promised": PROMISED,
        "rules": [
            {
                "rule": rule.value,
                "alarms": every.found[rule],
                "of": every.of(rule),
                "rate": round(every.rate(rule), 5),
                "bound": round(every.bound(rule), 5),
                "by": {name: round(one.rate(rule), 5) for name, one in alarms.items()},
            }
            for rule in RULES
        ],
        "faults": [
            {"fault": one.fault, "flag": one.flag, "found": one.rate, "others": one.others}
            for one in all_faults(draws=given.faulty, seed=given.seed)
        ],
    }
    text = markdown(document)
    print(text)
    if given.publish:
        stem = RESULTS / f"quality-{document['date']}"
        stem.with_suffix(".json").write_text(
            json.dumps(document, indent=1) + "\n", encoding="utf-8"
        )
        stem.with_suffix(".md").write_text(text, encoding="utf-8")
    return int(any(every.bound(rule) > PROMISED for rule in RULES))


def measure(draws: int, seed: int) -> dict[str, Alarms]:
    """The alarms of all tables, and of those of each shape, digits, number of seeds and design."""
    alarms = {"all": Alarms()}
    for kind in kinds():
        groups = [f"{name}: {getattr(kind, name)}" for name in FACTORS]
        for raised, exempt in looked_at(kind, draws, seed):
            for name in ("all", *groups):
                alarms.setdefault(name, Alarms()).add(raised, exempt)
    return alarms


def markdown(document: dict[str, Any]) -> str:
    """The rates as tables."""
    promised = f"{document['promised']:.0%}"
    versions = ", ".join(f"{name} {number}" for name, number in document["versions"].items())
    lines = [
        "# The gate of quality: false alarms and detection",
        "",
        f"`{document['command']}`, seed {document['seed']}.",
        "",
        f"{document['date']}, {document['machine']}, {versions}.",
        "",
        f"Promised of each rule: a false alarm in at most {promised} of honest tables.",
        "",
        "| rule | alarms | honest tables | rate | 95 % bound | worst group |",
        "|---|---|---|---|---|---|",
    ]
    for one in document["rules"]:
        group, rate = max(one["by"].items(), key=lambda pair: pair[1])
        worst = f"{group}, {rate:.2%}" if rate else "none"
        lines.append(
            f"| {one['rule']} | {one['alarms']} | {one['of']:,} | {one['rate']:.2%} | "
            f"{one['bound']:.2%} | {worst} |"
        )
    lines += ["", "| planted fault | flag | found | raised with it |", "|---|---|---|---|"]
    for one in document["faults"]:
        others = ", ".join(f"{kind} {rate:.0%}" for kind, rate in sorted(one["others"].items()))
        lines.append(
            f"| {one['fault']} | {one['flag']} | {one['found']:.0%} | {others or 'none'} |"
        )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
