"""A table of printed comparisons: what is read, and how every bad cell is named."""

from __future__ import annotations

import io
import json
import os
import random
from pathlib import Path

import pytest
from scipy import stats

from repro.audit.audit import audit_paths
from repro.audit.comparison import PrintedArm, printed
from repro.audit.printed_table import COLUMNS, MAX_ROWS, REQUIRED, read_table
from repro.audit.render import to_json
from repro.errors import SpecError
from repro.schema.rows import MOST
from tests.audit.parthiban import EIGHT, as_csv, comparisons

HEADER = "id,mean_a,sd_a,n_a,mean_b,sd_b,n_b,p"
GOOD = "one,57.08,0.10,10,57.03,0.15,10,0.392"
SEED = 20210202


@pytest.fixture
def table(tmp_path):
    """Writes a table and gives its path."""

    def write(content):
        path = tmp_path / "table.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def refused(path):
    """The problems of a table that is refused, with the place shortened to row:column."""
    with pytest.raises(SpecError) as caught:
        read_table(path)
    problems = caught.value.problems
    assert all(problem.place.file == str(path) for problem in problems)
    return [(f"{one.place.line}:{one.place.column}", str(one)) for one in problems]


def test_the_papers_table(table):
    """What is read from a spreadsheet is what was typed there, text by text."""
    assert list(read_table(table(as_csv()))) == comparisons()


@pytest.mark.parametrize(
    "change",
    [
        lambda text: "\N{BYTE ORDER MARK}" + text,
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace('"', "").replace(",", " , "),
        lambda text: text.replace(',"', ', "').replace(",57.08", ', "57.08"'),
        lambda text: text.rstrip("\n"),
        lambda text: text.replace("\n", "\n\n"),
        lambda text: text.replace("57.08", '"57.08"'),
    ],
    ids=["BOM", "CRLF", "spaces", "spaces and quotes", "no last newline", "blank lines", "quotes"],
)
def test_how_a_spreadsheet_saves_does_not_matter(table, change):
    """A byte order mark, CRLF, spaces, blank lines and quotes change nothing."""
    assert list(read_table(table(change(as_csv(EIGHT))))) == comparisons(EIGHT)


def test_columns_may_stand_in_any_order(table):
    """The header names the columns; shuffled ones hold the same comparisons."""
    rows = [line.split(",") for line in (HEADER, GOOD)]
    order = list(range(len(rows[0])))
    random.Random(SEED).shuffle(order)
    shuffled = "\n".join(",".join(row[index] for index in order) for row in rows)
    assert read_table(table(shuffled)) == read_table(table(f"{HEADER}\n{GOOD}\n"))


def test_optional_columns(table):
    """Alpha, test, tails and family are read, and empty cells leave the defaults."""
    full = f"{HEADER},alpha,test,tails,family\n{GOOD},.01,Student,1,Table 2\n"
    one, two = read_table(table(full + GOOD.replace("one", "two") + ",,,,\n"))
    assert (one.alpha, one.test, one.tails, one.family) == (0.01, "student", 1, "Table 2")
    assert (two.alpha, two.test, two.tails, two.family) == (0.05, None, None, None)


def test_empty_cells_are_numbers_that_are_not_printed(table):
    """Without mean, deviation, size or p there is None, not 0."""
    (row,) = read_table(table(f"{HEADER}\nx,,,,,,,\n"))
    assert (row.a.mean, row.a.sd, row.a.n, row.p) == (None, None, None, None)


def cell(column, text):
    """The good row with another text in one column, quoted."""
    fields = GOOD.split(",")
    fields[REQUIRED.index(column)] = '"' + text.replace('"', '""') + '"'
    return f"{HEADER}\n{','.join(fields)}\n"


@pytest.mark.parametrize(
    ("column", "text", "what"),
    [
        ("mean_a", "abc", "'abc' is not a number"),
        ("mean_a", "57,08", "write a decimal point"),
        ("mean_a", "nan", "leave it empty where no number is printed"),
        ("mean_a", "<57", "'<57' is a bound; only a p may be one"),
        ("mean_a", "1e999999999", "'1e999999999' is not a number"),
        ("mean_a", "1e301", "exponent beyond 300"),
        ("sd_b", "1e-200", "smaller than any"),
        ("sd_b", "-0.1", "not negative"),
        ("sd_b", "−0.1", "not negative"),
        ("n_a", "1", "at least 2"),
        ("n_a", "0", "at least 2"),
        ("n_a", "-10", "not a whole number"),
        ("n_a", "10.5", "not a whole number"),
        ("n_a", "1e1", "not a whole number"),
        ("n_a", "٣", "not a whole number"),
        ("n_b", "9" * 10_000, "not a whole number"),
        ("p", "1.5", "between 0 and 1"),
        ("p", "-0.5", "between 0 and 1"),
        ("p", "<0", "between 0 and 1"),
        ("p", "62%", "percent"),
        ("p", "0.03*", "not a number"),
        ("p", "=1+1", "not a number"),
        ("id", "", "it is empty"),
        ("id", "x" * 101, "101 characters"),
    ],
)
def test_a_bad_cell_is_named_by_row_and_column(table, column, text, what):
    """The place is row and column as a spreadsheet counts them, and the message names both."""
    ((place, message),) = refused(table(cell(column, text)))
    assert place == f"2:{REQUIRED.index(column) + 1}"
    assert f"row 2, column {column}: " in message
    assert what in message
    assert "\n  expected: " in message
    assert "\n  to do: " in message
    assert len(message) < 500


@pytest.mark.parametrize(
    ("more", "text", "what"),
    [
        ("alpha", "0.7", "alpha must lie between 0 and 0.5"),
        ("alpha", "five", "not a number"),
        ("test", "anova", "'anova' is not known"),
        ("tails", "3", "'3' is not known"),
    ],
)
def test_a_bad_option_is_named(table, more, text, what):
    """The optional columns have their own expectations."""
    ((place, message),) = refused(table(f"{HEADER},{more}\n{GOOD},{text}\n"))
    assert place == "2:9"
    assert what in message


def test_a_paired_test_of_arms_of_two_sizes_is_named(table):
    """Pairs need two arms of one size; the column of the test is the place."""
    text = f"{HEADER},test\n{GOOD.replace('0.10,10', '0.10,9')},paired\n"
    ((place, message),) = refused(table(text))
    assert place == "2:9"
    assert "not 9 and 10" in message


@pytest.mark.parametrize(
    ("text", "place", "what"),
    [
        ("", "1:1", "the table is empty"),
        ("\n\n\n", "1:1", "the table is empty"),
        (HEADER + "\n", "1:1", "the table has no row"),
        (f"{HEADER}\n{GOOD},5\n", "2:1", "row 2 has 9 fields"),
        (f"{HEADER}\n{GOOD[:-6]}\n", "2:1", "row 2 has 7 fields"),
        (f"{HEADER}\n\n{GOOD},5\n", "3:1", "row 3 has 9 fields"),
        (f"{HEADER}\n{GOOD}\n{GOOD}\n", "3:1", "the id 'one' is that of row 2"),
        (f"{HEADER},p\n{GOOD},0.1\n", "1:9", "column p occurs twice, first as column 8"),
        (f"{HEADER},pvalue\n{GOOD},0.1\n", "1:9", "unknown column 'pvalue'"),
        (f"{HEADER},alfa\n{GOOD},0.1\n", "1:9", "did you mean alpha?"),
        (f"{HEADER},\n{GOOD},\n", "1:9", "a column without a name"),
        ("id,mean_a\none,1\n", "1:1", "missing columns sd_a, n_a, mean_b, sd_b, n_b, p"),
        (HEADER.replace(",", ";") + "\n", "1:1", "semicolons or tabs"),
        (
            f'{HEADER}\n"one,1,2,3,4,5,6,7\n',
            "2:1",
            "row 2: a quote inside a cell",
        ),
        (
            f'{HEADER}\n"one"x,1,2,3,4,5,6,7\n',
            "2:1",
            "row 2: a quote inside a cell",
        ),
        (f"{HEADER}\none\x00,1,2,3,4,5,6,7\n", "2:4", "the control character U+0000"),
        (f"{HEADER}\n\x1b[2J,1,2,3,4,5,6,7\n", "2:1", "the control character U+001B"),
        (HEADER.encode() + b"\n\xff\n", "2:1", "byte 0xFF is not UTF-8"),
        (f"{HEADER}\n{GOOD}\n".encode("utf-16"), "1:1", "byte 0xFF is not UTF-8"),
        (b"x" * 1_000_001, "1:1", "the file is too large"),
        (f"{HEADER}\n" + "x\n" * (MAX_ROWS + 1), f"{MAX_ROWS + 2}:1", "the table is too long"),
    ],
)
def test_a_bad_table_is_named_where_it_is_bad(table, text, place, what):
    """Header, shape and encoding: each mistake has its place and says what it is."""
    found = refused(table(text))
    assert any(where == place and what in message for where, message in found), found


def test_every_bad_row_is_named_at_once(table):
    """All mistakes of all rows come out together, in reading order."""
    rows = [
        GOOD,
        "two,a,b,c,d,e,f,g",
        GOOD.replace("one", "three"),
        "four,1,2",
        "one,1,1,2,1,1,1,1",
    ]
    found = refused(table("\n".join([HEADER, *rows])))
    assert [place for place, _ in found] == [
        *(f"3:{column}" for column in range(2, 9)),
        "5:1",
        "6:1",
        "6:7",
    ]


def test_a_very_bad_table_names_the_first_mistakes_and_counts_the_rest(table):
    """A thousand bad rows are not a thousand messages."""
    rows = "\n".join(f"r{number},x,1,2,1,1,2,1" for number in range(1000))
    found = refused(table(f"{HEADER}\n{rows}\n"))
    assert len(found) == MOST + 1
    assert "and 900 more mistakes" in found[-1][1]


def test_no_damage_of_a_table_is_more_than_a_message(table):
    """Of 400 tables with random bytes changed, each is audited to valid JSON or is a SpecError."""
    generator = random.Random(SEED)
    signs = b'0123456789.,-+e<>"\n\r;x\xff\x00 '
    refusals = 0
    for _ in range(400):
        content = bytearray(as_csv().encode())
        for _ in range(generator.randrange(1, 6)):
            content[generator.randrange(len(content))] = generator.choice(signs)
        try:
            json.loads(to_json(audit_paths([table(bytes(content))])))
        except SpecError:
            refusals += 1
    assert 100 < refusals < 400


def test_what_is_no_file_is_refused(tmp_path):
    """A folder, a pipe, and a path with nothing there are refused without reading."""
    os.mkfifo(tmp_path / "pipe")
    for name, what in (
        ("", "not a regular file"),
        ("pipe", "not a regular file"),
        ("no", "no such"),
    ):
        ((_, message),) = refused(tmp_path / name)
        assert what in message
        assert "YAML" not in message


def test_the_columns_are_these():
    """The names of the columns are an interface."""
    assert ",".join(REQUIRED) == HEADER
    assert [*COLUMNS[len(REQUIRED) :]] == ["alpha", "test", "tails", "family", "items", "samples"]


NUMBERED = "study,m1,sd1,n1,m2,sd2,n2,p\none,57.08,0.10,10,57.03,0.15,10,0.392\n"


@pytest.mark.parametrize(
    "text",
    [
        NUMBERED,
        NUMBERED.replace("study", "id"),
        NUMBERED.replace("m1,sd1,n1,m2,sd2,n2", "Mean1,SD1,N1,Mean2,SD2,N2"),
        NUMBERED.replace("m1,sd1,n1,m2,sd2,n2", "mean_1,std_1,n_1,mean_2,std_2,n_2"),
        NUMBERED.replace(",p\n", ",p-value\n"),
    ],
)
def test_columns_of_arms_may_be_numbered(table, text):
    """All six name arms a and b, and the first of another name the row."""
    (row,) = read_table(table(text))
    assert (row.id, row.p) == ("one", printed("0.392"))
    assert row.a == PrintedArm.read("57.08", "0.10", 10)
    assert row.b == PrintedArm.read("57.03", "0.15", 10)


def test_rows_without_a_name_are_numbered(table):
    """As a spreadsheet counts them; a row that is too short is named as it is."""
    bare = NUMBERED.replace("study,", "").replace("one,", "")
    (row,) = read_table(table(bare))
    assert row.id == "row 2"
    assert any("row 3 has 2 fields" in message for _, message in refused(table(f"{bare}1,2\n")))


def test_a_numbered_column_that_is_missing_is_named(table):
    """By the names that are known, through the command as well."""
    path = table(NUMBERED.replace("sd2", "spread").replace("sd1", "se1"))
    assert [place for place, _ in refused(path)] == ["1:1", "1:3", "1:6"]
    with pytest.raises(SpecError, match="missing columns sd_a, sd_b"):
        audit_paths([path])


def test_conditions_that_are_numbered_stay_columns_of_results(tmp_path):
    """`n1` and `n2` without means are not arms."""
    path = tmp_path / "t.csv"
    path.write_text("Method,n1,n2\nA,93 ± 1,94 ± 1\nB,92 ± 1,91 ± 1\n", encoding="utf-8")
    assert "A vs B, n1" in [row.id for row in audit_paths([path])[0].rows]


@pytest.mark.parametrize("header", [HEADER, NUMBERED.split("\n", maxsplit=1)[0]])
def test_comparisons_are_read_from_standard_input(monkeypatch, header):
    """As from a file: the printed p follows."""
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{header}\n{GOOD}\n"))
    (audit,) = audit_paths([Path("-")])
    (row,) = audit.rows
    assert row.grade == "CONSISTENT"
    expected = stats.ttest_ind_from_stats(57.08, 0.10, 10, 57.03, 0.15, 10, equal_var=False)
    assert row.p_welch == pytest.approx(expected.pvalue)
    assert audit.source == "standard input"


def test_rows_of_two_arms_need_no_id(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("mean_a,sd_a,n_a,mean_b,sd_b,n_b,p\n64.15,.17,10,64.3,.17,10,.064\n")
    (row,) = read_table(path)
    assert row.p is not None
    assert (row.id, row.a.n, row.p.text) == ("row 2", 10, ".064")


@pytest.mark.parametrize("case", [str.upper, str.title])
def test_names_of_columns_are_read_regardless_of_case(tmp_path, case):
    header = case(f"{HEADER},test,alpha")
    path = tmp_path / "table.csv"
    path.write_text(f"{header}\nfair,56.39,0.19,10,56.45,0.10,10,0.39,Welch,0.01\n")
    (row,) = read_table(path)
    assert row.p is not None
    assert row.a.mean is not None
    assert (row.id, row.a.mean.value, row.b.n, row.p.value) == ("fair", 56.39, 10, 0.39)
    assert (row.test, row.alpha) == ("welch", 0.01)
