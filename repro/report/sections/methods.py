"""How the claim was run: configurations, assumed values, every run, and the machine."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from repro.judging.document import (
    ArmPart,
    Document,
    ReadFilesPart,
    ReplicatePart,
    SourcePart,
)
from repro.judging.document_parts import VariationPart
from repro.report import badges, lookups
from repro.report.blocks import Block, Column, Pairs, Paragraph, TableBlock, numbers, texts
from repro.schema import numbers as fmt
from repro.specs.claim import UNSCALED

Settings = dict[str, str]
DIFFER = "What differs between the arms"

FEW = 8
"""Settings that differ and stand in sight; of more every one waits in a fold."""

FILES = 20
"""Files of an import whose digests stand in a report; report.json has them all."""

EVIDENCE = {
    "runs": "trained here",
    "table": "read from a table",
    "published": "printed numbers",
}
"""Where values are from, as a reader is told."""

CHOSEN_ON = {"valid": "validation", "test": "the test split", "not stated": "not stated"}
"""The split that settings were chosen on, as a reader is told."""


def how_it_was_run(document: Document) -> tuple[Block, ...]:
    """Validity and agreement in full, claim file, configurations, and what no paper prints."""
    verdict = document.verdict
    reasons = {
        f"Validity, {verdict.validity}:": verdict.validity_reason,
        f"Agreement with the paper, {verdict.agreement}:": verdict.agreement_reason,
        f"Expected, {verdict.expected}:": verdict.expected_why,
    }
    said = (Paragraph(fmt.sentence(text), lead) for lead, text in reasons.items() if text)
    blocks: list[Block] = [*said, claim_pairs(document)]
    arms = trained(document)
    tabled = [arm.label for arm in arms if arm.tabled]
    if tabled:
        whose = "all arms" if len(tabled) == len(document.arms) else ", ".join(tabled)
        text = (
            f"The values of {whose} were not computed here: that they belong to the configurations "
            "below is what the table is taken to say, and nothing has checked it."
        )
        blocks.append(Paragraph(text))
    blocks += _scatter_sources(document)
    differ = [table for table in settings_tables(arms) if table.caption == DIFFER]
    return (*blocks, *(table for table in differ if len(table.rows) <= FEW))


def _scatter_sources(document: Document) -> Iterator[Block]:
    """Where the scatter comes from, of each measurement whose rows say what was drawn for them."""
    for m in document.measurements:
        parts = [part for part in document.variation if part.measurement == m.key]
        rows = tuple(
            row for part in parts if not part.refused for row in _components(document, part)
        )
        if rows:
            columns = (
                *texts("Arm", "Source"),
                *numbers("Levels", "Standard deviation", "Share of the variance"),
                Column("95% interval, as a multiple"),
            )
            caption = f"{fmt.upper_first(m.label)}: where the scatter comes from"
            yield TableBlock(caption, columns, rows)
        for part in parts:
            if part.refused:
                label = lookups.arm_label(document, part.arm)
                yield Paragraph(f"{fmt.upper_first(m.label)}, {label}: {part.refused}.")
    if any(not part.refused for part in document.variation):
        yield Paragraph(
            "A source is what was drawn for a run. The interval is of its standard deviation, as a "
            "multiple of that of the rest. An estimate below 0 is 0."
        )


def _components(document: Document, part: VariationPart) -> Iterator[tuple[str, ...]]:
    label = lookups.arm_label(document, part.arm)
    for each in part.sources:
        times = fmt.DASH
        if each.low is not None:
            high = "any" if each.high is None else fmt.significant(each.high)
            times = f"{fmt.significant(each.low)} to {high}"
        cells = (fmt.count(each.levels), fmt.significant(each.sd), fmt.share(each.share))
        yield (label, each.source, *cells, times)
    rest = fmt.significant(part.rest_sd or 0.0), fmt.share(part.rest_share or 0.0)
    yield (label, "the rest", fmt.DASH, *rest, fmt.DASH)


def settings(document: Document) -> tuple[Block, ...]:
    """Where values are from, every setting of every arm, and what no paper prints."""
    blocks: list[Block] = [Pairs((("Digest of what decides", document.claim.digest),))]
    if any(not arm.trained for arm in document.arms):
        blocks.append(_sources(document))
        blocks += _files(document)
    arms = trained(document)
    if arms:
        rows = tuple((arm.label, arm.configuration or "", arm.source or "") for arm in arms)
        columns = (Column("Arm"), Column("Configuration", "code"), Column("Where it is from"))
        blocks.append(TableBlock("The configuration of each arm", columns, rows))
        if any(arm.parameters_by_part for arm in arms):
            blocks.append(_parts(arms))
        shown = settings_tables(arms)
        blocks += [t for t in shown if t.caption != DIFFER or len(t.rows) > FEW]
    if any(arm.tuning is not None for arm in document.arms):
        blocks.append(_searches(arms))
    if any(arm.assumed for arm in document.arms):
        blocks.append(_assumptions(document))
    return tuple(blocks)


def claim_pairs(document: Document) -> Pairs:
    claim = document.claim
    design = {
        "independent": "independent: no arm shares randomness with another",
        "paired": "paired: replicates of the same number share their randomness",
    }[claim.design]
    if badges.items(document):
        design = "paired by item"
    unseeded = [arm.label for arm in document.arms if arm.training.get("unseeded")]
    if unseeded:
        design += (
            f"; the runs of {' and '.join(unseeded)} take no seed: they differ by chance alone, "
        )
        design += "and none of them can be made again"
    source = ("Source", "the author's own claim")
    if isinstance(claim.source, SourcePart):
        source = ("Paper", claim.source.paper)
    return Pairs((("Claim", claim.id), ("Claim file", claim.file), source, ("Design", design)))


def trained(document: Document) -> list[ArmPart]:
    return [arm for arm in document.arms if arm.configuration is not None]


def _sources(document: Document) -> TableBlock:
    rows = []
    for arm in document.arms:
        table = (fmt.DASH, fmt.DASH) if arm.table is None else (arm.table.file, arm.table.sha256)
        source = EVIDENCE.get(arm.evidence, arm.evidence)
        rows.append((arm.label, source, seeds_of(arm), *table))
    columns = (*texts("Arm", "Values"), *numbers(lookups.replicates(document)))
    columns += (Column("File", "code"), Column("SHA-256 of the file", "key"))
    return TableBlock("Where the values are from", columns, tuple(rows))


def _files(document: Document) -> Iterator[TableBlock]:
    """The files that imports read, each once: the first, and how many more there are."""
    tables = (arm.table for arm in document.arms)
    read = [table.files for table in tables if isinstance(table, ReadFilesPart)]
    files = {name: sha for each in read for name, sha in each.items()}
    if not files:
        return
    rows = list(files.items())[:FILES]
    if len(files) > FILES:
        more = f"{fmt.count(len(files) - FILES)} more, all in report.json"
        rows.append((more, fmt.DASH))
    columns = (Column("File", "code"), Column("SHA-256", "key"))
    yield TableBlock("Files that were read", columns, tuple(rows))


def seeds_of(arm: ArmPart) -> str:
    """`5 of 5` of the planned runs; the seeds of a table, and how many were planned, per task."""
    finished = sum(run.state == "finished" for run in arm.replicates)
    if arm.printed:
        counts = sorted({summary.n for summary in arm.summaries if summary.n is not None})
        return f"{', '.join(map(fmt.count, counts))}, as printed" if counts else "not printed"
    if arm.tasks and arm.planned is not None:
        many = fmt.number_of(arm.tasks, "task")
        planned = f", {fmt.count(arm.planned)} per task planned" if arm.planned > 1 else ""
        return f"{fmt.count(finished)} of {many}{planned}"
    if arm.tabled and arm.planned is not None and (finished, arm.planned) != (1, 1):
        return f"{fmt.count(finished)}, {fmt.count(arm.planned)} planned"
    return f"{finished} of {len(arm.replicates)}"


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


def settings_tables(arms: list[ArmPart]) -> list[TableBlock]:
    """What differs between the arms first: that is the experiment. Then what they share."""
    found = [flatten(arm.training | arm.measured) for arm in arms]
    names = list(dict.fromkeys(name for settings in found for name in settings))
    rows = {name: [settings.get(name, fmt.DASH) for settings in found] for name in names}
    differ = tuple((name, *cells) for name, cells in rows.items() if len(set(cells)) > 1)
    same = tuple((name, cells[0]) for name, cells in rows.items() if len(set(cells)) == 1)
    title = "What is the same in all arms" if len(arms) > 1 else "How it was trained"
    tables = (
        TableBlock(DIFFER, texts("Setting", *(arm.label for arm in arms)), differ),
        TableBlock(title, texts("Setting", "Value"), same),
    )
    return [table for table in tables if table.rows]


def _parts(arms: list[ArmPart]) -> TableBlock:
    """Where the parameters are; a part that an arm lacks has a dash."""
    found = [{each.part: each.parameters for each in arm.parameters_by_part} for arm in arms]
    names = dict.fromkeys(name for parts in found for name in parts)
    rows = [(name, *(_count(parts.get(name)) for parts in found)) for name in names]
    columns = (Column("Part"), *numbers(*(arm.label for arm in arms)))
    sums = ("all", *(_count(arm.parameters) for arm in arms))
    return TableBlock("Parameters by part", columns, (*rows, sums))


def _count(number: int | None) -> str:
    return fmt.DASH if number is None else fmt.count(number)


def _searches(arms: list[ArmPart]) -> TableBlock:
    """An arm that was tuned more, or on the test split, is better for that alone."""
    rows = []
    for arm in arms:
        cells = ("not stated", fmt.DASH, fmt.DASH)
        if arm.tuning is not None:
            split = CHOSEN_ON[arm.tuning.selected_on]
            cells = (fmt.count(arm.tuning.settings), split, arm.tuning.source)
        rows.append((arm.label, *cells))
    columns = (*texts("Arm"), *numbers("Settings tried"), *texts("Chosen on", "Where it is from"))
    return TableBlock("How the settings were chosen", columns, tuple(rows))


def _assumptions(document: Document) -> TableBlock:
    """Values that no paper prints; arms that share one share a row."""
    sharing: dict[tuple[str, str, str], list[str]] = {}
    for arm in document.arms:
        for item in arm.assumed:
            sharing.setdefault((item.path, item.value, item.why), []).append(arm.label)
    rows = []
    for (path, value, why), arms in sharing.items():
        whose = "all arms" if len(arms) == len(trained(document)) > 1 else ", ".join(arms)
        rows.append((path, value, whose, why))
    columns = (Column("Setting", "code"), *texts("Value", "Arms", "Why"))
    return TableBlock("Assumed, because no paper prints it", columns, tuple(rows))


def runs(document: Document) -> tuple[Block, ...]:
    """Every run with its number, state, values, seconds and key."""
    total = sum(len(arm.replicates) for arm in document.arms)
    if not total:
        printed = bool(document.arms) and all(arm.printed for arm in document.arms)
        return () if printed else (Paragraph("No run is there yet."),)
    tasks = any(arm.tasks for arm in document.arms)
    columns = (
        *(Column("Arm"), *([Column("Task")] if tasks else [])),
        *numbers(*_number_head(document)),
        Column("State"),
        *numbers(*(m.label for m in document.measurements), "Seconds"),
        *(
            Column("Key", "key"),
            *([Column("Run it again", "code")] if _again_known(document) else []),
        ),
    )
    rows = tuple(row for arm in document.arms for row in _run_rows(document, arm))
    unit = "replicate" if any(arm.tabled for arm in document.arms) else "run"
    table = TableBlock(fmt.number_of(total, unit), columns, rows)
    bare = document.provenance.without_weights
    if not bare:
        return (table,)
    whose = "These runs were" if bare == total else f"{bare} of these runs were"
    text = (
        f"{whose} exported without weights and spectra: their numbers can be judged again, "
        "and not measured again."
    )
    return (table, Paragraph(text))


def _run_rows(document: Document, arm: ArmPart) -> list[tuple[str, ...]]:
    rows = []
    for run in arm.replicates:
        values = [
            lookups.value(run.values[m.key], m) if m.key in run.values else fmt.DASH
            for m in document.measurements
        ]
        seconds = document.provenance.run_seconds.get(run.key)
        spent = fmt.DASH if seconds is None else fmt.fixed(seconds, 1)
        task = (run.task or fmt.DASH,) if any(each.tasks for each in document.arms) else ()
        number = (str(run.number),) * len(_number_head(document))
        which = (arm.label, *task, *number, run.state)
        again = (_again(document, arm, run),) if _again_known(document) else ()
        rows.append((*which, *values, spent, run.key or fmt.DASH, *again))
    return rows


def _number_head(document: Document) -> tuple[str, ...]:
    """The head of the numbers of replicates; none where each row is the only one of its place."""
    lone = document.claim.unit == "value"
    return () if lone else (fmt.upper_first(document.claim.unit),)


def _again_known(document: Document) -> bool:
    """Whether some runs were trained here, and can be made again."""
    return any(arm.trained and not arm.training.get("unseeded") for arm in document.arms)


def _again(document: Document, arm: ArmPart, run: ReplicatePart) -> str:
    """The command that makes one run again, and says what is measured of it."""
    if not arm.trained or arm.training.get("unseeded"):
        return fmt.DASH
    scale = "" if document.scale.name == UNSCALED else f" --scale {document.scale.name}"
    file = shlex.quote(document.claim.file)
    return f"repro try {file} --arm {arm.id} --seed {run.number}{scale}"


def provenance(document: Document) -> tuple[Block, ...]:
    """Time and machine: recorded, and part of no key and no verdict."""
    p = document.provenance
    note = Paragraph("What follows depends on the time and the machine. No verdict depends on it.")
    packages = ", ".join(f"{name} {version}" for name, version in sorted(p.packages.items()))
    seconds = p.run_seconds.values()
    spent = f"{fmt.duration(sum(seconds))} over {fmt.number_of(len(seconds), 'run')}"
    pairs = (
        ("Created", p.created),
        ("Command", p.command),
        ("Code from outside repro", _code(document)),
        ("Version of repro", p.repro_version),
        ("Revision of its code", p.code_revision),
        ("Python", p.python),
        ("Packages", packages),
        ("Platform", p.platform),
        ("Processor", f"{p.processor}, {fmt.number_of(p.cores, 'core')}"),
        ("Devices", ", ".join(p.devices)),
        ("Threads a run", fmt.count(p.threads_per_run)),
        ("Training time", spent if seconds else ""),
        ("History of verdicts", p.history.note if p.history else ""),
    )
    costs = (_costs(document),) if p.costs else ()
    return (note, Pairs(tuple(pair for pair in pairs if pair[1])), *costs)


def _costs(document: Document) -> TableBlock:
    """What training cost, in columns of which something is known; ratios are to the least."""
    labels = {arm.id: arm.label for arm in document.arms}
    costs = document.provenance.costs
    columns = {
        "FLOPs a token": _column([c.flops for c in costs], fmt.significant),
        "FLOPs, times the least": _column(_ratios([c.flops for c in costs]), _times),
        "Seconds an epoch": _column([c.seconds_per_epoch for c in costs], fmt.significant),
        "Tokens a second": _column([c.tokens_per_second for c in costs], fmt.significant),
        "Time a token, times the least": _column(
            _ratios([c.tokens_per_second and 1 / c.tokens_per_second for c in costs]), _times
        ),
        "Peak memory, MB": _column(
            [c.peak_memory and c.peak_memory / 1e6 for c in costs], fmt.significant
        ),
    }
    known = {name: cells for name, cells in columns.items() if set(cells) != {fmt.DASH}}
    names = [labels.get(c.arm, c.arm) for c in costs]
    caption = "What training cost: FLOPs are counted, times are means over runs and machines"
    heads = (Column("Arm"), *numbers(*known))
    return TableBlock(caption, heads, tuple(zip(names, *known.values(), strict=True)))


def _column(values: Sequence[float | None], shown: Callable[[float], str]) -> list[str]:
    return [fmt.DASH if value is None else shown(value) for value in values]


def _ratios(values: Sequence[float | None]) -> Sequence[float | None]:
    """Each as a multiple of the least; nothing to compare where fewer than two are known."""
    known = [value for value in values if value is not None]
    if len(known) < 2:
        return [None] * len(values)
    return [None if value is None else value / min(known) for value in values]


def _times(ratio: float) -> str:
    return fmt.fixed(ratio, 2)


def _code(document: Document) -> str:
    """What was imported to train the arms: `my_layers:Gru 1.0.2 (GRU, large)`."""
    arms: dict[str, list[str]] = {}
    for arm in document.arms:
        for code in arm.code if arm.trained else ():
            arms.setdefault(f"{code.use} {code.version}", []).append(arm.label)
    return "; ".join(f"{code} ({', '.join(labels)})" for code, labels in arms.items())
