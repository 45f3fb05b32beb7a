"""The command: ``python -m benchmarks.levels``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from benchmarks.levels import publish, table
from benchmarks.levels.cells import SEED, Cell, Experiment, degrees
from benchmarks.levels.experiments import EXPERIMENTS
from benchmarks.levels.measure import DRAWS, SD_RATIOS, SIZES, TAILS, Rate, between, grid, measure
from benchmarks.levels.power import PLANS, Promise, keep

KINDS = tuple(dict.fromkeys(one.kind.split(",")[0] for one in EXPERIMENTS))

EPILOG = """
Type I error is measured at the boundary of each null, one generator a cell from the seed and the
cell's name. Gated cells must hold: the one-sided 95 % Clopper-Pearson bound of the rate of false
CONFIRMED is at most alpha + 0.005 (the e-process, looked at every night: at most alpha). The
others are listed. With few draws the bound is wide, and a gate may break by chance alone.
Power and coverage, at level 0.05, are compared with what the design doctor promises.
Exit status: 0 all hold, 1 a gate is broken or a promise not kept, 2 wrong usage.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures what is asked for, prints it, and says whether all gates hold."""
    given = _parser().parse_args(arguments)
    rates = [] if given.only == "power" else _rates(given)
    more = _between(given) if given.publish else []
    promises = [] if given.only == "rates" else _promises(given)
    if not rates and not promises:
        print("no cell is left to measure", file=sys.stderr)
        return 2
    document = _document(given, arguments, rates, more, promises)
    if given.publish:
        publish.publish(document)
    print(json.dumps(document, indent=1) if given.json else table.text(document))
    failed = any(one.failed for one in rates)
    return int(failed or not all(one.power_kept and one.coverage_kept for one in promises))


def _rates(given: argparse.Namespace) -> list[Rate]:
    found = []
    for experiment in EXPERIMENTS:
        if _asked(experiment.kind, given.kind):
            cells = grid(experiment, given.n, given.sd_ratio, given.tails, given.alpha)
            found += _measured(given, experiment, cells)
    return found


def _between(given: argparse.Namespace) -> list[Rate]:
    """The sizes between, which only what is published needs."""
    return [rate for one in EXPERIMENTS for rate in _measured(given, one, between(one))]


def _measured(
    given: argparse.Namespace, experiment: Experiment, cells: Iterable[Cell]
) -> list[Rate]:
    found = []
    for cell in cells:
        _progress(given, f"{experiment.name} n={cell.n} {cell.sd_ratio:g}:1 {cell.tails}")
        found.append(measure(experiment, cell, draws=given.draws, seed=given.seed))
    return found


def _promises(given: argparse.Namespace) -> list[Promise]:
    found = []
    for plan in PLANS:
        if _asked(plan.kind, given.kind):
            _progress(given, f"power: {plan.name}")
            found.append(keep(plan, draws=given.draws, seed=given.seed))
    return found


def _asked(kind: str, kinds: Sequence[str]) -> bool:
    return not kinds or kind.split(",", maxsplit=1)[0] in kinds


def _progress(given: argparse.Namespace, what: str) -> None:
    if sys.stderr.isatty() and not given.json:
        print(f"\r\033[K{what}", end="\r", file=sys.stderr, flush=True)


def _document(
    given: argparse.Namespace,
    arguments: Sequence[str] | None,
    rates: Sequence[Rate],
    more: Sequence[Rate],
    promises: Sequence[Promise],
) -> dict[str, Any]:
    own = sys.argv[1:] if arguments is None else arguments
    return {
        "command": " ".join(["python -m benchmarks.levels", *own]),
        "seed": given.seed,
        "draws": given.draws,
        **publish.surroundings(),
        "rates": [one.record() for one in rates],
        "between": [one.record() for one in more],
        "promises": [one.record() for one in promises],
    }


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.levels",
        description="How often does the engine confirm what is false? Its error rates, measured.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _add_cells(parser)
    parser.add_argument("--seed", type=int, default=SEED, help="another seed (%(default)s)")
    parser.add_argument("--only", choices=("rates", "power"), help="only error rates, or power")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument(
        "--publish",
        action="store_true",
        help="write benchmarks/results/, repro/stats/levels.json and the table of the README",
    )
    return parser


def _add_cells(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--kind",
        nargs="+",
        choices=KINDS,
        default=[],
        metavar="KIND",
        help=f"only these kinds of expectation: {', '.join(KINDS)}",
    )
    parser.add_argument("--draws", type=_count, default=DRAWS, help="draws a cell (%(default)s)")
    parser.add_argument(
        "--n",
        nargs="+",
        metavar="N",
        type=_size,
        default=SIZES,
        help="replicates an arm (3 5 10 30)",
    )
    parser.add_argument(
        "--sd-ratio",
        nargs="+",
        metavar="R",
        type=_ratio,
        default=SD_RATIOS,
        help="sd of A over B (1 3)",
    )
    parser.add_argument(
        "--tails",
        nargs="+",
        metavar="T",
        type=_tails,
        default=TAILS,
        help="normal, uniform, t3, t4, ...",
    )
    parser.add_argument("--alpha", type=_alpha, default=0.05, help="level (%(default)s)")


def _count(text: str) -> int:
    _check(text, 100, 10**9)
    return int(text)


def _size(text: str) -> int:
    _check(text, 2, 1000)
    return int(text)


def _ratio(text: str) -> float:
    _check(text, 0.01, 100)
    return float(text)


def _alpha(text: str) -> float:
    _check(text, 1e-6, 0.49)
    return float(text)


def _tails(text: str) -> str:
    if text not in ("normal", "uniform"):
        degrees(text)
    return text


def _check(text: str, low: float, high: float) -> None:
    if not low <= float(text) <= high:
        raise argparse.ArgumentTypeError(f"{text} is not between {low:g} and {high:g}")


if __name__ == "__main__":
    raise SystemExit(main())
