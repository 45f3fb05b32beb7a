"""Sources of variation of a table: decomposed, and never counted as independent silently."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from repro.errors import SpecError
from repro.judging.assemble import check_claim
from repro.judging.document import Document
from repro.judging.gather import gather
from repro.report.sections import sections
from repro.specs.load import load_claim
from repro.store.run_store import RunStore

TEXT = """\
schema: 1
id: sources
title: Mixup lowers the test error over splits
source: {{own: "we would use it from now on"}}
arms: {{a: {{label: mixup, {evidence}}}, b: {{label: plain, table: t.csv}}}}
design: independent
seeds: {{{seeds}}}
measurements:
  error: {{kind: reported, label: test error, better: lower}}
expectations:
  - {{id: lower, kind: difference, measurement: error, of: [a, b], direction: lower}}
"""
SPLITS = (0.5, -0.4, 0.1, 0.9, -0.7, 0.2)
INITS = (0.05, -0.1, 0.0)
SHARED = "min: 5, plan: 18, sources: [split, init]"
AVERAGED = "min: 5, plan: 6, unit: split, sources: [split, init]"


def rows(error: float) -> list[tuple[int, int, float]]:
    """Six splits with three initialisations each, and a rest that follows neither."""
    pairs = [(i, j) for i in range(6) for j in range(3)]
    return [(i, j, error + SPLITS[i] + INITS[j] + 0.03 * ((5 * i + 3 * j) % 4)) for i, j in pairs]


def table(folder: Path, header: str = "arm,seed,split,init,measurement,value") -> None:
    lines = [header]
    for arm, error in (("a", 4.0), ("b", 6.0)):
        for seed, (split, init, value) in enumerate(rows(error)):
            lines.append(f"{arm},{seed},{split},{init},error,{value:.3f}")
    (folder / "t.csv").write_text("\n".join(lines) + "\n", "utf-8")


def judged(folder: Path, seeds: str, evidence: str = "table: t.csv") -> Document:
    file = folder / "sources.claim.yaml"
    file.write_text(TEXT.format(seeds=seeds, evidence=evidence), "utf-8")
    claim = load_claim(file, "declared")
    return check_claim(claim, gather(claim, RunStore(folder / "store")))


def told(document: Document) -> list[str]:
    kind = "runs that share a source"
    return [flag.text for flag in document.verdict.flags if flag.kind == kind]


def test_each_source_has_its_part_of_the_scatter(tmp_path: Path) -> None:
    """By the analysis of variance of the rows, whatever is averaged for the test."""
    table(tmp_path)
    for seeds in (SHARED, AVERAGED):
        part = judged(tmp_path, seeds).variation[0]
        assert [each.source for each in part.sources] == ["split", "init"]
        assert [each.levels for each in part.sources] == [6, 3]
        assert part.sources[0].sd == pytest.approx(0.58, abs=0.02)
        shares = [*(each.share for each in part.sources), part.rest_share]
        assert sum(each or 0.0 for each in shares) == pytest.approx(1)
        assert part.sources[0].share > 0.9


def test_the_seed_may_be_a_source_where_it_has_several_rows(tmp_path: Path) -> None:
    """Four runs on each of six splits, the same four seeds on every one."""
    lines = ["arm,seed,split,measurement,value"]
    for arm, error in (("a", 4.0), ("b", 6.0)):
        for split, of_split in enumerate(SPLITS):
            for seed in range(4):
                value = error + of_split + 0.1 * seed + 0.03 * ((5 * split + 3 * seed) % 4)
                lines.append(f"{arm},{seed},{split},error,{value:.3f}")
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n", "utf-8")
    document = judged(tmp_path, "min: 5, plan: 6, unit: split, sources: [split, seed]")
    part = document.variation[0]
    assert part.refused == ""
    assert [(each.source, each.levels) for each in part.sources] == [("split", 6), ("seed", 4)]
    assert part.sources[0].sd > part.sources[1].sd > 0


def with_training_error(
    folder: Path, monkeypatch: pytest.MonkeyPatch, derived: str, train: Callable[[int], str]
) -> None:
    """A table with the training error of each seed, and a measurement derived from both."""
    more = "\n  train: {{kind: reported, label: training error, better: lower}}"
    more += f"\n  {derived}"
    label = "label: test error, better: lower}}"
    monkeypatch.setattr("tests.judging.test_variation.TEXT", TEXT.replace(label, label + more))
    lines = ["arm,seed,split,init,measurement,value"]
    for arm, error in (("a", 4.0), ("b", 6.0)):
        for seed, (split, init, value) in enumerate(rows(error)):
            lines.append(f"{arm},{seed},{split},{init},error,{value:.3f}")
            lines.append(f"{arm},{seed},{split},{init},train,{train(seed)}")
    (folder / "t.csv").write_text("\n".join(lines) + "\n", "utf-8")


def test_what_follows_from_the_values_of_a_row_has_its_parts_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A gap between two measurements scatters by their sources, row by row."""
    gap = "gap: {{kind: derived, label: gap, better: lower, difference: [error, train]}}"
    with_training_error(tmp_path, monkeypatch, gap, lambda seed: f"{1 + 0.001 * (seed % 5):.3f}")
    document = judged(tmp_path, SHARED)
    parts = {(part.arm, part.measurement): part for part in document.variation}
    assert ("a", "gap") in parts
    assert parts["a", "gap"].sources[0].sd == pytest.approx(
        parts["a", "error"].sources[0].sd, rel=0.02
    )


def test_a_ratio_that_is_no_number_in_a_row_is_not_decomposed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its run has one, the mean of its evaluations; the rest alone would tell another story."""
    part = "part: {{kind: derived, label: part, better: lower, ratio: [error, train]}}"
    with_training_error(
        tmp_path, monkeypatch, part, lambda seed: f"{0 if seed == 4 else 1 + 0.01 * seed}"
    )
    document = judged(tmp_path, AVERAGED)
    parts = {(part.arm, part.measurement): part for part in document.variation}
    assert parts["a", "part"].refused == "it has no value in 1 of 18 rows"


def test_the_report_has_a_table_of_it(tmp_path: Path) -> None:
    table(tmp_path)
    shown = str(sections(judged(tmp_path, SHARED)))
    assert "Test error: where the scatter comes from" in shown
    assert "the rest" in shown


def test_runs_that_share_a_level_are_told(tmp_path: Path) -> None:
    """Eighteen runs of six splits are not eighteen experiments."""
    table(tmp_path)
    split, init = told(judged(tmp_path, SHARED))
    assert "mixup and plain: runs share 6 levels of split, and are counted as independent" in split
    assert "`unit: split` averages over them" in split
    assert "3 levels of init" in init


def test_what_is_averaged_is_shared_no_more(tmp_path: Path) -> None:
    """Six splits are six values; their initialisations are the same three, and that is said."""
    table(tmp_path)
    document = judged(tmp_path, AVERAGED)
    assert document.arms[0].summaries[0].n == 6
    (init,) = told(document)
    assert "3 levels of init" in init


def test_a_level_for_each_run_is_shared_by_none(tmp_path: Path) -> None:
    """Then there is nothing to tell apart, and nothing to say of the verdict."""
    lines = ["arm,seed,split,measurement,value"]
    lines += [f"{a},{n},{n},error,{e + 0.1 * n}" for a, e in (("a", 4), ("b", 6)) for n in range(5)]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n", "utf-8")
    document = judged(tmp_path, "min: 5, plan: 5, sources: [split]")
    assert told(document) == []
    assert "no run is left to tell the rest by" in document.variation[0].refused
    assert "no run is left to tell the rest by" in str(sections(document))


def test_evaluations_of_one_run_share_what_was_drawn_for_it(tmp_path: Path) -> None:
    """A run has a split of its own; its three evaluations are averaged, and share it as one."""
    lines = ["arm,seed,run,split,measurement,value"]
    for arm, error in (("a", 4.0), ("b", 6.0)):
        for run in range(5):
            for each in range(3):
                value = error + 0.1 * run + 0.01 * each
                lines.append(f"{arm},{3 * run + each},{run},{run},error,{value:.3f}")
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n", "utf-8")
    assert told(judged(tmp_path, "min: 5, plan: 5, unit: run, sources: [split]")) == []


def test_what_is_censored_has_no_variance_to_share(tmp_path: Path, monkeypatch: Any) -> None:
    table(tmp_path)
    censored = 'label: test error, censored: {{at: 5, why: "all that there was"}}'
    text = TEXT.replace("label: test error", censored)
    survivals = "kind: survivals, measurement: error, of: [a, b], direction: sooner"
    text = text.replace(
        "kind: difference, measurement: error, of: [a, b], direction: lower", survivals
    )
    monkeypatch.setattr("tests.judging.test_variation.TEXT", text)
    document = judged(tmp_path, "min: 4, plan: 18, sources: [split]")
    assert "its values are censored" in document.variation[0].refused


@pytest.mark.parametrize(
    ("seeds", "evidence", "words"),
    [
        ("min: 5, plan: 18, sources: [split, fold]", "table: t.csv", "no column 'fold'"),
        ("min: 5, plan: 18, sources: [split, split]", "table: t.csv", "stands there twice"),
        ("min: 5, plan: 18, sources: [seed]", "table: t.csv", "each row has a seed of its own"),
        ("min: 5, plan: 18, sources: [value]", "table: t.csv", "says something else"),
        (
            "min: 5, plan: 18, sources: [split]",
            "configuration: quick/mos",
            "sources are columns of one",
        ),
    ],
)
def test_sources_are_columns_of_a_table(
    tmp_path: Path, seeds: str, evidence: str, words: str
) -> None:
    table(tmp_path)
    with pytest.raises(SpecError, match=words):
        judged(tmp_path, seeds, evidence)


@pytest.mark.parametrize(
    ("cell", "words"),
    [("", "the cell is empty"), ("9", "'9', and '1' in another row of the seed")],
)
def test_a_seed_has_one_level_of_each_source(tmp_path: Path, cell: str, words: str) -> None:
    text = TEXT.replace(
        "  error:", "  loss: {{kind: reported, label: loss, better: lower}}\n  error:"
    )
    lines = ["arm,seed,split,measurement,value"]
    for arm, error in (("a", 4.0), ("b", 6.0)):
        for seed in range(5):
            lines += [
                f"{arm},{seed},{seed % 2},{each},{error + seed}" for each in ("error", "loss")
            ]
    lines[4] = f"a,1,{cell},loss,5.0"
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n", "utf-8")
    file = tmp_path / "sources.claim.yaml"
    seeds = "min: 5, plan: 5, sources: [split]"
    file.write_text(text.format(seeds=seeds, evidence="table: t.csv"), "utf-8")
    with pytest.raises(SpecError, match=words):
        gather(load_claim(file, "declared"), RunStore(tmp_path / "store"))
