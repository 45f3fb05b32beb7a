"""`repro gate`: one word, an exit status, and no second chance for a change that is no better."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import beta

from repro.errors import ClaimError
from repro.report.formats import rendered
from repro.stats.simulated import eprocess
from repro.workflows.verify import verify_claims
from tests.commands import repro as command

PROGRAM = """
import argparse, json, random
parser = argparse.ArgumentParser()
for name in ("seed", "out", "gain"):
    parser.add_argument("--" + name)
given = parser.parse_args()
error = 2.0 + random.Random(f"{given.seed} {given.gain}").gauss(0, 0.1) - float(given.gain)
with open(given.out + "/results.json", "w") as file:
    json.dump({"error": error}, file)
"""

CLAIM = """\
schema: 1
id: candidate
title: The candidate has a lower error than the baseline
source: {{paper: ours, citation: "our own experiment", locator: "here", quote: "It is lower."}}
configuration:
  trainer: command
  command: [{python}, train.py, --seed, "{{seed}}", "{{args}}", --out, "{{out}}"]
  workdir: code
  files: [train.py]
  results: {{file: "{{out}}/results.json"}}
  resources: {{memory: 50 MB}}
arms:
  candidate: {{label: the candidate, args: {{gain: {gain}}}}}
  baseline: {{label: the baseline, args: {{gain: 0}}}}
design: paired
{sequential}
seeds: {{min: 5, plan: 5, max: {most}}}
measurements:
  error: {{kind: reported, from: error, label: error, better: lower}}
expectations:
  - id: better
    kind: difference
    measurement: error
    of: [candidate, baseline]
    direction: lower
scales:
  quick: {{notice: "Our own experiment, at the size at which we run it."}}
"""

EPROCESS = "sequential: {method: eprocess_t}"


def claim(folder: Path, gain: float, *, most: int = 8, sequential: str = EPROCESS) -> Path:
    """A claim of a program whose candidate has an error lower by ``gain``, with sd 0.1."""
    (folder / "code").mkdir(exist_ok=True)
    (folder / "code" / "train.py").write_text(PROGRAM, encoding="utf-8")
    file = folder / "candidate.claim.yaml"
    text = CLAIM.format(python=sys.executable, gain=gain, most=most, sequential=sequential)
    file.write_text(text, encoding="utf-8")
    return file


def gated(file: Path, *options: str) -> Any:
    store, reports = file.parent / "store", file.parent / "reports"
    place = ("--store", store, "--reports", reports, "--engine", "serial")
    return command("gate", file, "--allow-code", *place, *options)


def last_line(done: Any) -> str:
    """The last line on stdout; where there is none, what was said is the reason of the failure."""
    assert done.stdout, f"status {done.returncode}: {done.stderr}"
    return str(done.stdout.splitlines()[-1])


@pytest.mark.parametrize(("gain", "word", "status"), [(1.0, "KEEP", 0), (-1.0, "REJECT", 1)])
def test_the_last_line_is_the_word(tmp_path: Path, gain: float, word: str, status: int) -> None:
    """And given again, the same command trains nothing and says the same."""
    file = claim(tmp_path, gain)
    done = gated(file)
    assert (last_line(done), done.returncode) == (word, status)
    again = gated(file, "--json")
    found = json.loads(again.stdout)
    assert (found["word"], found["status"], again.returncode) == (word, status, status)
    assert found["seeds"] == 5
    assert "runs to do" not in again.stderr


def test_a_change_that_is_no_better_is_undecided(tmp_path: Path) -> None:
    """It stops where more seeds would hardly decide, and a further call buys no further look."""
    file = claim(tmp_path, 0.0001, most=40)
    done, again = gated(file, "--json"), gated(file, "--json")
    found = json.loads(done.stdout)
    assert (found["word"], done.returncode) == ("UNDECIDED", 3)
    assert found["why"].endswith("More seeds would hardly decide it, so no more were run.")
    assert found["seeds"] < 40
    assert json.loads(again.stdout) == found


def test_what_the_seeds_can_find_is_said_before_they_are_spent(tmp_path: Path) -> None:
    """Differences of sd 1.4, and .1 that matters: 30 pairs find 1.1, and no effect is excluded."""
    file, planned = claim(tmp_path, 1.0, most=30), "planned_sd: {error: {sd_of_differences: 1.4, "
    text = file.read_text().replace("measurements:", f'{planned}why: "ten runs"}}}}\nmeasurements:')
    smallest = 'direction: lower\n    smallest_effect: {abs: 0.1, why: "less is nothing"}'
    file.write_text(text.replace("direction: lower", smallest))
    done = gated(file)
    assert (last_line(done), done.returncode) == ("KEEP", 0)
    said = "better: 30 seeds per arm find an effect of 1.11 four times in five; a smaller one is"
    assert said in done.stderr


def test_a_small_gain_takes_the_seeds_that_it_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Looks are told as they come, and the report is that of the last one."""
    written: list[Any] = []

    def counted(document: Any, *formats: Any) -> Any:
        written.append(document)
        return rendered(document, *formats)

    monkeypatch.setattr("repro.report.write.rendered", counted)
    file = claim(tmp_path, 0.12, most=40)
    done = gated(file, "--json")
    found = json.loads(done.stdout)
    assert found["word"] == "KEEP"
    assert 5 < found["seeds"] < 40
    assert "5 seeds per arm: INCONCLUSIVE, go on" in done.stderr
    (document,) = written
    assert document.verdict.conclusion == "CONFIRMED"
    assert Path(found["report"]).is_file()


def test_a_killed_gate_goes_on_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "whole").mkdir()
    (tmp_path / "killed").mkdir()
    whole = gated(claim(tmp_path / "whole", 0.12, most=40), "--json")
    file, judged = claim(tmp_path / "killed", 0.12, most=40), verify_claims
    looks: list[Any] = []

    def dying(*arguments: Any) -> Any:
        if len(looks) == 2:
            raise KeyboardInterrupt
        looks.append(judged(*arguments))
        return looks[-1]

    monkeypatch.setattr("repro.workflows.gate.verify_claims", dying)
    assert gated(file).returncode == 130
    monkeypatch.setattr("repro.workflows.gate.verify_claims", judged)
    found, expected = json.loads(gated(file, "--json").stdout), json.loads(whole.stdout)
    assert {**found, "report": ""} == {**expected, "report": ""}


def test_an_edited_program_is_another_candidate(tmp_path: Path) -> None:
    """Under the same id it would be a second try with the same level."""
    file = claim(tmp_path, 1.0)
    gated(file)
    program = tmp_path / "code" / "train.py"
    program.write_text(program.read_text().replace("2.0 +", "1.9 +"), encoding="utf-8")
    done = gated(file)
    assert (last_line(done), done.returncode) == ("UNUSABLE", 4)
    flip, told, *_ = done.stdout.splitlines()
    assert flip.startswith("Was CONFIRMED on ")
    assert flip.endswith(", now STALE: train.py was edited; five seeds were removed.")
    assert told.startswith("what decides was changed when results of 'candidate' were there (arms.")
    assert told.endswith(": give the claim a new id")  # nothing has run, so that any seed is new
    assert "runs to do" not in done.stderr


def renamed(file: Path, name: str, *, first_seed: int = 0) -> Path:
    """The same claim by another id, with other seeds."""
    text = file.read_text(encoding="utf-8").replace("id: candidate", f"id: {name}", 1)
    for arm in ("{label: the candidate", "{label: the baseline"):
        text = text.replace(arm, f"{arm}, first_seed: {first_seed}") if first_seed else text
    other = file.with_name(f"{name}.claim.yaml")
    other.write_text(text, encoding="utf-8")
    return other


def test_a_new_id_is_another_try(tmp_path: Path) -> None:
    """After an edit, as nothing of it was run; and with seeds that nobody has seen."""
    file = claim(tmp_path, 1.0)
    gated(file)
    program = tmp_path / "code" / "train.py"
    program.write_text(program.read_text().replace("2.0 +", "1.9 +"), encoding="utf-8")
    gated(file)
    assert gated(renamed(file, "second")).returncode == 0
    third = gated(renamed(file, "third"))
    assert third.returncode == 4
    assert third.stdout.startswith(
        "'third' was declared when runs of its arms were there, up to seed 4: give each arm "
        "`first_seed: 5` or more, and the claim another id"
    )
    moved = renamed(file, "third", first_seed=100)
    assert "its seeds are new now, so give the claim a new id, too" in gated(moved).stdout
    assert gated(renamed(file, "fourth", first_seed=100)).returncode == 0


FAMILY = """
family:
  {name: changes, method: holm, members: [candidate, another], why: "each is a change"}
"""


def test_a_member_of_a_family_goes_on_to_its_level(tmp_path: Path) -> None:
    """What would decide it alone is not enough, and a further call buys no further pair."""
    (tmp_path / "alone").mkdir()
    alone = json.loads(gated(claim(tmp_path / "alone", 0.12, most=60), "--json").stdout)
    file = claim(tmp_path, 0.12, most=60)
    file.write_text(file.read_text(encoding="utf-8") + FAMILY, encoding="utf-8")
    found, again = (json.loads(gated(file, "--json").stdout) for _ in range(2))
    assert (found["word"], again) == ("KEEP", found)
    assert found["seeds"] > alone["seeds"]


def program(folder: Path, error: str) -> None:
    text = PROGRAM.replace(PROGRAM[PROGRAM.index("error = ") : PROGRAM.index("with")], f"{error}\n")
    (folder / "code" / "train.py").write_text(text, encoding="utf-8")


def test_differences_that_do_not_vary_decide_nothing(tmp_path: Path) -> None:
    """A test of means has no scatter to compare them with; later seeds may have some."""
    file = claim(tmp_path, 1.0)
    program(tmp_path, "error = 2.0 - float(given.gain)")
    done, again = gated(file, "--json"), gated(file, "--json")
    found = json.loads(done.stdout)
    assert (found["word"], found["conclusion"], done.returncode) == ("UNDECIDED", "NOT-TESTED", 3)
    assert found["seeds"] == 8
    assert json.loads(again.stdout) == found


def test_a_change_that_changes_nothing_is_unusable(tmp_path: Path) -> None:
    """Equal values of both arms, seed by seed, are no evidence of two arms."""
    file = claim(tmp_path, 1.0)
    program(tmp_path, "error = 2.0 + random.Random(given.seed).gauss(0, 0.1)")
    done = gated(file)
    assert (last_line(done), done.returncode) == ("UNUSABLE", 4)
    assert "INVALID: Copied values: " in done.stdout


def test_a_candidate_that_diverges_is_not_rejected(tmp_path: Path) -> None:
    file = claim(tmp_path, 1.0)
    program(tmp_path, 'error = float("nan") if float(given.gain) else random.random()')
    done = gated(file)
    assert (last_line(done), done.returncode) == ("UNUSABLE", 4)
    assert "diverged" in done.stdout


def test_scheduler_and_force_are_passed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[Any] = []

    def taking(_: Any, options: Any, __: Any) -> Any:
        given.append(options)
        raise ClaimError("enough")

    monkeypatch.setattr("repro.workflows.gate.gate", taking)
    gated(claim(tmp_path, 1.0), "--engine", "dask", "--scheduler", "tcp://here:1", "--force")
    (options,) = given
    assert (options.engine, options.scheduler, options.force) == ("dask", "tcp://here:1", True)


def test_a_program_that_fails_is_no_verdict(tmp_path: Path) -> None:
    file = claim(tmp_path, 1.0)
    (tmp_path / "code" / "train.py").write_text("raise SystemExit(3)\n", encoding="utf-8")
    done = gated(file)
    assert (last_line(done), done.returncode) == ("UNUSABLE", 5)


def test_a_claim_with_a_fixed_number_of_seeds_is_refused(tmp_path: Path) -> None:
    file = claim(tmp_path, 1.0, sequential="alpha: 0.05")
    file.write_text(file.read_text().replace(", max: 8", ""), encoding="utf-8")
    done = gated(file)
    assert done.returncode == 2
    assert "expected: sequential: {method: eprocess_t}" in done.stderr


def test_a_table_is_judged_once(tmp_path: Path) -> None:
    """It trains nothing, so that there is nothing to spend."""
    rows = [f"{arm},{seed},error,{2 + seed / 100 - gain}" for arm, gain in
            (("candidate", 0.5), ("baseline", 0.0)) for seed in range(6)]  # fmt: skip
    (tmp_path / "runs.csv").write_text("\n".join(["arm,seed,measurement,value", *rows]) + "\n")
    file = claim(tmp_path, 1.0, sequential="alpha: 0.05")
    text = file.read_text().replace(", max: 8", "").replace("from: error, ", "")
    before, _, after = text.partition("configuration:")
    arms = after[after.index("arms:") :].replace("args: {gain: 1.0}", "table: runs.csv")
    arms = arms.replace("args: {gain: 0}", "table: runs.csv").replace("paired", "independent")
    file.write_text(before + arms, encoding="utf-8")
    done = gated(file)
    assert (last_line(done), done.returncode) == ("KEEP", 0), done.stderr


def test_a_claim_that_was_written_from_its_results_keeps_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until somebody declares it: then it is judged as any other table."""
    monkeypatch.chdir(tmp_path)
    rows = [f"{arm},{seed},{2 + seed / 100 - gain}" for arm, gain in
            (("candidate", 0.5), ("baseline", 0.0)) for seed in range(6)]  # fmt: skip
    (tmp_path / "runs.csv").write_text("\n".join(["arm,seed,error", *rows]) + "\n")
    command("compare", "runs.csv", "--better", "lower")
    file = tmp_path / "candidate_vs_baseline.claim.yaml"
    done = gated(file)
    assert (last_line(done), done.returncode) == ("UNUSABLE", 4)
    assert "written from the results that it is judged on" in done.stdout
    text = file.read_text(encoding="utf-8")
    own = text[text.index("{own: ") : text.index("\narms:")]
    file.write_text(text.replace(own, '{own: "we want to know it"}'), encoding="utf-8")
    assert gated(file).returncode == 0


@pytest.mark.parametrize("paired", [False, True])
def test_a_change_that_is_none_is_seldom_kept(paired: bool) -> None:
    """Looked at after every one of 40 pairs, KEEP is said of at most 5 % of them, and so REJECT."""
    generator = np.random.default_rng(14)
    draws = 20_000
    a, b = generator.standard_normal((2, draws, 40))
    for first, second in ((a, b), (b, a)):
        kept = int(np.count_nonzero(eprocess(first, second, 0.05, paired=paired)))
        assert beta.ppf(0.99, kept + 1, draws - kept) < 0.05


REFERENCE = "arm,seed,measurement,value\n" + "".join(
    f"old,{seed},error,{value}\n" for seed, value in enumerate((2.0, 1.9, 2.1, 2.05, 1.95, 2.02))
)


def against_reference(folder: Path, gain: float) -> Path:
    """One new run of the program, against the runs of a reference that is a table."""
    text = claim(folder, gain, sequential="").read_text(encoding="utf-8")
    text = text.replace("baseline: {label: the baseline, args: {gain: 0}}",
                        "old: {label: the release, table: old.csv}")  # fmt: skip
    text = text.replace("seeds: {min: 5, plan: 5, max: 8}", "seeds: {min: 1, plan: 1}")
    text = text.replace("kind: difference", "kind: within").replace(
        "direction: lower", "side: both"
    )
    text = text.replace("[candidate, baseline]", "[candidate, old]").replace(
        "paired", "independent"
    )
    file = folder / "candidate.claim.yaml"
    file.write_text(text, encoding="utf-8")
    (folder / "old.csv").write_text(REFERENCE, encoding="utf-8")
    return file


@pytest.mark.parametrize(("gain", "word", "status"), [(0.0, "INSIDE", 0), (1.5, "REJECT", 1)])
def test_a_run_inside_its_reference_passes_by_a_word_of_its_own(
    tmp_path: Path, gain: float, word: str, status: int
) -> None:
    """Nothing speaks against it, and nothing is confirmed: so it is not kept, and passes."""
    done = gated(against_reference(tmp_path, gain), "--json")
    found = json.loads(done.stdout)
    assert (found["word"], done.returncode) == (word, status)
    if word == "INSIDE":
        assert found["conclusion"] == "INCONCLUSIVE"
        assert "proves little" in found["why"]
