"""The command: ``python -m benchmarks.gpu.product --device cuda --out FOLDER``.

Verifies tiny claims with every measurement on the CPU, each run alone, and on the device by the
engine that is the default there, and compares every value of every run.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from benchmarks.gpu.checks import Check, table
from benchmarks.gpu.command import add_device, add_out, computing, surroundings, write

HERE: Final = Path(__file__).parent
CLAIM: Final = HERE / "product.claim.yaml"
RELATIVE: Final = 1e-3
"""After three epochs. On a CPU, replicates trained alone and together agree to 4e-5; LMS-PLIF does
so in float64 only: in float32 a value next to a knot has one slope or another, and by the end
perplexities differ by 0.7 %."""
ROUNDED: Final = "moc"
"""The arm with products in TF32, which no CPU has: it is another training there, and only told."""
SMALL: Final = 1e-6
"""Divergences of almost untrained models are near 0: below this only the difference counts."""
COUNTED: Final = frozenset({"rank", "first_contexts", "noisy", "effective", "hits", "given"})
"""They count what lies above a threshold, and round-off moves one across it: told, not judged."""
DIALOGS: Final = """schema: 1
id: dialogs
title: Every measurement of a dialog model, on tiny ones
source: {own: "made to compare two devices; nothing is claimed"}
arms:
  softmax: {label: Softmax, configuration: own/echo}
  mos:
    label: MoS
    configuration: own/echo
    override: {model: {output: {kind: mos, components: 2}}}
design: independent
seeds: {min: 3, plan: 3}
measurements:
  perplexity: {kind: perplexity, split: test}
  rank: {kind: rank, split: test}
  bleu:
    kind: bleu
    order: 1
    side: recall
    smoothing: add_one
    beam: {size: 3, longest: 5, kept: 2}
expectations:
  - id: differ
    kind: difference
    measurement: perplexity
    of: [mos, softmax]
    direction: lower
    smallest_effect: {abs: 1, why: "nothing is claimed; a claim needs an expectation"}
scales: {quick: {notice: "Tiny models, to compare two devices."}}
"""
ECHO: Final = """schema: 1
title: echo
source: "made to compare two devices"
{corpus}
model:
  kind: seq2seq
  embedding_size: 4
  utterance_size: 4
  dialog_size: 6
  context_size: 6
  output: {{kind: softmax}}
recipe:
  precision: float64
  epochs: 6
  batch_size: 10
  optimiser: {{kind: adam, learning_rate: 0.05}}
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints a table of the measurements, and says by its exit status whether a bound is broken."""
    given = _parser().parse_args(arguments)
    done: list[Check] = []
    with TemporaryDirectory() as folder, computing(given.device) as facts:
        for claim in (CLAIM, dialogs(Path(folder))):
            done += compared(claim, Path(folder), given.device)
            text = "\n\n".join(("# The product on a device", surroundings(facts), table(done)))
            records = {"facts": facts, "checks": [check.record() for check in done]}
            write(given.out, "product", records, f"{text}\n")
    print(text)
    return int(not all(check.kept for check in done))


def compared(claim: Path, folder: Path, device: str) -> Iterator[Check]:
    """For each measurement the largest departure of a value from the CPU's."""
    expected, found = (values(claim, folder / f"{n}", on) for n, on in enumerate(("cpu", device)))
    yield Check(f"{claim.stem}: runs that have no value", float(len(expected.keys() ^ found)), 0.0)
    for name in dict.fromkeys(key[-1] for key in expected):
        for rounded in (False, True):
            pairs = [
                (value, found[key])
                for key, value in expected.items()
                if key[-1] == name and key in found and (key[0] == ROUNDED) is rounded
            ]
            if pairs:
                told = rounded or name in COUNTED
                what = f"{name}, {len(pairs)} runs{' with products in TF32' if rounded else ''}"
                far = max(_departure(*pair) for pair in pairs)
                yield Check(what, far, None if told else RELATIVE)


def values(claim: Path, folder: Path, device: str) -> dict[tuple[str, int, str], float]:
    """Every value that a verification on the device gives, by arm, seed and measurement."""
    places = ["--store", str(folder / "store"), "--reports", str(folder / "reports")]
    data = ["--data", str(claim.parent / "data")] if claim != CLAIM else []
    command = [sys.executable, "-m", "repro", "verify", str(claim), "--json"]
    done = subprocess.run(
        [*command, *places, *data, "--device", device],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
        cwd=claim.parent,
        env={**os.environ, "PYTHONPATH": _path()},
    )
    if not done.stdout:
        raise SystemExit(f"repro verify on {device} ended with status {done.returncode}")
    document: Mapping[str, Any] = json.loads(done.stdout)
    return {
        (arm["id"], run["number"], name): value
        for arm in document["arms"]
        for run in arm["replicates"]
        for name, value in run["values"].items()
        if value is not None
    }


def dialogs(folder: Path) -> Path:
    """A claim on dialogs in which the first word of what was said is said again."""
    chance = random.Random(3)
    corpus = folder / "data" / "echo"
    corpus.mkdir(parents=True)
    for split, count in (("train", 40), ("valid", 6), ("test", 6)):
        lines = []
        for _ in range(count):
            said = [chance.choice("abcde") for _ in range(2)]
            texts = [" ".join(said), said[0], said[0]]
            lines.append(json.dumps({"dialog": "1", "utterances": [["A", t, "x"] for t in texts]}))
        (corpus / f"{split}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    described = subprocess.run(
        [sys.executable, "-m", "repro", "corpus", str(corpus)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": _path()},
    )
    configurations = folder / "configurations" / "own"
    configurations.mkdir(parents=True)
    text = ECHO.format(corpus=described.stdout)
    (configurations / "echo.yaml").write_text(text, encoding="utf-8")
    claim = folder / "dialogs.claim.yaml"
    claim.write_text(DIALOGS, encoding="utf-8")
    return claim


def _departure(expected: float, found: float) -> float:
    """Relative, or 0 where both differ by less than what counts."""
    difference = abs(found - expected)
    return 0.0 if difference <= SMALL else difference / abs(expected or SMALL)


def _path() -> str:
    """This checkout first, for a program that is started in another folder."""
    return os.pathsep.join([str(HERE.parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.gpu.product",
        description="Does `repro verify` find on the device what it finds on the CPU?",
    )
    add_device(parser)
    add_out(parser)
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
