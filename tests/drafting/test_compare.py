"""`repro compare`: results in any form, a verdict, and the claim that it stands for."""

from __future__ import annotations

import gzip
import json
import random
import statistics
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from scipy import stats

from repro.report.write import read_document
from repro.specs.load import load_claims
from tests.commands import repro

FIXTURES = Path(__file__).parents[1] / "evidence" / "imports"

MIXUP = (4.21, 4.35, 4.18, 4.29, 4.24)
PLAIN = (4.97, 5.08, 4.91, 5.03, 4.95)
EFFECT = statistics.mean(MIXUP) - statistics.mean(PLAIN)
"""mixup minus plain, whatever the form in which the values lie."""

VALUES = [("mixup", seed, value) for seed, value in enumerate(MIXUP)]
VALUES += [("plain", seed, value) for seed, value in enumerate(PLAIN)]


def tidy() -> str:
    rows = (f"{arm},{seed},error,{value}" for arm, seed, value in VALUES)
    Path("results.csv").write_text("\n".join(("arm,seed,measurement,value", *rows)))
    return "results.csv"


def wide() -> str:
    rows = (f"{arm}\t{seed}\t{value}\t0.1\tA100" for arm, seed, value in VALUES)
    Path("results.tsv").write_text("\n".join(("method\tseed\terror\tlr\tgpu", *rows)))
    return "results.tsv"


def columns() -> str:
    rows = (f"{a};{b}" for a, b in zip(MIXUP, PLAIN, strict=True))
    Path("results.csv").write_text("\n".join(("mixup;plain", *rows)))
    return "results.csv"


def unnumbered() -> str:
    rows = (f"{arm},{value}" for arm, _, value in VALUES)
    Path("results.csv").write_text("\n".join(("arm,error", *rows)))
    return "results.csv"


def json_lines() -> str:
    lines = (
        json.dumps({"config": {"optimizer": arm, "seed": seed}, "test": {"error": value}})
        for arm, seed, value in VALUES
    )
    Path("runs.jsonl").write_text("\n".join(lines))
    return "runs.jsonl"


def folders() -> str:
    """A folder per run, with what Hugging Face's Trainer leaves, and a second file."""
    for arm, seed, value in VALUES:
        folder = Path("out", arm, f"seed_{seed}")
        folder.mkdir(parents=True)
        (folder / "all_results.json").write_text(json.dumps({"eval_error": value, "epoch": 3.0}))
        (folder / "config.json").write_text(json.dumps({"hidden": 8}))
    return "out"


def flat() -> str:
    """A file per run, whose name says all."""
    Path("out").mkdir()
    for arm, seed, value in VALUES:
        Path(f"out/{arm}-{seed}.json").write_text(json.dumps({"error": value}))
    return "out"


def inside() -> str:
    """A file per run, which says in it which it is."""
    Path("out").mkdir()
    for number, (arm, seed, value) in enumerate(VALUES):
        said = {"arm": arm, "seed": seed, "error": value}
        Path(f"out/run{number}.json").write_text(json.dumps(said))
    return "out"


def files_of_arms() -> str:
    """A table per arm, with a row per run."""
    Path("out").mkdir()
    for arm in ("mixup", "plain"):
        rows = (f"{seed},{value}" for name, seed, value in VALUES if name == arm)
        Path(f"out/{arm}.csv").write_text("\n".join(("seed,error", *rows)))
    return "out"


FORMS = (tidy, wide, columns, unnumbered, json_lines, folders, flat, inside, files_of_arms)


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_verdict(form: object) -> None:
    """The effect is the difference of the means, and the claim says by itself what it read."""
    assert callable(form)
    done = repro("compare", form(), "--better", "lower", "--by", "0.3")
    assert done.returncode == 0, done.stderr
    rate = "error rate at most 2.5 % if the test's assumptions hold"
    assert f"mixup_vs_plain: VALID, CONFIRMED ({rate})" in done.stdout
    assert "read: n, the seeds per arm: mixup 5, plain 5" in done.stdout
    document = read_document(Path("reports/mixup_vs_plain/declared/report.json"))
    assert document.results[0].effect == pytest.approx(EFFECT, abs=1e-12)
    again = repro("verify", "mixup_vs_plain.claim.yaml")
    assert again.returncode == 0, again.stderr
    assert again.stdout.splitlines()[:2] == [
        line for line in done.stdout.splitlines() if "0.73 lower" in line or "VALID" in line
    ]


def test_what_was_guessed_is_said_and_can_be_said_instead() -> None:
    done = repro("compare", wide(), "--better", "lower")
    for line in (
        "arms by the field 'method'",
        "the number 'error'",
        "seeds by the field 'seed'",
        "compared with 'plain', by its name (else: --baseline)",
    ):
        assert line in done.stdout
    done = repro("compare", "results.tsv", "--better", "lower", "--baseline", "mixup")
    assert "plain_vs_mixup: VALID, CONTRADICTED" in done.stdout
    assert done.returncode == 1
    for option, words in (
        ("--measure", "there is no number 'none'"),
        ("--arm", "there is no field 'none'"),
        ("--seed", "there is no field 'none'"),
        ("--baseline", "there is no arm 'none'"),
    ):
        done = repro("compare", "results.tsv", "--better", "lower", option, "none")
        assert done.returncode == 2
        assert words in done.stderr


def test_it_is_said_that_nothing_was_declared_beforehand() -> None:
    """On the terminal, in every form of the report, and in the claim file."""
    done = repro("compare", tidy(), "--better", "lower")
    assert "exploratory: not declared beforehand\n" in done.stdout
    folder = Path("reports/mixup_vs_plain/declared")
    document = read_document(folder / "report.json")
    assert document.registration is not None
    assert document.registration.state == "exploratory"
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert page.count("xploratory: not declared beforehand") >= 2
    claim = Path("mixup_vs_plain.claim.yaml").read_text(encoding="utf-8")
    assert "exploratory: not declared beforehand" in claim
    assert not Path("store/looks").exists()
    again = repro("verify", "mixup_vs_plain.claim.yaml")
    assert "exploratory: not declared beforehand\n" in again.stdout
    document = read_document(folder / "report.json")
    assert document.registration is not None
    assert document.registration.state == "exploratory"


def test_the_margin_is_in_the_claim() -> None:
    repro("compare", tidy(), "--better", "lower", "--by", "0.7")
    text = Path("mixup_vs_plain.claim.yaml").read_text(encoding="utf-8")
    assert "smallest_effect: {abs: 0.7, why: " in text
    done = repro("compare", "results.csv", "--better", "lower", "--by", "0.8")
    assert "INCONCLUSIVE" in done.stdout
    assert done.returncode == 3


def test_a_claim_that_was_edited_is_not_replaced() -> None:
    """Its own, unedited, is; and a table is copied only where the results cannot be read."""
    repro("compare", tidy(), "--better", "lower")
    claim = Path("mixup_vs_plain.claim.yaml")
    assert [each.name for each in Path().glob("*.csv")] == ["results.csv"]
    edited = claim.read_text(encoding="utf-8").replace("plan: 5", "plan: 6")
    claim.write_text(edited, encoding="utf-8")
    done = repro("compare", "results.csv", "--better", "lower")
    assert done.returncode == 2
    assert f"{claim}:1:1: this file is there already" in done.stderr
    assert claim.read_text(encoding="utf-8") == edited
    done = repro("compare", "results.csv", "--better", "lower", "--out", "elsewhere")
    assert done.returncode == 0, done.stderr
    assert Path("elsewhere/mixup_vs_plain.claim.yaml").exists()
    assert Path("elsewhere/results_as_compared.csv").exists()
    copy = "elsewhere/results_as_compared.csv"
    assert f"the values are copied to {copy}, which the claim reads" in done.stdout


def test_claims_in_several_folders_have_ids_of_their_own() -> None:
    """So that no report is written in the place of another, and a folder above holds them all."""
    results = tidy()
    for out in (".", "first", "second/one"):
        done = repro("compare", results, "--better", "lower", "--out", out)
        assert done.returncode == 0, done.stderr
        assert "fragile" not in done.stdout
    ids = {claim.id for claim in load_claims([Path()])}
    assert ids == {"mixup_vs_plain", "mixup_vs_plain_first", "mixup_vs_plain_second_one"}
    assert {each.name for each in Path("reports").iterdir() if each.is_dir()} == ids


def test_ids_that_are_too_long_stay_apart() -> None:
    """They are cut, and what was cut off is in a mark."""
    long = "a_method_that_has_a_name_of_more_than_forty_letters"
    table = Path(tidy())
    table.write_text(table.read_text().replace("mixup", long).replace("plain", f"{long}_not"))
    for out in ("one_folder", "one_folder_more"):
        done = repro(
            "compare", table, "--better", "lower", "--baseline", f"{long}_not", "--out", out
        )
        assert done.returncode == 0, done.stderr
    ids = {claim.id for claim in load_claims([Path()])}
    assert len(ids) == 2
    assert {len(each) for each in ids} == {64}


@pytest.mark.parametrize("header", ["method,seed,error", "arm,seed,measurement,value"])
def test_three_arms_are_compared_where_values_are_copied(header: str) -> None:
    """Each claim has a table of its own two arms: no other arm may be in it."""
    middle = "error," if "measurement" in header else ""
    rows = [
        f"{arm},{seed},{middle}{size + seed / 10}"
        for size, arm in enumerate("abc")
        for seed in range(5)
    ]
    Path("three.csv").write_text("\n".join([header, *rows]) + "\n")
    for place in (".", "elsewhere"):
        done = repro("compare", "three.csv", "--better", "lower", "--baseline", "a", "--out", place)
        assert done.returncode in {0, 1}, done.stderr
        assert done.stdout.count(": VALID, ") == 2
    tables = sorted(path.name for path in Path("elsewhere").glob("*.csv"))
    assert tables == ["b_vs_a_as_compared.csv", "c_vs_a_as_compared.csv"]


def test_a_copy_that_was_edited_is_not_replaced() -> None:
    """Seeds that were added to it are nowhere else; and its claim stays as it is, too."""
    columns()
    repro("compare", "results.csv", "--better", "lower")
    copy, claim = Path("results_as_compared.csv"), Path("mixup_vs_plain.claim.yaml")
    before, written = copy.read_text(encoding="utf-8"), claim.read_text(encoding="utf-8")
    with copy.open("a", encoding="utf-8") as file:
        file.write("mixup,5,value,4.2,finished\nplain,5,value,4.9,finished\n")
    edited = copy.read_text(encoding="utf-8")
    done = repro("compare", "results.csv", "--better", "lower", "--by", "0.1")
    assert done.returncode == 2
    assert f"{copy}:1:1: this file is there already" in done.stderr
    assert copy.read_text(encoding="utf-8") == edited
    assert claim.read_text(encoding="utf-8") == written
    copy.write_text(before, encoding="utf-8")
    claim.write_text(f"{written}# mine\n", encoding="utf-8")
    with Path("results.csv").open("a", encoding="utf-8") as file:
        file.write("\n4.22;4.99\n")
    assert repro("compare", "results.csv", "--better", "lower").returncode == 2
    assert copy.read_text(encoding="utf-8") == before
    claim.write_text(written, encoding="utf-8")
    done = repro("compare", "results.csv", "--better", "lower")
    assert "seeds per arm: mixup 6, plain 6" in done.stdout, done.stderr
    assert len(copy.read_text(encoding="utf-8").splitlines()) == 13


def test_several_arms_are_a_family() -> None:
    """Each against the baseline, at its level among all, by Holm's method."""
    generator = random.Random(3)
    rows = [
        f"{arm},{seed},{generator.gauss(mean, 0.1)!r}"
        for arm, mean in (("a", 1.0), ("b", 1.0), ("c", 2.0))
        for seed in range(6)
    ]
    Path("results.csv").write_text("\n".join(("arm,seed,score", *rows)))
    done = repro("compare", "results.csv", "--better", "higher", "--baseline", "a", "--json")
    documents = json.loads(done.stdout)
    assert [each["claim"]["id"] for each in documents] == ["b_vs_a", "c_vs_a"]
    assert [each["family"]["method"] for each in documents] == ["holm", "holm"]
    assert [each["verdict"]["conclusion"] for each in documents][1] == "CONFIRMED"
    assert documents[0]["verdict"]["conclusion"] != "CONFIRMED"
    claims = load_claims([Path("b_vs_a.claim.yaml"), Path("c_vs_a.claim.yaml")])
    assert all(claim.family is not None for claim in claims)
    assert "read: " in done.stderr


@pytest.mark.parametrize(
    ("name", "source", "count"),
    [
        ("mlflow.db", "mlflow-3.17.2.db.gz", "4 (and 1 diverged)"),
        ("mlruns", "mlruns-3.17.2.tar.gz", "4 (and 1 diverged)"),
        ("tb", "tensorboard-2.21.0.tar.gz", "4"),
    ],
)
def test_trackers_are_read(name: str, source: str, count: str) -> None:
    """As their importers read them; runs that failed or diverged are counted, never dropped."""
    unpack(name, source)
    measure = {"tb": "val/error"}.get(name, "test_error")
    done = repro("compare", name, "--better", "lower", "--measure", measure)
    assert f"seeds per arm: mixup {count}, plain {count}" in done.stdout, done.stderr
    conclusion = "VALID, CONFIRMED" if name == "tb" else "INVALID, no conclusion"
    assert f"mixup_vs_plain: {conclusion}" in done.stdout
    (claim,) = load_claims(Path("mixup_vs_plain.claim.yaml"))
    importer = {"tb": "tensorboard"}.get(name, "mlflow")
    assert {arm.source.importer.from_ for arm in claim.arms.values()} == {importer}  # type: ignore[attr-defined]


def test_folders_of_events_with_other_names_are_told_how_to_be_named() -> None:
    for folder in (Path("tb", "alpha"), Path("tb", "beta")):
        folder.mkdir(parents=True)
        (folder / "events.out.tfevents.1").touch()
    done = repro("compare", "tb", "--better", "lower")
    advice = "to do: name the folders of runs by arm and seed, as in mixup/seed_0\n"
    assert done.stderr.endswith(advice)


@pytest.mark.parametrize(
    ("name", "source"), [("wandb", "wandb-0.31.0.tar.gz"), ("p.db", "trackio-0.43.0.db.gz")]
)
def test_too_few_seeds_are_told(name: str, source: str) -> None:
    """The fixtures of these trackers have two: nothing is written."""
    unpack(name, source)
    done = repro("compare", name, "--better", "lower")
    assert done.returncode == 2
    assert "has 2 seeds, which cannot decide" in done.stderr
    assert list(Path().glob("*.claim.yaml")) == []


def unpack(name: str, source: str) -> None:
    if source.endswith(".tar.gz"):
        with tarfile.open(FIXTURES / source) as archive:
            archive.extractall(filter="data")
    else:
        Path(name).write_bytes(gzip.decompress((FIXTURES / source).read_bytes()))


def odd_results() -> Iterator[tuple[str, bytes]]:
    yield "empty.csv", b""
    yield "header.csv", b"arm,seed,error\n"
    yield "words.csv", b"a,b\nx,y\nz,w\n"
    yield "one_arm.csv", b"arm,seed,error\na,0,1\na,1,2\na,2,3\n"
    yield "twice.csv", b"arm,seed,error\na,0,1\na,0,2\na,1,3\nb,0,1\nb,1,2\nb,2,4\n"
    yield "seeds.csv", b"arm,seed,error\na,x,1\na,y,2\na,z,3\nb,x,1\nb,y,2\nb,z,4\n"
    yield (
        "several.csv",
        b"arm,seed,error,loss\n"
        + b"a,0,1,2\na,1,2,3\na,2,3,4\n" * 1
        + (b"b,0,1,2\nb,1,2,3\nb,2,3,4\n"),
    )
    yield "binary.csv", bytes(range(256))
    yield "quote.csv", b'arm,seed,error\n"a,0,1\n'
    yield "tree.json", b'{"a": [1, 2, 3], "b": [2, 3, 4]}'
    yield "broken.jsonl", b'{"a": 1}\n{"a":'
    yield "nothing.db", b"SQLite format 3\x00 and no more"
    yield "results.xlsx", b"PK\x03\x04"
    yield "chart.csv", b"Step,a - err,a - err__MIN,a - err__MAX\n0,1,1,1\n"
    yield "odd name (1).csv", b"arm,seed,error\na,0,1\na,1,2\na,2,3\nb,0,1\nb,1,2\nb,2,4\n"
    yield "same.csv", b"arm,seed,error\na,0,1\na,1,1\na,2,1\nb,0,1\nb,1,1\nb,2,1\n"
    yield "nan.csv", b"arm,seed,error\na,0,nan\na,1,2\na,2,3\nb,0,inf\nb,1,2\nb,2,4\n"


@pytest.mark.parametrize(
    ("name", "content"), [pytest.param(*each, id=each[0]) for each in odd_results()]
)
def test_odd_results_are_refused_in_words(name: str, content: bytes) -> None:
    """A message that names the file and what to do, or a verdict; never a traceback."""
    Path(name).write_bytes(content)
    done = repro("compare", name, "--better", "lower")
    assert done.returncode in (2, 3, 4, 5)
    assert "Traceback" not in done.stderr
    if done.returncode in (2, 5):
        assert "to do: " in done.stderr or "is not UTF-8 text" in done.stderr
        assert name in done.stderr


def test_an_empty_folder_and_no_file_are_told() -> None:
    Path("empty").mkdir()
    assert "no results are in this folder" in repro("compare", "empty", "--better", "lower").stderr
    done = repro("compare", "none.csv", "--better", "lower")
    assert (done.returncode, "no such file" in done.stderr) == (2, True)


# another input, and the same one again


def test_another_limit_is_another_question_and_no_verdict_that_turned() -> None:
    Path("runs").mkdir()
    for seed, loss in enumerate((3.270, 3.271, 3.272, 3.271)):
        Path("runs", f"{seed}.json").write_text(f'{{"val_loss": {loss}}}', encoding="utf-8")
    assert repro("compare", "runs", "--at-most", "3.28").returncode == 0
    stricter = repro("compare", "runs", "--at-most", "3.26")
    assert (stricter.returncode, "CONTRADICTED" in stricter.stdout) == (1, True)
    assert repro("compare", "runs", "--at-most", "3.28").returncode == 0
    for seed in range(4):
        Path("runs", f"{seed}.json").write_text(f'{{"val_loss": 3.29{seed}}}', encoding="utf-8")
    assert repro("compare", "runs", "--at-most", "3.28").returncode == 6


def test_other_results_take_no_place_of_claim_table_or_report() -> None:
    """They go to a folder of their own; and what changed in the same results is said."""
    wide()
    Path("other.tsv").write_text(Path("results.tsv").read_text().replace("4.21", "4.11"))
    assert repro("compare", "results.tsv", "--better", "lower").returncode == 0
    claim, report = Path("mixup_vs_plain.claim.yaml"), Path("reports/mixup_vs_plain/declared")
    before = (claim.read_bytes(), (report / "report.json").read_bytes())
    for there in (claim, report):  # by the claim, and by the report alone
        done = repro("compare", "other.tsv", "--better", "lower")
        assert done.returncode == 0, done.stderr
        assert (
            f"read: {there} is of other results; the claim of these goes to other_" in done.stdout
        )
        (own,) = Path().glob("other_*/mixup_vs_plain.claim.yaml")
        assert Path("reports", f"mixup_vs_plain_{own.parent}").is_dir()
        if claim.exists():
            claim.rename("moved.yaml")
    assert (Path("moved.yaml").read_bytes(), (report / "report.json").read_bytes()) == before
    Path("moved.yaml").rename(claim)
    Path("other.tsv").rename("results.tsv")
    done = repro("compare", Path("results.tsv").resolve(), "--better", "lower")
    assert (
        "since the last comparison: 1 value changed (mixup_vs_plain was VALID, CONF" in done.stdout
    )
    done = repro("compare", "./results.tsv", "--better", "lower")
    assert "since the last comparison" not in done.stdout


def test_a_table_that_another_claim_reads_is_not_replaced() -> None:
    """Two results of one name, whose arms are called otherwise."""
    for folder, name in (("first", "mixup"), ("second", "cutmix")):
        Path(folder).mkdir()
        rows = (f"{a}\t{b}" for a, b in zip(MIXUP, PLAIN, strict=True))
        Path(folder, "results.tsv").write_text("\n".join((f"{name}\tplain", *rows)))
    assert repro("compare", "first/results.tsv", "--better", "lower").returncode == 0
    before = Path("results_as_compared.csv").read_bytes()
    done = repro("compare", "second/results.tsv", "--better", "lower")
    assert (done.returncode, Path("cutmix_vs_plain_as_compared.csv").exists()) == (0, True)
    assert Path("results_as_compared.csv").read_bytes() == before
    done = repro("compare", "second/results.tsv", "--better", "lower", "--baseline", "cutmix")
    assert (done.returncode, Path("plain_vs_cutmix.claim.yaml").exists()) == (1, True), done.stderr


def test_folders_that_are_called_almost_alike_share_no_report() -> None:
    results = tidy()
    assert repro("compare", results, "--better", "lower", "--out", "a/b").returncode == 0
    Path("other.csv").write_text(Path(results).read_text())
    done = repro("compare", "other.csv", "--better", "lower", "--out", "a_b")
    assert "reports/mixup_vs_plain_a_b/declared is of other results" in done.stdout
    assert len(list(Path("reports").glob("*/declared/report.json"))) == 2


def test_results_that_cannot_be_read_end_with_2() -> None:
    for name, content in (("long.csv", "a,b\n1,2,3\n"), ("odd.csv", b"\xff"), ("n.json", "{")):
        Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
        assert repro("compare", name, "--better", "lower").returncode == 2


def test_another_number_is_another_question() -> None:
    """The verdict on one number does not flip to that on another of the same runs."""
    values = [
        (arm, s, mean + s / 100) for arm, mean in (("base", 1), ("ours", 2)) for s in range(4)
    ]
    rows = [f"{arm},{s},{value},{value}" for arm, s, value in values]
    Path("two.csv").write_text("\n".join(("arm,seed,acc,loss", *rows)))
    asked = ("compare", "two.csv", "--baseline", "base")
    assert repro(*asked, "--measure", "acc", "--better", "higher").returncode == 0
    done = repro(*asked, "--measure", "loss", "--better", "lower")
    assert done.returncode == 1
    assert "Another question than on " in done.stdout
    assert "when it was CONFIRMED: the claim was changed" in done.stdout
    assert "now CONTRADICTED" not in done.stdout


@pytest.mark.parametrize(
    "printed",
    [
        *("5.02 ± 0.11, n=5", "5.02+-0.11 (n = 5)", "5.02 (0.11), n = 5", "5.02 ± 0.11 (5 seeds)"),
        *("5.02 ± 0.11, N = 5", "5,02 ± 0,11, n=5", "5.02 (0.11) over 5 seeds"),
    ],
)
def test_runs_are_held_against_a_printed_mean(printed: str) -> None:
    """By the prediction interval of a mean of three (t with 4 degrees of freedom)."""
    half = stats.t(4).ppf(0.975) * 0.11 * (1 / 3 + 1 / 5) ** 0.5
    for shift, status, word in ((0.99, 3, "INCONCLUSIVE"), (1.01, 1, "CONTRADICTED")):
        mean = 5.02 + shift * half
        rows = [f"{seed},{mean + off}" for seed, off in enumerate((-0.01, 0.0, 0.01))]
        file = Path(f"{word.lower()}.csv")
        file.write_text("\n".join(("seed,error", *rows)))
        done = repro("compare", file, "--within", printed)
        assert (done.returncode, word in done.stdout) == (status, True), done.stderr
        heavy = "if tails are heavy (t4), as measured" in done.stdout
        assert heavy == ("as measured" in done.stdout)
    assert repro("verify", "contradicted_vs_the_paper.claim.yaml").returncode == 1


def test_a_printed_mean_without_scatter_is_refused_and_the_advice_works() -> None:
    Path("mine.csv").write_text("seed,error\n0,5.1\n1,5.2\n2,5.3\n")
    for printed in ("5.02", "5.02 ± 0.11"):
        done = repro("compare", "mine.csv", "--within", printed)
        assert (done.returncode, "no scatter is known" in done.stderr) == (2, True)
    assert repro("compare", "mine.csv", "--at-most", "5.02").returncode == 1


def test_a_printed_deviation_in_units_of_the_last_digit_is_not_guessed() -> None:
    """91.0(3) is 91.0 ± 0.3 for most who write so; ±3 would let a run of 90.1 pass."""
    Path("mine.json").write_text('{"acc": 90.1}')
    within = ("compare", "mine.json", "--better", "higher", "--within")
    for printed in ("91.0(3), n=8", "91,0 (3), n=8"):
        done = repro(*within, printed)
        assert (done.returncode, "3 units of the last digit" in done.stderr) == (2, True)
    assert "below 90.40" in repro(*within, "91.0 (0.3), n=8").stdout


def test_a_printed_reference_may_name_its_numbers() -> None:
    """M and SD of a psychologist, and percent signs of a table, are those of `5.02 ± 0.11, n=5`."""
    Path("mine.csv").write_text("seed,error\n0,5.5\n")
    plain = repro("compare", "mine.csv", "--within", "5.02 ± 0.11, n=5").stdout
    for printed in (
        "M = 5.02, SD = 0.11, n = 5",
        "M = 5.02 (SD = 0.11), n = 5",
        "5.02% ± 0.11%, n=5",
    ):
        said = repro("compare", "mine.csv", "--within", printed).stdout
        assert said.splitlines()[-4:] == plain.splitlines()[-4:], said
    done = repro("compare", "mine.csv", "--within", "5.02 ± 0.11 (SE), n=5")
    assert (done.returncode, "the error times √n" in done.stderr) == (2, True)


def test_a_run_is_held_against_another_arm_of_its_table() -> None:
    """By t of the ten with √(1 + 1/10); error is lower the better, by its name."""
    old = [4.9, 5.0, 5.1, 5.0, 5.05, 4.95, 5.02, 4.98, 5.0, 5.0]
    rows = [*(f"old,{seed},{value}" for seed, value in enumerate(old)), "new,100,5.2"]
    Path("both.csv").write_text("\n".join(("arm,seed,error", *rows)))
    done = repro("compare", "both.csv", "--within", "old", "--arm", "arm", "--out", "named")
    assert "new_vs_old_named: VALID, CONTRADICTED" in done.stdout, done.stderr
    done = repro("compare", "both.csv", "--within", "old")
    assert "lower is better in tables (else: --better)" in done.stdout, done.stderr
    (found,) = read_document(Path("reports/new_vs_old/declared/report.json")).results
    t = (5.2 - statistics.mean(old)) / (statistics.stdev(old) * (1 + 1 / 10) ** 0.5)
    assert found.p_against == pytest.approx(2 * float(stats.t(9).sf(t)))
    Path("apart.csv").write_text(
        "\n".join(("seed,error", *(f"{n},{x}" for n, x in enumerate(old))))
    )
    done = repro("compare", "both.csv", "--within", "apart.csv", "--arm", "arm", "--out", "apart")
    assert "new_vs_apart_apart: VALID, CONTRADICTED" in done.stdout, done.stderr
    done = repro("compare", "both.csv", "--within", "older", "--arm", "arm")
    assert (done.returncode, "arms are old, new" in done.stderr) == (2, True)
    done = repro("compare", "both.csv", "--within", "5,02 ± 0,11")
    assert (done.returncode, "'5.02 ± 0.11, n=5'" in done.stderr) == (2, True)


def test_a_rate_measured_at_another_level_is_not_quoted_as_that_of_the_claim() -> None:
    """Three against five with 1:10 spreads err in 5.6 % at a level of 5 %: not at one of 1 %."""
    finals = {"mid": (3.270, 3.272, 3.274), "edge": (3.2795, 3.2796, 3.2793, 3.2799, 3.2801)}
    for name, values in finals.items():
        rows = [f"{seed},{value}" for seed, value in enumerate(values)]
        Path(f"{name}.csv").write_text("\n".join(("seed,loss", *rows)))
    asked = ("compare", "mid.csv", "--against", "edge.csv", "--better", "lower", "--by", "0.005")
    assert (
        "error rate 5.6 % instead of 5 % as measured in designs like this" in repro(*asked).stdout
    )
    said = repro(*asked, "--alpha", "0.01", "--out", "strict").stdout
    assert "error rate at most 1 % if the test's assumptions hold" in said
    assert "at a level of 5 %, designs like this have 5.6 %" in said


def test_a_number_to_compare_with_is_told_its_options() -> None:
    Path("t.csv").write_text("seed,error\n0,5.1\n1,5.0\n2,5.2\n")
    done = repro("compare", "t.csv", "--against", "5.02", "--better", "lower")
    assert (done.returncode, "--at-most 5.02 or --at-least 5.02" in done.stderr) == (2, True)


def test_percents_and_fractions_of_two_files_are_not_compared() -> None:
    """With signs they are refused, and without; a printed mean has the flag of the judge."""
    for name, cells in (("signs", "50% 51% 49%"), ("plain", "50 51 49"), ("mine", "0.60")):
        rows = [f"{seed},{cell}" for seed, cell in enumerate(cells.split())]
        Path(f"{name}.csv").write_text("\n".join(("seed,acc", *rows)))
    asked = ("compare", "mine.csv", "--better", "higher", "--within")
    done = repro(*asked, "signs.csv")
    assert (done.returncode, "some numbers have a percent sign" in done.stderr) == (2, True)
    done = repro(*asked, "plain.csv")
    assert (done.returncode, "one may be in percent" in done.stderr) == (2, True)
    assert "units that differ" in repro(*asked, "50.1 ± 1.0, n=3").stdout


@pytest.mark.parametrize(
    ("name", "cells", "limit"),
    [
        ("accuracy", "88.1 88.4 87.9", "--at-least 0.9"),
        ("error", "0.081 0.084 0.079", "--at-most 5"),
        ("val_acc", "0.912 0.915 0.909", "--at-least 91"),
        ("accuracy", "91.2% 91.5% 90.9%", "--at-least 0.91"),
        ("error_rate", "12% 12.5% 11.8%", "--at-most 0.15"),
        ("score", "91.2 91.5 90.9", "--at-least 0.91"),
    ],
)
def test_a_limit_in_another_unit_is_refused(name: str, cells: str, limit: str) -> None:
    """88 % is below 90 %, and was confirmed to be at least 0.9."""
    rows = [f"{seed},{cell}" for seed, cell in enumerate(cells.split())]
    Path("t.csv").write_text("\n".join((f"seed,{name}", *rows)))
    done = repro("compare", "t.csv", *limit.split())
    assert (done.returncode, "one may be in percent" in done.stderr) == (2, True), done.stdout
    reason = repro("compare", "t.csv", *limit.split(), "--why", "the target of the benchmark")
    assert reason.returncode == 2, "a reason for the limit says nothing of its unit"
    assert repro("compare", "t.csv", *limit.split(), "--why", "both in percent").returncode < 2


@pytest.mark.parametrize(
    "name", ["mean_abs_error", "val_accuracy_loss", "mean squared error", "rms_err", "acc_mse"]
)
def test_a_limit_of_a_number_without_a_bound_is_judged(name: str) -> None:
    Path("t.csv").write_text(f"seed,{name}\n0,0.90\n1,0.92\n2,0.91\n")
    done = repro("compare", "t.csv", "--at-most", "1.5")
    assert done.returncode == 0, done.stderr


def test_a_limit_in_the_unit_of_a_small_number_is_judged() -> None:
    """A loss of 0.08 at most 3.28 is nothing in percent, and an accuracy of 0.8 at most 1."""
    for name, cell, limit in (("loss", 0.08, "3.28"), ("error", 0.12, "1"), ("acc", 1.0, "1.2")):
        rows = [f"{seed},{cell + seed / 1000}" for seed in range(3)]
        Path("t.csv").write_text("\n".join((f"seed,{name}", *rows)))
        done = repro("compare", "t.csv", "--at-most", limit, "--measure", name, "--out", name)
        assert "CONFIRMED" in done.stdout, done.stderr
