"""Imported runs that are evaluations of one unit, and what was drawn for each of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from repro.errors import ReproError
from repro.judging.assemble import check_claim
from repro.judging.document import Document
from repro.judging.gather import gather
from repro.specs.load import load_claim
from repro.store.run_store import RunStore
from tests.evidence.test_imports import claim, ungzipped, written
from tests.evidence.test_units import CLAIM, MEANS, SHIFTS, alone

ROW = '{from: files, path: "ARM/run_{seed}.csv", each: row}'
FILE = '{from: files, path: "ARM/{run}/{seed}.json"}'
SOURCES = "sources: [split]"


def imported(folder: Path, imports: str = ROW, seeds: str = "unit: seed") -> Path:
    """The claim of the tables, whose arms import the same values."""
    text = CLAIM.replace("unit: seed", seeds)
    for arm in MEANS:
        text = text.replace("table: scores.csv", f"import: {imports.replace('ARM', arm)}", 1)
    path = folder / "a.claim.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def judged(path: Path) -> Document:
    found = load_claim(path, "paper")
    return check_claim(found, gather(found, RunStore(path.parent / "store")))


def refused(path: Path) -> str:
    with pytest.raises(ReproError) as error:
        judged(path)
    return str(error.value)


def evaluations(folder: Path, *, left_out: int = 0) -> None:
    """A file for each run, with a row for each evaluation; the last of ``old`` may be left out."""
    for arm, means in MEANS.items():
        for run, mean in enumerate(means):
            shifts = SHIFTS[: len(SHIFTS) - left_out] if arm == "old" else SHIFTS
            rows = (f"{n},{mean + shift:.2f}\n" for n, shift in enumerate(shifts))
            written(folder, f"{arm}/run_{run}.csv", f"episode,score\n{''.join(rows)}")


def files_of_evaluations(folder: Path, **more: object) -> None:
    """A file for each evaluation of each run."""
    for arm, means in MEANS.items():
        for run, mean in enumerate(means):
            for n, shift in enumerate(SHIFTS):
                said = {"score": round(mean + shift, 2), **more}
                written(folder, f"{arm}/{run}/{n}.json", said)


def test_evaluations_of_one_seed_are_averaged_within_it(tmp_path: Path) -> None:
    """The result is that of the means of the runs, as with a table."""
    evaluations(tmp_path)
    found, expected = judged(imported(tmp_path)), alone(tmp_path)
    for arm, means in zip(found.arms, MEANS.values(), strict=True):
        assert [run.values["score"] for run in arm.replicates] == pytest.approx(means)
    assert found.results[0].p == pytest.approx(expected.results[0].p, rel=1e-9)
    assert "averaged within units before any test: field 'seed', 4 evaluations" in (
        found.scale.notice
    )


def test_a_field_of_its_own_may_number_the_units(tmp_path: Path) -> None:
    files_of_evaluations(tmp_path)
    found = judged(imported(tmp_path, FILE, "unit: run"))
    assert [run.values["score"] for run in found.arms[1].replicates] == pytest.approx(MEANS["old"])
    named = FILE.replace("{run}", "{of}").replace("}.json", "}.json").replace('"}', '", unit: of}')
    assert judged(imported(tmp_path, named, "unit: run")).results[0].p == found.results[0].p


def test_an_arm_with_fewer_evaluations_is_missing_although_it_is_imported_apart(
    tmp_path: Path,
) -> None:
    evaluations(tmp_path, left_out=1)
    found = judged(imported(tmp_path))
    assert found.verdict.validity == "INCOMPLETE"
    assert "Old: 0 of 3 seeds" in found.verdict.validity_reason
    assert judged(imported(tmp_path, seeds="unit: seed, evaluations: any")).verdict.validity == (
        "VALID"
    )


def test_an_evaluation_that_diverged_takes_its_run_with_it(tmp_path: Path) -> None:
    files_of_evaluations(tmp_path)
    written(tmp_path, "new/0/2.json", '{"score": NaN}')
    found = judged(imported(tmp_path, FILE, "unit: run"))
    assert "New: 1 of 3 runs diverged" in found.verdict.validity_reason


def test_an_evaluation_without_a_value_says_why(tmp_path: Path) -> None:
    files_of_evaluations(tmp_path)
    written(tmp_path, "new/0/2.json", {"scores": 1})
    found = judged(imported(tmp_path, FILE, "unit: run"))
    assert found.verdict.validity == "INCOMPLETE"
    assert "1 missing: no number 'score', there are scores" in found.verdict.validity_reason


def test_units_in_a_database(tmp_path: Path) -> None:
    """Two arms of the fixture as evaluations of one seed each: four units of two runs."""
    ungzipped(tmp_path, "mlflow-3.17.2.db.gz", "mlflow.db")
    where = "where: {experiment: cifar}"
    imports = f"{{from: mlflow, path: mlflow.db, {where}}}"
    path = claim(tmp_path, imports, "test_error")
    text = path.read_text(encoding="utf-8").replace("plan: 2", "plan: 2, unit: seed")
    path.write_text(text, encoding="utf-8")
    loaded = load_claim(path, "paper")
    replicates = gather(loaded, RunStore(tmp_path / "store")).arms["mixup"]
    assert [run.state for run in replicates] == ["finished"] * 4 + ["diverged"]


# sources of variation


def drawn(folder: Path, name: str = "split") -> Path:
    """Each run of an arm on one of three splits, twice; a table with the same rows beside them."""
    lines = ["arm,seed,measurement,value,split"]
    for arm, means in MEANS.items():
        for split, mean in enumerate(means):
            for twice in (0, 1):
                seed, value = 2 * split + twice, round(mean + SHIFTS[twice], 2)
                written(folder, f"{arm}/{seed}.json", {"score": value, name: f"s{split}"})
                lines.append(f"{arm},{seed},score,{value},s{split}")
    written(folder, "scores.csv", "\n".join(lines) + "\n")
    return folder


def test_sources_of_variation_are_those_of_a_table(tmp_path: Path) -> None:
    drawn(tmp_path)
    path = tmp_path / "b.claim.yaml"
    path.write_text(CLAIM.replace("unit: seed", SOURCES), encoding="utf-8")
    expected = judged(path)
    found = judged(imported(tmp_path, '{from: files, path: "ARM/{seed}.json"}', SOURCES))
    assert len(found.variation) == 2
    assert found.variation == expected.variation
    assert found.variation[0].sources[0].levels == 3
    said = [flag.text for flag in found.verdict.flags if flag.kind == "runs that share a source"]
    assert "runs share 3 levels of split" in said[0]


def test_a_source_may_have_another_name_where_it_is_recorded(tmp_path: Path) -> None:
    drawn(tmp_path, "data.fold")
    imports = '{from: files, path: "ARM/{seed}.json", sources: {split: data.fold}}'
    assert judged(imported(tmp_path, imports, SOURCES)).variation[0].sources[0].levels == 3


def test_a_unit_may_be_a_source_and_the_seed_another(tmp_path: Path) -> None:
    for arm, means in MEANS.items():
        for split, mean in enumerate(means):
            for seed in (0, 1):
                said = {"score": mean + SHIFTS[seed]}
                written(tmp_path, f"{arm}/fold_{split}/{seed}.json", said)
    imports = '{from: files, path: "ARM/fold_{fold}/{seed}.json", unit: fold}'
    found = judged(imported(tmp_path, imports, "unit: split, sources: [split, seed]"))
    assert [each.source for each in found.variation[0].sources] == ["split", "seed"]
    assert found.results[0].details["seeds"] == "3 per arm"


# errors


@pytest.mark.parametrize(
    ("more", "seeds", "said"),
    [
        ("", "unit: episode", "new/0.json has no field 'episode' for its unit"),
        ("", "unit: fold", "to do: name the field: `unit: data.fold`"),
        (", unit: data.fold", "unit: run", "the unit 's0' is no whole number"),
        ("", SOURCES, "has no field 'split' for its source 'split'"),
        ("", "sources: [fold]", "to do: name the field: `sources: {fold: data.fold}`"),
        (", sources: {split: no}", SOURCES, "the field 'no' of its source 'split' is empty"),
        (", unit: fold", "unit: seed", "which field is the unit, and the claim takes the seed"),
        (", unit: fold", SOURCES, "which field is the unit, and the claim has none"),
        (", sources: {splt: no}", SOURCES, "did you mean 'split'?"),
        (", sources: {split: no}", "unit: seed", "add `sources` to `seeds`, or remove this"),
        (", duplicates: last", "unit: seed", "with one seed are evaluations of it"),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path: Path, more: str, seeds: str, said: str) -> None:
    drawn(tmp_path, "data.fold")
    for file in tmp_path.glob("*/*.json"):
        file.write_text(file.read_text(encoding="utf-8").replace("{", '{"no": "", ', 1))
    imports = f'{{from: files, path: "ARM/{{seed}}.json"{more}}}'
    assert said in refused(imported(tmp_path, imports, seeds))


def test_one_evaluation_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    files_of_evaluations(tmp_path, number=7)
    imports = FILE.replace("{seed}", "{n}").replace('json"', 'json", seed: number')
    said = refused(imported(tmp_path, imports, "unit: run"))
    assert "two runs have seed 7 of unit 0: new/0/0.json and new/0/1.json" in said
