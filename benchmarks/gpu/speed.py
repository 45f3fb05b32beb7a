"""The command: ``python -m benchmarks.gpu.speed --device cuda --out FOLDER``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import torch

from benchmarks.gpu import graphs, host, many
from benchmarks.gpu.command import add_device, add_out, computing, surroundings, write
from benchmarks.gpu.many import Asked
from benchmarks.gpu.stopwatch import HEAD, Failed, Measured, forget_peak, peak_bytes, timed
from benchmarks.gpu.workloads import (
    PRECISIONS,
    WORKLOADS,
    corpus_of,
    epoch_tokens,
    specification,
)
from benchmarks.speed.shapes import run_of
from benchmarks.speed.table import piped
from repro.trainers.devices import shared_by_mps

Finding = Measured | Failed | tuple[str, str]
MUCH_FASTER = 0.8
"""A way that takes less than this share of the default's time speaks against it."""
PARTS = ("one", "many", "graphs", "compile", "host")
EXPLANATION = (
    "Random words, as many as the corpus has; windows, masks and sizes are the papers'. An epoch "
    "is the time of the timed steps times its predicted tokens over theirs, without validation. "
    "Parts: `one` replicate; `many`, ten of Softmax; `graphs`, what a CUDA graph could save; "
    "`compile`; `host`, what the host costs."
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Times what is asked for, prints it, and writes it after each finding."""
    given = _parser().parse_args(arguments)
    done: list[Finding] = []
    with computing(given.device) as facts:
        for finding in findings(given):
            done.append(finding)
            print(" | ".join(_cells(finding)), file=sys.stderr, flush=True)
            _write(given, facts, done)
    print(_markdown(given, facts, done))
    return 0


def findings(given: argparse.Namespace) -> Iterator[Finding]:
    """Part after part, those that matter most first."""
    ten = [
        Asked(name, products, given.device, given.steps, given.device == "cpu")
        for name in given.only or WORKLOADS
        for products in PRECISIONS
    ]
    asked = [replace(one, replicates=1) for one in ten]
    first = [one for one in ten if one.name == "ptb_softmax"]
    if "one" in given.parts:
        for one in asked:
            yield alone(one)
            if one.products is None:
                yield alone(one, dropout=False)
    for one in first if "many" in given.parts else []:
        ways = list(many.ways(one))
        yield from ways
        yield from default_engine(one, ways)
    for one in first if "graphs" in given.parts else []:
        for each in (replace(one, replicates=1), one):
            yield from graphs.whole_steps(each)
            yield from graphs.recurrences(each)
    for one in [*asked, *first] if "compile" in given.parts else []:
        yield from graphs.compiled(one)
    for one in asked if "host" in given.parts else []:
        if one.products is None:
            title = WORKLOADS[one.name].title
            yield from ((f"{title}: {what}", value) for what, value in host.costs(one))


def default_engine(asked: Asked, ways: Sequence[Measured | Failed]) -> Iterator[tuple[str, str]]:
    """Whether this device agrees with the default: one model, or where MPS runs a process each."""
    default = "a process each" if shared_by_mps() else "together"
    epochs = {
        one.what.removeprefix(f"{asked.title}, "): one.epoch_seconds
        for one in ways
        if isinstance(one, Measured)
    }
    if default in epochs:
        fastest = min(epochs, key=lambda way: epochs[way])
        share = epochs[fastest] / epochs[default]
        word = "agrees" if share >= MUCH_FASTER else "disagrees"
        found = f"{word}: the fastest way, {fastest}, takes {share:.2f} of its time"
        yield f"{asked.title}: the default engine on a GPU, {default}", found


def alone(asked: Asked, *, dropout: bool = True) -> Measured:
    """One replicate."""
    device = torch.device(asked.device)
    spec = specification(asked.name, asked.products, tiny=asked.tiny, dropout=dropout)
    forget_peak(device)
    watch = timed([run_of(spec)], corpus_of(spec), device, asked.steps)
    workload = WORKLOADS[asked.name]
    without = "" if dropout else ", without dropout"
    return Measured(
        f"{workload.title}, {asked.products or 'float32'}{without}",
        asked.steps,
        watch.tokens,
        watch.ended - watch.began,
        epoch_tokens(spec),
        peak=peak_bytes(device),
        goal=None if asked.tiny or not dropout else workload.goal,
    )


def _cells(finding: Finding) -> tuple[str, ...]:
    return finding if isinstance(finding, tuple) else finding.cells()


def _write(given: argparse.Namespace, facts: Mapping[str, Any], done: Sequence[Finding]) -> None:
    records = [
        dict(zip(("what", "value"), one, strict=True))
        if isinstance(one, tuple)
        else asdict(one)
        | ({"epoch_seconds": one.epoch_seconds} if isinstance(one, Measured) else {})
        for one in done
    ]
    document = {"facts": facts, "steps": given.steps, "findings": records}
    write(given.out, f"speed-{'-'.join(given.parts)}", document, _markdown(given, facts, done))


def _markdown(given: argparse.Namespace, facts: Mapping[str, Any], done: Sequence[Finding]) -> str:
    times = [_cells(one) for one in done if not isinstance(one, tuple)]
    told = [one for one in done if isinstance(one, tuple)]
    lengths = ", ".join(
        f"{epoch_tokens(specification(name)):,} tokens ({WORKLOADS[name].title})"
        for name in given.only or WORKLOADS
    )
    parts = [
        "# Speed on a device",
        surroundings(facts),
        f"{EXPLANATION} {given.steps} steps timed after warm-ups; an epoch is {lengths}.",
    ]
    if given.device == "cpu":
        parts.append("Tiny sizes on a CPU: this shows that the code runs, and no speed.")
    parts += [piped([HEAD, *times])] if times else []
    parts += [piped([("what else was found", ""), *told])] if told else []
    return "\n\n".join(parts) + "\n"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.gpu.speed",
        description="Seconds an epoch at the papers' sizes, one replicate and ten.",
    )
    add_device(parser)
    add_out(parser)
    parser.add_argument("--steps", type=int, default=50, help="timed a contender (%(default)s)")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, help="only these")
    parser.add_argument("--only", nargs="+", choices=tuple(WORKLOADS), help="only these")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
