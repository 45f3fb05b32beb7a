"""What the pages of Weights & Biases export as CSV, known by the names of its columns."""

from __future__ import annotations

import re
from collections.abc import Collection

from repro.schema.messages import Words

_ENDS = ("__MIN", "__MAX")
_CHART = re.compile(r".+ - .+")
_RUNS = frozenset({"Name", "State", "Created", "Runtime", "Sweep", "Notes", "User", "Tags"})


def wandb_export(names: Collection[str]) -> Words | None:
    """What an export is, and how it is imported; None for the columns of any other table."""
    ended = [name for name in names if name.endswith(_ENDS)]
    runs = "Name" in names and (len(_RUNS.intersection(names)) >= 3 or ended)
    if runs:
        mistake = "this is a table of runs that W&B exported: a run per row"
        advice = (
            "give each arm `import: {from: files, path: FILE.csv, each: row, "
            "where: {Group: ...}, seed: seed}`, and the measurement `from: COLUMN`"
        )
        return mistake, "arm,seed,measurement,value", advice
    if ended and any(_CHART.fullmatch(name.removesuffix(end)) for name in ended for end in _ENDS):
        mistake = "this is a chart that W&B exported: a column per run, and a row per step"
        advice = (
            'give each arm `import: {from: files, path: FILE.csv, columns: "RUN-{seed} - METRIC"}` '
            "with the names of its runs, and the measurement `from: value`"
        )
        return mistake, "a row per run, or arm,seed,measurement,value", advice
    return None
