"""`repro verify` on a user's own results, and its document on stdout."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from repro import judge
from repro.errors import ClaimError, SpecError
from repro.evidence.csv_table import TableFile
from repro.judging.document import Document
from repro.judging.gather import gather
from repro.report.formats import rendered
from repro.report.write import MANY, read_document
from repro.specs.claim import Claim
from repro.specs.load import load_claim, load_claims
from repro.store.run_store import RunStore
from repro.workflows.verify import Options, plan_runs, verify_claims
from tests.evidence.tidy import MOS, RANKS, printed_softmax, rank_csv
from tests.judging.evidence import claim

ROOT = Path(__file__).parents[2]
CLAIM = ROOT / "tests" / "claims" / "mos_rank.yaml"
NO_TORCH = Path(__file__).parents[1] / "without_torch.py"


def results(folder: Path, text: str = "") -> Path:
    """A user's own results, sound unless other text is given."""
    path = folder / "mine.csv"
    path.write_text(text or rank_csv(), encoding="utf-8")
    return path


def run(folder: Path, *arguments: str | Path, command: str = "verify") -> Any:
    """`repro verify` in a process in which importing torch raises."""
    own = ["--reports", folder / "reports", "--store", folder / "store"]
    line = [command, *map(str, arguments), *(map(str, own) if command == "verify" else ())]
    return subprocess.run(
        [sys.executable, str(NO_TORCH), *line], capture_output=True, text=True, check=False
    )


def test_own_results_are_judged_without_torch(tmp_path: Path) -> None:
    """A CSV gives a verdict and a report; nothing is trained, and torch is not needed."""
    done = run(tmp_path, CLAIM, "--results", results(tmp_path))
    assert done.returncode == 0, done.stderr
    rate = "error rate at most 5 % if the test's assumptions hold"
    assert f"mos_rank (quick): VALID, CONFIRMED ({rate}), fragile: canary" in done.stdout
    assert f"nothing trained: the values are those of {tmp_path / 'mine.csv'}" in done.stdout
    folder = tmp_path / "reports" / "mos_rank" / "quick"
    assert (folder / "report.pdf").is_file()
    table = read_document(folder / "report.json").arms[0].table
    assert table is not None
    assert table.file == "mine.csv"
    assert table.sha256 == hashlib.sha256((tmp_path / "mine.csv").read_bytes()).hexdigest()


def test_an_empty_store_is_judged_without_torch(tmp_path: Path) -> None:
    """`--no-train` imports no torch either, and says what is missing."""
    done = run(tmp_path, CLAIM, "--no-train")
    assert done.returncode == 3, done.stderr
    assert "15 missing" in done.stdout


def test_torch_really_cannot_be_imported(tmp_path: Path) -> None:
    """The process of these tests has no torch: the doctor says so."""
    done = run(tmp_path, "--store", tmp_path / "store", command="doctor")
    assert done.returncode == 5
    assert "torch cannot be imported" in done.stdout


def test_printed_numbers_are_audited_without_torch(tmp_path: Path) -> None:
    """`repro audit` on a table needs no torch."""
    table = tmp_path / "table.csv"
    head = "id,mean_a,sd_a,n_a,mean_b,sd_b,n_b,p"
    table.write_text(f"{head}\nx,56.39,0.19,10,56.45,0.10,10,0.39\n", encoding="utf-8")
    done = run(tmp_path, table, command="audit")
    assert "Traceback" not in done.stderr
    assert done.returncode in (0, 1), done.stderr


def test_the_document_alone_is_on_stdout(tmp_path: Path) -> None:
    """`--json` prints the document that is in report.json; the lines for people go to stderr."""
    done = run(tmp_path, CLAIM, "--results", results(tmp_path), "--json")
    assert done.returncode == 0, done.stderr
    file = tmp_path / "reports" / "mos_rank" / "quick" / "report.json"
    assert done.stdout == file.read_text(encoding="utf-8")
    assert "mos_rank (quick): VALID, CONFIRMED" in done.stderr


def test_several_documents_are_an_array(tmp_path: Path) -> None:
    """With more than one claim `--json` prints an array, in the order of the claims."""
    done = run(tmp_path, CLAIM, ROOT / "claims" / "fair_mos.yaml", "--no-train", "--json")
    assert done.returncode == 3, done.stderr
    assert [one["claim"]["id"] for one in json.loads(done.stdout)] == ["mos_rank", "fair_mos"]


def test_a_bad_table_leaves_nothing_behind(tmp_path: Path) -> None:
    """Every bad row is named, the status is 2, and no report is written."""
    bad = results(tmp_path, rank_csv() + "mos,0,rank,1\nmso,1,rank,many\n")
    done = run(tmp_path, CLAIM, "--results", bad, "--json")
    assert done.returncode == 2
    problems = json.loads(done.stdout)["problems"]
    assert [(each["line"], each["column"]) for each in problems] == [(17, 1), (18, 1), (18, 12)]
    places = [line for line in done.stderr.splitlines() if "mine.csv:" in line]
    assert [line.rpartition("mine.csv:")[2].split(" ")[0] for line in places] == [
        *("17:1:", "18:1:", "18:12:"),
    ]
    assert "did you mean 'mos'?" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "reports").exists()


@pytest.mark.parametrize("place", [".", "/dev/zero", "nothing.csv"])
def test_what_is_no_file_is_refused(tmp_path: Path, place: str) -> None:
    """A folder, a device and a name that leads nowhere end with 2 and a message."""
    done = run(tmp_path, CLAIM, "--results", place)
    assert done.returncode == 2
    assert done.stderr.startswith(f"{place}:1:1: ")
    assert "Traceback" not in done.stderr


def options(folder: Path, **how: Any) -> Options:
    """Options with everything below a folder."""
    return Options(RunStore(folder / "store"), reports=folder / "reports", **how)


def test_one_file_is_the_results_of_one_claim(tmp_path: Path) -> None:
    """A CSV for a folder of claims is refused before anything is read."""
    claims = load_claims(ROOT / "claims" / "nightly", "quick")
    assert len(claims) == 2
    with pytest.raises(ClaimError, match=f"the results of one claim, and {len(claims)} claims"):
        verify_claims(claims, options(tmp_path, results=tmp_path / "nothing.csv"))


def test_results_of_a_claim_that_is_printed_are_refused(tmp_path: Path) -> None:
    """Where every arm is printed there is nothing to give results of."""
    of = printed_softmax()
    of = of.model_copy(update={"arms": {"mos": of.arms["softmax"], "softmax": of.arms["softmax"]}})
    with pytest.raises(ClaimError, match="every arm of fair_mos is printed"):
        verify_claims([of], options(tmp_path, results=results(tmp_path)))


def test_a_bad_table_beside_a_claim_is_noticed_before_training(tmp_path: Path) -> None:
    """The table of one arm is read before the runs of the others are trained."""
    of = claim("mos_rank")
    table = of.arms["softmax"].model_copy(
        update={"configuration": None, "source": TableFile(table="nothing.csv")}
    )
    changes = {"arms": {**of.arms, "softmax": table}, "file": str(tmp_path / "claim.yaml")}
    broken = of.model_copy(update=changes)
    with pytest.raises(SpecError, match=r"nothing\.csv"):
        verify_claims([broken], options(tmp_path))
    assert not (tmp_path / "reports").exists()


def test_a_printed_claim_is_verified_without_runs(tmp_path: Path) -> None:
    """Where all arms are printed nothing is planned, and the verdict is on the summaries."""
    of = printed_softmax("56.45", "0.10", 10)
    mos = of.arms["softmax"].model_copy(update={"label": "MoS, printed"})
    of = of.model_copy(update={"arms": {"mos": mos, "softmax": of.arms["softmax"]}})
    verified = verify_claims([of], options(tmp_path))
    assert (verified.trained, verified.reused, verified.missing) == (0, 0, 0)
    (document,) = verified.documents
    assert document.verdict.validity == "VALID"
    assert document.verdict.conclusion == "CONFIRMED"


def frame(of: Claim, folder: Path) -> Any:
    """The tidy frame of a user's own results, through pandas."""
    import pandas as pd

    results(folder)
    assert of.id == "mos_rank"
    return pd.read_csv(folder / "mine.csv")


def test_a_frame_is_judged_like_its_csv(tmp_path: Path) -> None:
    """`repro.judge` on what pandas reads gives the verdict and numbers of `--results`."""
    of = load_claim(CLAIM, "quick")
    here = judge(of, frame(of, tmp_path))
    (there,) = verify_claims([of], options(tmp_path, results=tmp_path / "mine.csv")).documents
    assert isinstance(here, Document)
    assert here.results == there.results
    assert here.registration == there.registration
    assert here.registration is not None
    assert here.registration.state == "none"
    assert (
        "There is no record of when this claim was declared"
        in rendered(here)["report.html"].decode()
    )
    assert here.verdict == there.verdict.model_copy(
        update={"flags": here.verdict.flags}
    )  # a flag names the source
    assert here.arms[0].replicates == there.arms[0].replicates


def test_runs_go_to_a_frame_and_back_to_the_same_results(sample_store: Path) -> None:
    """The committed runs, as a frame of `Evidence.table()`, give the numbers that they gave."""
    of = load_claim(ROOT / "claims" / "mos_rank.yaml", "bench")
    evidence = gather(of, RunStore(sample_store))
    document = judge(of, evidence.table())
    committed = read_document(ROOT / "reports/sample/mos_rank/bench/report.json")
    assert [r.effect for r in document.results] == [r.effect for r in committed.results]
    assert document.verdict.conclusion == committed.verdict.conclusion


def test_a_paired_design_refuses_seeds_that_do_not_match(tmp_path: Path) -> None:
    """A paired test on unmatched seeds is refused in words that name them."""
    import pandas as pd

    of = claim("lms_plif_regularization", design="paired")
    leaf = next(one for one in of.expectations if one.kind == "difference")
    paired = leaf.model_copy(update={"test": "paired"})
    of = of.model_copy(update={"expectations": (paired,), "published": ()})
    rows = [
        (arm, seed + (arm == paired.of[0]) * 1, name, 90.0 + seed * 0.1 + i)
        for i, arm in enumerate(of.arms)
        for seed in range(of.seeds.plan)
        for name in of.measurements
    ]
    document = judge(of, pd.DataFrame(rows, columns=["arm", "seed", "measurement", "value"]))
    (found,) = document.results
    assert document.verdict.conclusion == "NOT-TESTED"
    assert found.p is None
    assert "0" in found.sentence
    assert str(of.seeds.plan) in found.sentence


def test_more_seeds_are_all_in_the_report(tmp_path: Path) -> None:
    """Seven seeds per arm where five were planned: seven are judged, and five are named."""
    more = {arm: [*values, values[0], values[1]] for arm, values in RANKS.items()}
    assert len(more["mos"]) == len(MOS) + 2
    done = run(tmp_path, CLAIM, "--results", results(tmp_path, rank_csv(more)))
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "reports/mos_rank/quick/report.html").read_text(encoding="utf-8")
    assert "7, 5 planned" in page
    assert "7 seeds per arm" in page


GOOD = ROOT / "tests" / "specs" / "good"


def test_a_table_beside_the_claim_is_verified_without_torch(tmp_path: Path) -> None:
    """A claim whose arms all come from its table needs no store, no training and no torch."""
    done = run(tmp_path, GOOD / "table_claim.yaml", "--scale", "paper")
    assert done.returncode == 0, done.stderr
    assert "table_claim (paper): VALID, CONFIRMED" in done.stdout
    assert "nothing to train: every value is from a table or printed" in done.stdout
    document = read_document(tmp_path / "reports" / "table_claim" / "paper" / "report.json")
    assert {(arm.evidence, arm.planned) for arm in document.arms} == {("table", 10)}
    assert document.verdict.agreement == "COMPATIBLE"
    assert "the user's own, from table_claim.csv" in document.verdict.agreement_reason


def test_results_stand_in_for_the_table_of_the_claim(tmp_path: Path) -> None:
    """With `--results` the table that the claim names is not read."""
    text = (GOOD / "table_claim.csv").read_text(encoding="utf-8")
    swapped = text.replace("new,", "x,").replace("old,", "new,").replace("x,", "old,")
    (document,) = verify_claims(
        [load_claim(GOOD / "table_claim.yaml", "paper")],
        options(tmp_path, results=results(tmp_path, swapped)),
    ).documents
    assert document.verdict.conclusion == "CONTRADICTED"
    assert {arm.table.file for arm in document.arms if arm.table} == {"mine.csv"}


def test_a_printed_arm_beside_a_table_and_runs(tmp_path: Path) -> None:
    """The store lacks the runs of one arm; those that are printed or in a table are there."""
    of = load_claim(GOOD / "mixed_claim.yaml", "quick")
    (document,) = verify_claims([of], options(tmp_path, train=False)).documents
    assert [arm.evidence for arm in document.arms] == ["runs", "published", "table"]
    assert document.verdict.validity_reason == "MoS: 0 of 3 seeds"
    assert "The values of Softmax as printed are printed numbers." in document.scale.notice


def test_a_plan_has_only_the_arms_that_are_trained(tmp_path: Path) -> None:
    """A printed arm and one from a table cost nothing; a first seed numbers the runs of its arm."""
    of = load_claim(GOOD / "mixed_claim.yaml", "quick")
    later = of.arms["mos"].model_copy(update={"first_seed": 7})
    of = of.model_copy(update={"arms": {**of.arms, "mos": later}})
    planned = plan_runs([of], RunStore(tmp_path / "store"))
    assert [one.planned.label for one in planned.runs] == [
        "MoS, seed 7",
        "MoS, seed 8",
        "MoS, seed 9",
    ]
    assert [one.planned.run.replicate for one in planned.runs] == [7, 8, 9]
    found = gather(of, RunStore(tmp_path / "store"))
    assert [one.number for one in found.arms["mos"]] == [7, 8, 9]


def test_many_reports_are_those_that_one_process_renders(tmp_path: Path) -> None:
    """Byte for byte, from processes of their own."""
    files = sorted((ROOT / "claims" / "lim2018").glob("*_printed.claim.yaml"))[:MANY]
    options = Options(RunStore(tmp_path / "store"), reports=tmp_path / "reports")
    verify_claims(load_claims(files), options)
    reports = sorted((tmp_path / "reports").glob("*/*/report.json"))
    assert len(reports) == MANY
    for path in reports:
        here = rendered(read_document(path))
        assert here == {name: (path.parent / name).read_bytes() for name in here}
