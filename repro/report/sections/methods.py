"""How the claim was run: configurations, assumed values, every run, and the machine."""

from __future__ import annotations

from typing import Any

from repro.judging.document import ArmPart, Document
from repro.report import words
from repro.report.blocks import Block, Column, Pairs, Paragraph, TableBlock
from repro.schema import numbers as fmt

Settings = dict[str, str]
DIFFER = "What differs between the arms"

FEW = 8
"""Settings that differ and stand in sight; of more every one waits in a fold."""

EVIDENCE = {
    "runs": "trained here",
    "table": "read from a table",
    "published": "printed numbers",
}
"""Where values are from, as a reader is told."""

CHOSEN_ON = {"valid": "validation", "test": "the test split", "not stated": "not stated"}
"""The split that settings were chosen on, as a reader is told."""


def how_it_was_run(document: Document) -> tuple[Block, ...]:
    """The declared side: claim file, configurations, settings, and what no paper prints."""
    blocks: list[Block] = [_claim_pairs(document)]
    blocks += _own_values(document)
    differ = [table for table in _settings_tables(document) if table.caption == DIFFER]
    return (*blocks, *(table for table in differ if len(table.rows) <= FEW))


def settings(document: Document) -> tuple[Block, ...]:
    """Where values are from, every setting of every arm, and what no paper prints."""
    blocks: list[Block] = [Pairs((("Digest of what decides", document.claim.digest),))]
    if any(not arm.trained for arm in document.arms):
        blocks.append(_sources(document))
    if _trained(document):
        blocks.append(_configurations(document))
        shown = _settings_tables(document)
        blocks += [one for one in shown if one.caption != DIFFER or len(one.rows) > FEW]
    if any(arm.tuning is not None for arm in document.arms):
        blocks.append(_searches(document))
    assumed = _assumptions(document)
    if assumed.rows:
        blocks.append(assumed)
    return tuple(blocks)


def _claim_pairs(document: Document) -> Pairs:
    claim = document.claim
    design = {
        "independent": "independent: no arm shares randomness with another",
        "paired": "paired: replicates of the same number share their randomness",
    }[claim.design]
    return Pairs(
        (
            ("Claim", claim.id),
            ("Claim file", claim.file),
            ("Paper", claim.source.paper),
            ("Design", design),
        )
    )


def _trained(document: Document) -> list[ArmPart]:
    """The arms that have a configuration."""
    return [arm for arm in document.arms if arm.configuration is not None]


def _sources(document: Document) -> TableBlock:
    """Where the values of every arm are from, when not all were trained."""
    rows = []
    for arm in document.arms:
        file = digest = fmt.DASH
        if arm.table is not None:
            file, digest = arm.table.file, arm.table.sha256
        rows.append(
            (arm.label, EVIDENCE.get(arm.evidence, arm.evidence), seeds_of(arm), file, digest)
        )
    columns = (
        *(Column("Arm"), Column("Values"), Column("Seeds", "number")),
        *(Column("File", "code"), Column("SHA-256 of the file", "key")),
    )
    return TableBlock("Where the values are from", columns, tuple(rows))


def _own_values(document: Document) -> list[Paragraph]:
    """What nothing here has checked."""
    arms = [arm for arm in _trained(document) if arm.tabled]
    if not arms:
        return []
    whose = "all arms" if len(arms) == len(document.arms) else ", ".join(a.label for a in arms)
    text = (
        f"The values of {whose} were not computed here: that they belong to the configurations "
        "below is what the table is taken to say, and nothing has checked it."
    )
    return [Paragraph(text)]


def seeds_of(arm: ArmPart) -> str:
    """`5 of 5` of the planned runs; the seeds of a table, and how many were planned."""
    finished = sum(one.state == "finished" for one in arm.replicates)
    if arm.printed:
        counts = sorted({summary.n for summary in arm.summaries if summary.n is not None})
        return f"{', '.join(map(fmt.count, counts))}, as printed" if counts else "not printed"
    if arm.tabled and arm.planned is not None:
        return f"{fmt.count(finished)}, {fmt.count(arm.planned)} planned"
    return f"{finished} of {len(arm.replicates)}"


def _configurations(document: Document) -> TableBlock:
    rows = tuple((a.label, a.configuration or "", a.source or "") for a in _trained(document))
    columns = (Column("Arm"), Column("Configuration", "code"), Column("Where it is from"))
    return TableBlock("The configuration of each arm", columns, rows)


def flatten(value: Any, prefix: str = "") -> Settings:
    """A nested configuration as rows: path in words, value in words, in its own order."""
    if not isinstance(value, dict):
        return {prefix: fmt.setting(value)}
    if not value:
        return {prefix: "none"} if prefix else {}
    rows: Settings = {}
    for key, item in value.items():
        name = fmt.plain_name(str(key))
        rows |= flatten(item, f"{prefix} › {name}" if prefix else name)
    return rows


def _settings_tables(document: Document) -> list[TableBlock]:
    """What differs between the arms first: that is the experiment. Then what they share."""
    arms = _trained(document)
    settings = [flatten(arm.training) for arm in arms]
    names = list(dict.fromkeys(name for one in settings for name in one))
    rows = {name: [one.get(name, fmt.DASH) for one in settings] for name in names}
    differ = tuple((n, *cells) for n, cells in rows.items() if len(set(cells)) > 1)
    same = tuple((n, cells[0]) for n, cells in rows.items() if len(set(cells)) == 1)
    tables = []
    if differ:
        columns = (Column("Setting"), *(Column(arm.label) for arm in arms))
        tables.append(TableBlock(DIFFER, columns, differ))
    if same:
        title = "What is the same in all arms" if len(arms) > 1 else "How it was trained"
        tables.append(TableBlock(title, (Column("Setting"), Column("Value")), same))
    return tables


def _searches(document: Document) -> TableBlock:
    """An arm that was tuned more, or on the test split, is better for that alone."""
    rows = []
    for arm in _trained(document):
        cells = ("not stated", fmt.DASH, fmt.DASH)
        if arm.tuning is not None:
            split = CHOSEN_ON[arm.tuning.selected_on]
            cells = (fmt.count(arm.tuning.settings), split, arm.tuning.source)
        rows.append((arm.label, *cells))
    columns = (
        *(Column("Arm"), Column("Settings tried", "number"), Column("Chosen on")),
        Column("Where it is from"),
    )
    return TableBlock("How the settings were chosen", columns, tuple(rows))


def _assumptions(document: Document) -> TableBlock:
    """Values that no paper prints; arms that share one share a row."""
    sharing: dict[tuple[str, str, str], list[str]] = {}
    for arm in document.arms:
        for item in arm.assumed:
            sharing.setdefault((item.path, item.value, item.why), []).append(arm.label)
    rows = []
    for (path, value, why), arms in sharing.items():
        whose = "all arms" if len(arms) == len(_trained(document)) > 1 else ", ".join(arms)
        rows.append((path, value, whose, why))
    columns = (Column("Setting", "code"), Column("Value"), Column("Arms"), Column("Why"))
    return TableBlock("Assumed, because no paper prints it", columns, tuple(rows))


def runs(document: Document) -> tuple[Block, ...]:
    """Every run with its number, state, values, seconds and key."""
    total = sum(len(arm.replicates) for arm in document.arms)
    if not total:
        return () if _all_printed(document) else (Paragraph("No run is there yet."),)
    heads = [m.label for m in document.measurements]
    columns = [Column("Arm"), Column("Seed", "number"), Column("State")]
    columns += [Column(head, "number") for head in heads]
    columns += [Column("Seconds", "number"), Column("Key", "key")]
    rows = tuple(row for arm in document.arms for row in _run_rows(document, arm))
    trained = all(not arm.tabled for arm in document.arms)
    table = TableBlock(
        fmt.number_of(total, "run" if trained else "replicate"), tuple(columns), rows
    )
    return (table, *_without_weights(document.provenance.without_weights, total))


def _without_weights(count: int, total: int) -> list[Paragraph]:
    """What cannot be looked at again."""
    if not count:
        return []
    whose = "These runs were" if count == total else f"{count} of these runs were"
    text = (
        f"{whose} exported without weights and spectra: their numbers can be judged again, "
        "and not measured again."
    )
    return [Paragraph(text)]


def _all_printed(document: Document) -> bool:
    return bool(document.arms) and all(arm.printed for arm in document.arms)


def _run_rows(document: Document, arm: ArmPart) -> list[tuple[str, ...]]:
    rows = []
    for run in arm.replicates:
        values = [
            words.value(run.values[m.key], m) if m.key in run.values else fmt.DASH
            for m in document.measurements
        ]
        seconds = document.provenance.run_seconds.get(run.key)
        spent = fmt.DASH if seconds is None else fmt.fixed(seconds, 1)
        rows.append((arm.label, str(run.number), run.state, *values, spent, run.key or fmt.DASH))
    return rows


def provenance(document: Document) -> tuple[Block, ...]:
    """Time and machine: recorded, and part of no key and no verdict."""
    p = document.provenance
    note = Paragraph("What follows depends on the time and the machine. No verdict depends on it.")
    packages = ", ".join(f"{name} {version}" for name, version in sorted(p.packages.items()))
    pairs = (
        ("Created", p.created),
        ("Command", p.command),
        ("Code of others", _code(document)),
        ("Version of repro", p.repro_version),
        ("Revision of its code", p.code_revision),
        ("Python", p.python),
        ("Packages", packages),
        ("Platform", p.platform),
        ("Processor", f"{p.processor}, {fmt.number_of(p.cores, 'core')}"),
        ("Devices", ", ".join(p.devices)),
        ("Threads a run", fmt.count(p.threads_per_run)),
        ("Training time", _training_time(p.run_seconds)),
    )
    return (note, Pairs(tuple(pair for pair in pairs if pair[1])))


def _code(document: Document) -> str:
    """What was imported to train the arms: `my_layers:Gru 1.0.2 (GRU, large)`."""
    arms: dict[str, list[str]] = {}
    for arm in document.arms:
        for code in arm.code if arm.trained else ():
            arms.setdefault(f"{code.use} {code.version}", []).append(arm.label)
    return "; ".join(f"{code} ({', '.join(labels)})" for code, labels in arms.items())


def _training_time(seconds: dict[str, float]) -> str:
    if not seconds:
        return ""
    return f"{fmt.duration(sum(seconds.values()))} over {fmt.number_of(len(seconds), 'run')}"
