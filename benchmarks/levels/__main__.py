"""The command: ``python -m benchmarks.levels``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.levels import publish, table
from benchmarks.levels.cells import NAMED, SEED, Cell, Experiment, degrees
from benchmarks.levels.experiments import EXPERIMENTS
from benchmarks.levels.measure import (
    DISTRIBUTIONS,
    DRAWS,
    SD_RATIOS,
    SIZES,
    grid,
    measure,
    off_grid,
)
from benchmarks.levels.plans import PLANS
from benchmarks.levels.power import keep

Record = dict[str, Any]

KINDS = tuple(dict.fromkeys(one.kind.split(",")[0] for one in EXPERIMENTS))

EPILOG = """
Type I error is measured at the boundary of each null, one generator a cell from the seed and the
cell's name. Gated cells must hold: the one-sided 95 % Clopper-Pearson bound of the rate of false
conclusions is at most alpha + 0.005 (the e-process, looked at every night: at most alpha; a half
of alpha where the question is two-sided and its boundary is not). The others are listed. With few
draws the bound is wide, and a gate may break by chance alone. Power and coverage, at level 0.05,
are compared with what the design doctor promises.
Cells that the committed results or --rows hold, with this seed and these draws, are not measured
again by --publish; --again measures all of them. What has changed in a rule has to be measured
again: name its kinds with --kind and --again.
Exit status: 0 all hold, 1 a gate is broken or a promise not kept, 2 wrong usage.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures what is asked for, prints it, and says whether all gates hold."""
    given = _parser().parse_args(arguments)
    known = publish.known(given.rows, committed=given.publish, except_kinds=_anew(given))
    rates = [] if given.only == "power" else _rates(given, known)
    more = _off_grid(given, known) if given.publish or given.off_grid else []
    promises = [] if given.only == "rates" else _promises(given)
    if not (rates or more or promises):
        print("no cell is left to measure", file=sys.stderr)
        return 2
    document = _document(given, arguments, rates, more, promises)
    if given.publish:
        publish.publish(document)
    print(json.dumps(document, indent=1) if given.json else table.text(document))
    failed = any(one["verdict"] == "FAILS" for one in (*rates, *more))
    return int(failed or not all(one["kept"] for one in promises))


def _anew(given: argparse.Namespace) -> tuple[str, ...]:
    """The kinds whose committed cells are measured again."""
    return tuple(given.kind or KINDS) if given.again else ()


def _rates(given: argparse.Namespace, known: publish.Known) -> list[Record]:
    found = []
    for experiment in _experiments(given):
        cells = grid(experiment, given.n, given.sd_ratio, given.distribution, given.alpha)
        found += _measured(given, experiment, cells, known)
    return found


def _off_grid(given: argparse.Namespace, known: publish.Known) -> list[Record]:
    """The cells beside the grid."""
    return [
        rate for one in _experiments(given) for rate in _measured(given, one, off_grid(one), known)
    ]


def _experiments(given: argparse.Namespace) -> list[Experiment]:
    """Those of the kinds asked for; what is published has all kinds."""
    return [one for one in EXPERIMENTS if given.publish or _asked(one.kind, given.kind)]


def _measured(
    given: argparse.Namespace, experiment: Experiment, cells: Iterable[Cell], known: publish.Known
) -> list[Record]:
    found = []
    for cell in cells:
        row = _rate(given, experiment, cell, known, experiment.draws(cell, given.draws))
        dear = experiment.most_draws < given.draws
        if publish.may_be_chance(row) and row["draws"] < given.draws and not dear:
            row = _rate(given, experiment, cell, known, given.draws)
        found.append(row)
    return found


def _rate(
    given: argparse.Namespace, experiment: Experiment, cell: Cell, known: publish.Known, draws: int
) -> Record:
    """The rate of a cell by so many draws, or by all of them if that is known."""
    for each in (given.draws, draws):
        if row := known.get(publish.place(experiment, cell, each, given.seed)):
            return row
    _progress(given, f"{experiment.name} {cell.place}")
    row = measure(experiment, cell, draws=draws, seed=given.seed).record()
    row["date"] = publish.today()
    if given.rows:
        publish.append(given.rows[0], row)
    return row


def _promises(given: argparse.Namespace) -> list[Record]:
    found = []
    known = publish.known_promises() if given.publish and not given.again else {}
    for plan in PLANS:
        row = known.get((plan.name, plan.planned.n[0], plan.planned.truth))
        if row is not None:
            found.append(row)
        elif given.publish or _asked(plan.kind, given.kind):
            _progress(given, f"power: {plan.name}")
            found.append(keep(plan, draws=given.draws, seed=given.seed).record())
    return found


def _asked(kind: str, kinds: Sequence[str]) -> bool:
    return not kinds or kind.split(",", maxsplit=1)[0] in kinds


def _progress(given: argparse.Namespace, what: str) -> None:
    if sys.stderr.isatty() and not given.json:
        print(f"\r\033[K{what}", end="\r", file=sys.stderr, flush=True)


def _document(
    given: argparse.Namespace,
    arguments: Sequence[str] | None,
    rates: Sequence[Record],
    more: Sequence[Record],
    promises: Sequence[Record],
) -> dict[str, Any]:
    own = [Path(each).name for each in (sys.argv[1:] if arguments is None else arguments)]
    return {
        "command": " ".join(["python -m benchmarks.levels", *own]),
        "seed": given.seed,
        "draws": given.draws,
        **publish.surroundings(),
        "rates": rates,
        "off_grid": more,
        "promises": promises,
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
    parser.add_argument("--off-grid", action="store_true", help="also the cells beside the grid")
    parser.add_argument(
        "--rows",
        nargs="+",
        type=Path,
        default=[],
        metavar="FILE",
        help="JSON lines of cells measured before; what is measured now is added to the first",
    )
    parser.add_argument("--again", action="store_true", help="measure committed cells again, too")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument(
        "--publish",
        action="store_true",
        help="write benchmarks/results/, repro/stats/levels.json and the page of error rates",
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
        "--distribution",
        nargs="+",
        metavar="T",
        type=_distribution,
        default=DISTRIBUTIONS,
        help="normal, uniform, lognormal, collapsed, t3, t4, ...",
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


def _distribution(text: str) -> str:
    if text not in NAMED:
        degrees(text)
    return text


def _check(text: str, low: float, high: float) -> None:
    if not low <= float(text) <= high:
        raise argparse.ArgumentTypeError(f"{text} is not between {low:g} and {high:g}")


if __name__ == "__main__":
    raise SystemExit(main())
