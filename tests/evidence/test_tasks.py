"""A column task: whose runs are whose, and no expectation that pools them silently."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

from repro import judge
from repro.errors import ReproError, RuleError
from repro.evidence.csv_table import frame_table, read_table
from repro.evidence.evidence import TaskSeed
from repro.judging.assemble import check_claim
from repro.judging.document import Document
from repro.judging.gather import from_table, measured, read_tables, table_schema
from repro.results.result_files import Files
from repro.specs.load import load_claim

GOOD = Path(__file__).parents[1] / "specs" / "good"
TABLE = (GOOD / "tasks_claim.csv").read_text(encoding="utf-8")
CLAIM = (GOOD / "tasks_claim.yaml").read_text(encoding="utf-8")
PER_TASK = CLAIM.replace("kind: over_tasks\n", "kind: over_tasks\n    runs: per_task\n")
"""The same where each task has runs of its own, whose numbers mean nothing in another."""

HEADER, *ROWS = TABLE.splitlines()
NOT_WORSE = CLAIM[CLAIM.index("kind: over_tasks\n    role") : CLAIM.index("    margin:")]
"""The keys of the last expectation, but for its margin."""


def put(folder: Path, table: str = TABLE, claim: str = CLAIM) -> Path:
    (folder / "tasks_claim.csv").write_text(table, encoding="utf-8")
    path = folder / "tasks_claim.yaml"
    path.write_text(claim, encoding="utf-8")
    return path


def judged(folder: Path, table: str = TABLE, claim: str = CLAIM) -> Document:
    found = load_claim(put(folder, table, claim), "paper")
    return check_claim(found, from_table(found, read_tables(found)["new"]))


def refused(folder: Path, table: str = TABLE, claim: str = CLAIM) -> str:
    with pytest.raises(ReproError) as error:
        judged(folder, table, claim)
    return str(error.value)


def lines(*keep: str, of: str = TABLE) -> str:
    """The header, and the rows that have none of these in them."""
    head, *rows = of.splitlines()
    return "\n".join([head, *(row for row in rows if not any(part in row for part in keep))]) + "\n"


def test_the_runs_of_each_task_keep_their_seeds(tmp_path: Path) -> None:
    """Two tasks may have seeds of one number, and each replicate says its task."""
    claim = load_claim(put(tmp_path), "paper")
    table = read_table(tmp_path / "tasks_claim.csv", table_schema(claim, tuple(claim.arms)))
    assert table.seeds("new")[:4] == (
        TaskSeed("breakout", 0), TaskSeed("breakout", 1), TaskSeed("breakout", 2),
        TaskSeed("freeway", 0),
    )  # fmt: skip
    replicates = from_table(claim, table).arms["new"]
    assert [(each.task, each.number) for each in replicates[2:4]] == [
        ("breakout", 2),
        ("freeway", 0),
    ]
    assert len(replicates) == 15


def test_a_frame_is_read_as_the_file_is(tmp_path: Path) -> None:
    """The same rows in a frame, and back: one document."""
    claim = load_claim(put(tmp_path), "paper")
    frame = pd.read_csv(tmp_path / "tasks_claim.csv")
    evidence = from_table(claim, frame_table(frame, table_schema(claim, measured(claim))))
    again = evidence.table()
    assert list(again.columns) == ["arm", "task", "seed", "measurement", "value"]
    assert sorted(map(tuple, again.to_numpy().tolist())) == sorted(
        map(tuple, frame.to_numpy().tolist())
    )
    assert check_claim(claim, evidence).results == judged(tmp_path).results
    assert judge(claim, frame).verdict.conclusion == "CONFIRMED"


def test_rows_of_several_tasks_are_never_pooled(tmp_path: Path) -> None:
    """A kind that takes no notice of tasks gets an error at the second task, with advice."""
    plain = CLAIM.split("expectations:")[0] + (
        "expectations:\n  - {id: better, kind: difference, measurement: score, of: [new, old], "
        "direction: higher}\nscales:\n  paper: {notice: 'An example with made numbers.'}\n"
    )
    said = refused(tmp_path, claim=plain)
    assert "tasks_claim.csv:5:5: row 5, column task: the rows are of several tasks" in said
    assert "('breakout', 'freeway'), and what the claim expects takes no notice of tasks" in said
    assert "expected: expectations of kind over_tasks" in said
    assert "to do: name the tasks in such an expectation" in said
    other = ("freeway", "pong", "qbert", "seaquest")
    alone = judged(tmp_path, lines(*other), plain)
    assert "column 'task'" in alone.scale.notice, "a single task pools nothing"
    assert alone.arms[0].replicates[0].task == ""


def test_a_table_without_the_column_is_refused(tmp_path: Path) -> None:
    said = refused(tmp_path, TABLE.replace("arm,task,", "arm,job,"))
    assert "row 1: there is no column 'task'" in said


def test_a_task_that_is_misspelt_or_missing_is_said(tmp_path: Path) -> None:
    """Once each, with what was meant; a benchmark is complete or is another benchmark."""
    said = refused(tmp_path, TABLE.replace("new,pong", "new,pnog"))
    assert said.count("the claim has no task 'pnog'") == 1
    assert "did you mean 'pong'?" in said
    said = refused(tmp_path, lines("old,qbert", "old,pong"))
    assert "there are no rows for task 'pong' and 'qbert' of arm 'old'" in said
    assert "expected: rows of every task of the claim, for each arm" in said


def test_a_run_twice_in_a_task_is_refused(tmp_path: Path) -> None:
    said = refused(tmp_path, TABLE + ROWS[0] + "\n")
    assert "arm 'new', seed 0 of task 'breakout', measurement 'score' again" in said


def test_a_task_with_too_few_runs_leaves_the_claim_incomplete(tmp_path: Path) -> None:
    found = judged(tmp_path, lines("old,qbert,2"))
    assert found.verdict.validity == "INCOMPLETE"
    assert found.verdict.validity_reason == "Old, task qbert: 2 of 3 seeds"


def test_an_unbalanced_benchmark_is_said(tmp_path: Path) -> None:
    """The interquartile mean, which pools runs, is not tested; the others say the numbers."""
    more = TABLE + "new,qbert,3,score,0.512\n"
    found = {each.id: each for each in judged(tmp_path, more, PER_TASK).results}
    assert found["better"].conclusion == "NOT-TESTED"
    assert "'breakout' has 3 and 'qbert' 4 in one arm" in found["better"].sentence
    assert found["improves"].conclusion == "CONFIRMED"
    assert found["improves"].details["runs_per_task"] == "3 to 4 and 3"


def test_a_seed_that_is_not_in_every_task_is_refused_in_words(tmp_path: Path) -> None:
    """A run of all tasks has a value of each; which one is missing is said, and what to do."""
    more = TABLE + "new,qbert,3,score,0.512\n"
    found = {each.id: each for each in judged(tmp_path, more).results}
    assert {each.conclusion for each in found.values()} == {"NOT-TESTED"}
    said = found["improves"].sentence
    assert "New is without a value of seed 3 in task 'breakout'" in said
    assert "declare `runs: per_task` if each task has separate runs" in said


def test_more_runs_of_a_task_than_were_planned_are_said(tmp_path: Path) -> None:
    """All arms have grown; one of which a task has more may be of a design of several sizes."""
    more = TABLE + "new,qbert,3,score,0.512\n"
    both = more + "old,qbert,3,score,0.481\n"
    flags = [flag.text for flag in judged(tmp_path, both).verdict.flags]
    said = "3 seeds per arm were planned, and New has 4 and Old has 4"
    assert any(said in text for text in flags)
    assert not any("were planned" in flag.text for flag in judged(tmp_path, more).verdict.flags)


def test_a_run_that_diverged_counts_against_the_policy(tmp_path: Path) -> None:
    """Of an arm, whatever its task; for the chance of improvement it may count as the worst."""
    lost = TABLE.replace(ROWS[0], "new,breakout,0,score,diverged")
    assert judged(tmp_path, lost).verdict.validity == "INVALID"
    order = PER_TASK.replace("plan: 3}", "plan: 3, diverged: worst}")
    kept = (
        order.split("  - id: better")[0]
        + "  - id: improves"
        + (order.split("  - id: improves")[1].split("  - id: not_worse")[0])
    )
    lost = TABLE + "new,breakout,3,score,diverged\n"
    document = judged(tmp_path, lost, kept + "scales:" + CLAIM.split("scales:")[1])
    assert document.verdict.validity == "VALID"
    parts = document.results[0].details["effect_in_each_task"]
    assert parts.startswith("breakout 75.0%; freeway 100%")


def test_copied_values_are_looked_for_within_a_task(tmp_path: Path) -> None:
    """An arm whose runs of a task are those of the other is found, and the task is named."""
    own = {tuple(row.split(",")[1:3]): row.split(",")[4] for row in ROWS if row.startswith("old")}
    copied = [
        f"new,{task},{seed},score,{value}" for (task, seed), value in own.items() if task == "pong"
    ]
    kept = lines("new,pong") + "\n".join(copied) + "\n"
    found = judged(tmp_path, kept)
    assert found.verdict.validity == "INVALID"
    assert "normalised score, task pong" in found.verdict.validity_reason


@pytest.mark.parametrize(
    ("written", "instead", "said"),
    [
        (
            "{label: New, table: tasks_claim.csv}",
            "{label: New, import: {from: files, path: 'runs/*.json'}}",
            "'better' is over tasks, and arm 'new' has no runs of tasks",
        ),
        (
            NOT_WORSE,
            "kind: non_inferiority\n    role: context\n    measurement: score\n    of: [old, new]\n",  # noqa: E501
            "'not_worse' takes no notice of tasks, over which 'better' reads arm 'old'",
        ),
        ("design: independent", "design: paired", "compares each run of a with each one of b"),
        ("[breakout, freeway, pong, qbert, seaquest]\n    aggregate: improvement",
         "[pong, pong, qbert]\n    aggregate: improvement", "task 'pong' is named 2 times"),
        ("aggregate: improvement", "question: equivalent", "equivalent within which margin?"),
        ("aggregate: improvement", "aggregate: improvement\n    question: equivalent",
         "says which arm is better, and by no size"),
        ("question: not_worse\n", "question: better\n", "a margin belongs to the questions"),
        ("{abs: 0.05,", "{relative: 0.05,", "a relative margin has no test over tasks"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(
    tmp_path: Path, written: str, instead: str, said: str
) -> None:
    assert written in CLAIM
    with pytest.raises(RuleError) as error:
        load_claim(put(tmp_path, claim=CLAIM.replace(written, instead)), "paper")
    assert said in str(error.value)


def test_an_import_names_the_field_of_the_task(tmp_path: Path) -> None:
    """The values of files of results, each with its task and seed, are those of the table."""
    claim = CLAIM
    for arm in ("new", "old"):
        claim = claim.replace(
            f"{{label: {arm.capitalize()}, table: tasks_claim.csv}}",
            f"{{label: {arm.capitalize()}, import: {{from: files, path: 'runs/*.json', "
            f"where: {{arm: {arm}}}, task: game}}}}",
        )
    (tmp_path / "runs").mkdir()
    for number, row in enumerate(ROWS):
        arm, task, seed, _, value = row.split(",")
        run = {"arm": arm, "game": task, "seed": int(seed), "score": float(value)}
        (tmp_path / "runs" / f"{number}.json").write_text(json.dumps(run), encoding="utf-8")
    found = load_claim(put(tmp_path, claim=claim), "paper")
    imported = read_tables(found)
    shutil.rmtree(tmp_path / "runs")
    table = read_tables(load_claim(put(tmp_path), "paper"))["new"]
    assert imported["new"].values["new"] == table.values["new"]
    assert imported["old"].values["old"] == table.values["old"]


def test_an_import_of_an_unknown_task_is_refused(tmp_path: Path) -> None:
    claim = CLAIM.replace(
        "{label: New, table: tasks_claim.csv}",
        "{label: New, import: {from: files, path: 'runs/*.json', task: game}}",
    )
    (tmp_path / "runs").mkdir()
    run = {"game": "pnog", "seed": 0, "score": 0.5}
    (tmp_path / "runs" / "0.json").write_text(json.dumps(run), encoding="utf-8")
    with pytest.raises(ReproError, match="the claim has no task 'pnog'") as error:
        read_tables(load_claim(put(tmp_path, claim=claim), "paper"))
    assert "did you mean 'pong'?" in str(error.value)


def test_the_digest_of_an_import_without_tasks_is_unchanged() -> None:
    """A key that is left out is no part of what identifies a claim."""
    one = Files.model_validate({"from": "files", "path": "runs/*.json"})
    assert "task" not in one.model_dump(mode="json", exclude_defaults=True)
