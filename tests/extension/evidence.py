"""A source of evidence in one file: results in JSON lines, as many training scripts write them."""

from __future__ import annotations

import hashlib
import json

from repro.extend import OwnSource, TableSource, TidyTable


class JsonLines(OwnSource):
    """``file`` has a line per seed: {"seed": 3, "loss": 0.71, ...}."""

    shown = "JSON lines"

    file: str

    def resolve(self, at):
        """The file has to be in the folder of the claim."""
        problem = at.missing_file("file", self.file, sort="log", ending="jsonl")
        return (None, (problem,)) if problem else super().resolve(at)

    def values(self, schema, folder):
        """The values of every arm that names this file, by seed and measurement."""
        text = (folder / self.file).read_text(encoding="utf-8")
        rows = [json.loads(line) for line in text.splitlines()]
        seeds = {
            row["seed"]: {name: row[name] for name in schema.measurements if name in row}
            for row in rows
        }
        source = TableSource(self.file, hashlib.sha256(text.encode()).hexdigest())
        return TidyTable(source, dict.fromkeys(schema.arms, seeds))
