"""`repro audit`: what it prints, how it ends, and what it does without."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from repro.audit.audit import audit_paths
from repro.audit.comparison import LEGEND, Audit, Audited, Grade
from repro.audit.render import to_json, to_text
from repro.errors import SpecError
from tests.audit.parthiban import EIGHT, ELEVEN, as_csv
from tests.commands import repro

KEYS = [
    "id",
    "p_printed",
    "p_interval",
    "p_student",
    "p_welch",
    "matches",
    "grade",
    "decision_survives_rounding",
    "holm",
    "smallest_confirmable_margin",
]
HEADER = "id,mean_a,sd_a,n_a,mean_b,sd_b,n_b,p\n"
FRAGILE = HEADER + "x,64.15,0.17,10,64.30,0.17,10,6.41e-2\n"
DECLARED = HEADER.replace("p\n", "p,test\n")
WRONG = DECLARED + "x,56.39,0.19,10,56.45,0.10,10,0.62,welch\n"
OPPOSITE = DECLARED + "x,56.39,0.19,10,56.45,0.10,10,0.01,welch\n"
UNKNOWN = HEADER + "x,56.39,0.19,10,56.45,0.10,10,0.01\n"
ONE_SIDED = HEADER + "x,57.08,0.10,10,57.03,0.15,10,0.19\n"
RIGHT = HEADER + "x,57.08,0.10,10,54.88,0.26,10,1.89e-11\n"
UNPRINTED = HEADER + "x,57.08,0.10,10,54.88,0.26,10,\n"


@pytest.fixture
def table(tmp_path):
    """Writes a table and gives its path."""

    def write(text, name="table.csv"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_json_is_an_array_with_one_object_a_row(table):
    """Each row has the keys that a reader relies on, in the order of the table."""
    done = repro("audit", table(as_csv()), "--json")
    rows = json.loads(done.stdout)
    assert done.returncode == 0, done.stderr
    assert [row["id"] for row in rows] == list(ELEVEN)
    assert all(list(row)[: len(KEYS)] == KEYS for row in rows)
    last = rows[-1]
    assert last["p_printed"] == "0.62"
    assert last["p_interval"] == pytest.approx([0.301, 0.484], abs=5e-4)
    assert last["p_student"] == pytest.approx(0.389, abs=5e-4)
    assert last["p_welch"] == pytest.approx(0.392, abs=5e-4)
    assert (last["matches"], last["grade"]) == ([], "INCONSISTENT")
    assert last["decision_survives_rounding"] is True
    assert last["assumed"]["variant"] == "student two-sided ddof=1 n=10"
    assert len(last["table"]["findings"]) >= 3


def test_the_text_says_what_was_found(table):
    """Worst first; the variant, the fingerprint and Holm's correction for the whole table."""
    done = repro("audit", table(as_csv(EIGHT)))
    text = " ".join(done.stdout.split())
    assert done.returncode == 0, done.stderr
    assert "Assumed test: student two-sided ddof=1, the only variant" in text
    assert "8 of 8 printed p-values equal, to all printed digits" in text
    assert "not after Holm over its family of 8: 0.0822" in text
    assert "Rounding model: round" in text
    assert "8 statements: 8 CONSISTENT" in text
    assert done.stderr == ""


def test_the_worst_comes_first_and_each_grade_is_explained(table):
    """Rows stand by grade; the legend has the grades that occur, and the last line counts them."""
    text = to_text(audit_paths([table(as_csv())]), 100)
    assert text.index("DECISION-FRAGILE: WT2") < text.index("INCONSISTENT: PTB MoS")
    assert text.index("INCONSISTENT: PTB MoS") < text.index("CONSISTENT: PTB SS")
    for grade in (Grade.DECISION_FRAGILE, Grade.INCONSISTENT, Grade.CONSISTENT):
        assert f"{grade}: {LEGEND[grade]}" in text
    assert LEGEND[Grade.NOT_CHECKABLE] not in text
    assert text.splitlines()[-1] == (
        "11 statements: 1 DECISION-FRAGILE, 1 INCONSISTENT, 9 CONSISTENT"
    )


@pytest.mark.parametrize("width", [50, 80, 120])
def test_no_line_is_wider_than_the_terminal(table, width):
    """Lines are broken at words, however narrow the terminal."""
    text = to_text(audit_paths([table(as_csv(), "t.csv")]), width)
    paths = str(table(as_csv(), "t.csv"))
    assert all(len(line) <= width for line in text.splitlines() if line not in paths)


@pytest.mark.parametrize(
    ("text", "policy", "code"),
    [
        (OPPOSITE, (), 1),
        (FRAGILE, (), 0),
        (WRONG, (), 0),
        (OPPOSITE, ("--fail-on", "never"), 0),
        (FRAGILE, ("--fail-on", "decision-fragile"), 1),
        (WRONG, ("--fail-on", "decision-fragile"), 0),
        (WRONG, ("--fail-on", "inconsistent"), 1),
        (UNKNOWN, (), 0),
        (UNKNOWN, ("--fail-on", "inconsistent"), 0),
        (UNKNOWN, ("--fail-on", "not-by-t-test"), 1),
        (ONE_SIDED, ("--fail-on", "inconsistent"), 0),
        (ONE_SIDED, ("--fail-on", "consistent-if"), 1),
        (RIGHT, ("--fail-on", "consistent-if"), 0),
        (UNPRINTED, ("--fail-on", "consistent-if"), 0),
    ],
)
def test_the_exit_code_follows_the_policy(table, text, policy, code):
    """1 where a row is as bad as the policy names, or worse; by default a reversed decision."""
    done = repro("audit", table(text), *policy)
    assert done.returncode == code, done.stdout + done.stderr
    assert done.stderr == ""


def test_a_bad_row_ends_with_2_and_prints_no_good_one(table):
    """The bad row is named on stderr with row and column, and for programs on stdout."""
    path = table(as_csv() + "bad,57.08,x,10,57.03,0.15,10,0.1\n")
    for arguments in ((), ("--json",)):
        done = repro("audit", path, *arguments)
        assert done.returncode == 2
        problems = json.loads(done.stdout)["problems"] if arguments else []
        assert [(each["line"], each["column"]) for each in problems] == [(13, 3)] * len(arguments)
        assert bool(done.stdout) == bool(arguments)
        assert f"{path}:13:3: row 13, column sd_a: 'x' is not a number" in done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize("missing", ["nowhere.csv", "nowhere.yaml", "nowhere"])
def test_a_missing_file_is_a_message(tmp_path, missing):
    """A path with nothing there ends with 2 and is named."""
    done = repro("audit", tmp_path / missing)
    assert done.returncode == 2
    assert missing in done.stderr
    assert "Traceback" not in done.stderr


def test_a_path_that_cannot_be_followed_is_a_message(tmp_path):
    """A link to itself and a name that is too long end with 2, as any unreadable file."""
    (tmp_path / "loop.csv").symlink_to("loop.csv")
    for path in (tmp_path / "loop.csv", tmp_path / ("a" * 300 + ".csv")):
        done = repro("audit", path)
        assert done.returncode == 2, done.stderr
        assert "cannot be read" in done.stderr
        assert "Traceback" not in done.stderr


def test_rows_whose_decision_is_in_doubt_are_named_at_the_end(table):
    """The last lines of a long text, which a terminal shows, name them with their file."""
    path = table(FRAGILE)
    text = to_text(audit_paths([path, table(as_csv(EIGHT), "b.csv")]), 120)
    assert f"! DECISION-FRAGILE: x ({path.name})" not in text
    many = [path, table(as_csv(), "b.csv")]
    last = to_text(audit_paths(many), 120).splitlines()[-3:]
    assert last[0].startswith(f"! DECISION-FRAGILE: x ({path.name})")
    assert last[-1].startswith("12 statements: 2 DECISION-FRAGILE")


def test_the_reason_of_an_answer_is_said_once(table):
    """The first lines give it; the numbers of the row, below, do not repeat it."""
    text = " ".join(to_text(audit_paths([table(FRAGILE)]), 120).split())
    reason = "so what is printed does not decide significance"
    assert text.count(reason) == 1
    assert text.index("cannot say: x:") < text.index(reason) < text.index("printed p")


def test_the_example_of_the_readme_is_what_is_printed(table):
    """Every line that the docs show of its table stands in the output, in that order."""
    page = Path(__file__).parents[2] / "docs" / "how-to" / "audit-a-table.md"
    readme = page.read_text(encoding="utf-8")
    section = readme[readme.index("# Audit printed numbers") :]
    text, shown = re.findall(r"```(?:csv|console)\n(.*?)```", section, re.DOTALL)[:2]
    printed = iter(to_text(audit_paths([table(text)]), 100).splitlines())
    for line in shown.splitlines()[1:]:
        assert line in printed, line
    for grade in Grade:
        assert f"| `{grade}" in section


def test_an_unknown_policy_is_refused(table):
    """The policies are a closed list."""
    done = repro("audit", table(RIGHT), "--fail-on", "consistent")
    assert done.returncode == 2
    assert "decision-fragile" in done.stderr


def test_several_tables_are_audited_each_by_itself(table):
    """Test, family and findings are those of one file; a file given twice counts once."""
    first, second = table(as_csv(EIGHT), "a.csv"), table(FRAGILE, "b.csv")
    audits = audit_paths([first, second, first])
    assert [audit.source for audit in audits] == [str(first), str(second)]
    assert audits[1].rows[0].assumed == "welch two-sided ddof=1 n=10"
    assert audits[1].rows[0].holm == 0.0641
    assert len(json.loads(to_json(audits))) == 9


def test_the_mistakes_of_all_tables_come_out_together(table):
    """One bad table does not hide the next."""
    paths = [table(RIGHT + "cut,off\n", "a.csv"), table("id\n", "b.csv"), table(RIGHT, "c.csv")]
    with pytest.raises(SpecError) as caught:
        audit_paths(paths)
    assert {problem.place.file for problem in caught.value.problems} == {str(p) for p in paths[:2]}


def test_a_folder_of_tables(table, tmp_path):
    """A folder without claims gives its tables by name; an empty one is a problem."""
    table(RIGHT, "b.csv")
    table(FRAGILE, "a.csv")
    assert [audit.rows[0].grade for audit in audit_paths([tmp_path])] == [
        Grade.DECISION_FRAGILE,
        Grade.CONSISTENT,
    ]
    (tmp_path / "empty").mkdir()
    with pytest.raises(SpecError, match="nothing to audit in this folder"):
        audit_paths([tmp_path / "empty"])


def test_the_rounding_model_is_an_option(table):
    """With digits cut off the interval is another, and the output says which model it was."""
    cut = json.loads(repro("audit", table(FRAGILE), "--json", "--rounding", "truncate").stdout)
    half = json.loads(repro("audit", table(FRAGILE), "--json").stdout)
    assert cut[0]["rounding"] == "truncate"
    assert cut[0]["p_interval"][0] > half[0]["p_interval"][0]


@pytest.mark.parametrize("heavy", ["torch", "pandas", "statsmodels", "scipy.stats"])
def test_a_table_is_audited_without(table, heavy):
    """Neither torch nor any package that is slow to import is needed for a table."""
    program = f"import sys; sys.modules['{heavy}'] = None; from repro.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program, "audit", str(table(as_csv()))],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_thirty_rows_take_less_than_a_second(table):
    """Thirty rows of three sizes, 24 variants each, are audited in well under a second."""
    rows = [
        f"r{number},57.0{number % 10},0.1{number % 9},{9 + number % 3},56.9,0.12,10,0.0{number:02}"
        for number in range(30)
    ]
    path = table(HEADER + "\n".join(rows) + "\n")
    start = time.process_time()
    audits = audit_paths([path])
    assert time.process_time() - start < 0.7
    assert len(audits[0].rows) == 30


def test_what_a_terminal_would_obey_is_not_printed():
    """Control and bidi characters of a title are replaced, not sent."""
    row = Audited(
        id="x\N{RIGHT-TO-LEFT OVERRIDE}y", grade=Grade.CONSISTENT, findings=("a\x1b[2Jb",)
    )
    text = to_text([Audit("title\x07", "file.yaml", (row,))], 80)
    assert not set(text) & {"\x1b", "\x07", "\N{RIGHT-TO-LEFT OVERRIDE}"}


def test_a_row_of_another_kind_is_printed_with_its_numbers():
    """A row without a sentence shows its details; its JSON has the same keys."""
    row = Audited(
        id="r",
        grade=Grade.CONSISTENT,
        kind="correlation",
        details={"pearson": -0.212, "n": 26},
    )
    audits = [Audit("Figure 2", "figure.yaml", (row,))]
    assert "pearson -0.212; n 26" in to_text(audits, 80)
    (read,) = json.loads(to_json(audits))
    assert list(read)[: len(KEYS)] == KEYS
    assert read["details"] == {"pearson": -0.212, "n": 26}
