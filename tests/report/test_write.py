from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from repro.errors import SpecError
from repro.judging.document import Document
from repro.report import write
from repro.report import write as replacing
from repro.report.write import document_text, read_document, report_file, write_index, write_report
from tests.report.cases import all_documents
from tests.report.texts import page, page_text


@pytest.mark.parametrize("name", list(all_documents()))
def test_round_trip(name: str, documents: dict[str, Document], reports: dict[str, Path]) -> None:
    """What was written is read back equal."""
    path = reports[name] / "report.json"
    assert read_document(path) == documents[name]
    assert path.read_text(encoding="utf-8") == document_text(documents[name])


def test_files(reports: dict[str, Path]) -> None:
    """Five files are written, and nothing else is left behind."""
    assert sorted(path.name for path in reports["plif"].iterdir()) == [
        "junit.xml", "report.html", "report.json", "report.pdf", "values.csv",
    ]  # fmt: skip


def test_a_page_leads_to_no_file_that_is_left_out(
    documents: dict[str, Document], reports: dict[str, Path], tmp_path: Path
) -> None:
    """One that was there is removed, and all else is as it would be."""
    write_report(documents["plif"], tmp_path)
    written = write_report(documents["plif"], tmp_path, without=("pdf",))
    names = {"junit.xml", "report.html", "report.json", "values.csv"}
    assert {path.name for path in written} == names
    assert {path.name for path in tmp_path.iterdir()} == {path.name for path in written}
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "report.pdf" not in text
    whole = (reports["plif"] / "report.html").read_text(encoding="utf-8")
    assert text == whole.replace('<a href="report.pdf">PDF</a> ', "")


def test_canonical(reports: dict[str, Path]) -> None:
    """report.json has sorted keys, two blanks a level and a newline at its end."""
    text = (reports["plif"] / "report.json").read_text(encoding="utf-8")
    assert text == json.dumps(json.loads(text), indent=2, sort_keys=True) + "\n"


def test_twice_is_once(
    documents: dict[str, Document], reports: dict[str, Path], tmp_path: Path
) -> None:
    """Writing again, over an older report, gives the same bytes."""
    first = {path.name: path.read_bytes() for path in write_report(documents["plif"], tmp_path)}
    again = {path.name: path.read_bytes() for path in write_report(documents["plif"], tmp_path)}
    assert first == again
    assert first == {path.name: path.read_bytes() for path in reports["plif"].iterdir()}


def test_in_another_process(reports: dict[str, Path], tmp_path: Path) -> None:
    """Another process, with other hashes, renders the same bytes from report.json."""
    code = (
        "import sys; from pathlib import Path\n"
        "from repro.report.write import read_document, write_report\n"
        "write_report(read_document(Path(sys.argv[1])), Path(sys.argv[2]))\n"
    )
    source = reports["mos_rank"] / "report.json"
    environment = {**os.environ, "PYTHONHASHSEED": "7", "PYTHONPATH": str(Path.cwd())}
    subprocess.run(
        [sys.executable, "-c", code, str(source), str(tmp_path)], check=True, env=environment
    )
    for path in reports["mos_rank"].iterdir():
        assert (tmp_path / path.name).read_bytes() == path.read_bytes(), path.name


def test_failure_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When a file cannot be put in place the old one stays, and no temporary one remains."""
    path = tmp_path / "report.json"
    path.write_bytes(b"old")

    def refuse(*_: object) -> None:
        raise OSError("no")

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(OSError, match="no"):
        replacing.replace(path, b"new")
    assert list(tmp_path.iterdir()) == [path]
    assert path.read_bytes() == b"old"


GOOD = document_text(all_documents()["mos_rank"])
DEEP = '{"schema": ' + "[" * 5000 + "]" * 5000 + "}"


@pytest.mark.parametrize(
    ("text", "place", "what"),
    [
        (GOOD[:2000], r":\d+:\d+$", "EOF|Invalid JSON"),
        ("", ":1:1$", "Invalid JSON"),
        ("[]", ":1:1$", "valid dictionary|object"),
        (DEEP, ":1:71$", "nested too deeply"),
        (GOOD.replace('"schema": 1', '"schema": 2'), ":1:1$", "schema: Input should be 1"),
        (GOOD.replace('"scale": {', '"extra": 1, "scale": {'), ":1:1$", "extra: Extra inputs"),
        (GOOD.replace('"as_expected": true', '"as_expected": "yes"'), ":1:1$",
         "verdict.as_expected: Input should be a valid boolean"),
        (GOOD.replace('"alpha": 0.05', '"alpha": NaN', 1), ":1:1$", "finite number"),
        ("\ud800", ":1:1$", "not UTF-8"),
    ],
)  # fmt: skip
def test_malformed(text: str, place: str, what: str, tmp_path: Path) -> None:
    """A malformed report is refused with its place, what is wrong and what to do."""
    path = tmp_path / "report.json"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(SpecError, match=what) as caught:
        read_document(path)
    problem = caught.value.problems[0]
    assert problem.place.file == str(path)
    assert re.search(place, str(problem.place))


def test_brackets_in_strings_are_no_depth(documents: dict[str, Document], tmp_path: Path) -> None:
    """A text full of brackets and quotes is not taken for nesting."""
    one = documents["mos_rank"]
    text = '[{"\\' * 200
    hostile = one.model_copy(update={"scale": one.scale.model_copy(update={"notice": text})})
    path = tmp_path / "report.json"
    path.write_text(document_text(hostile))
    assert read_document(path) == hostile


def test_too_large(tmp_path: Path) -> None:
    """A file above 50 MB is refused before it is read."""
    path = tmp_path / "report.json"
    with path.open("wb") as stream:
        stream.truncate(write.LARGEST + 1)
    with pytest.raises(SpecError, match="too large"):
        read_document(path)


def test_absent(tmp_path: Path) -> None:
    """A report that is not there is an error of the same kind."""
    with pytest.raises(SpecError, match="No such file"):
        read_document(tmp_path / "report.json")


def test_a_folder_without_a_report_says_where_one_is(tmp_path: Path) -> None:
    """One report is asked for, and `reports` holds many."""
    folder = tmp_path / "reports"
    folder.mkdir()
    with pytest.raises(SpecError) as refused:
        report_file(folder)
    assert str(refused.value) == (
        f"{folder}:1:1: this folder has no report.json\n"
        "  expected: the folder of one report, or its report.json\n"
        "  to do: `repro verify` writes one for each claim, to reports/CLAIM/SCALE"
    )
    for name in ("a", "b", "c"):
        (folder / name / "quick").mkdir(parents=True)
        (folder / name / "quick" / "report.json").touch()
    with pytest.raises(SpecError, match=f"give the folder of one: {folder}/a/quick, or one of 2"):
        report_file(folder)
    assert report_file(folder / "b" / "quick") == folder / "b" / "quick" / "report.json"
    assert report_file(folder / "x.json") == folder / "x.json"


def test_index(documents: dict[str, Document], tmp_path: Path) -> None:
    """Claims in order, with links to their pages, or to their JSON; and what is broken."""
    for name in ("plif", "fair_mos", "mos_rank"):
        folder = tmp_path / documents[name].claim.id / "quick"
        folder.mkdir(parents=True)
        (folder / "report.json").write_text(document_text(documents[name]))
    (tmp_path / "fair_mos" / "quick" / "report.html").touch()
    (tmp_path / "broken" / "quick").mkdir(parents=True)
    (tmp_path / "broken" / "quick" / "report.json").write_text("{")
    path = write_index(tmp_path)
    links = [a.get("href") for a in page(path).findall(".//li//a")]
    assert links == [
        "fair_mos/quick/report.html",
        "lms_plif_regularization/quick/report.json",
        "mos_rank/quick/report.json",
    ]
    text = page_text(path)
    assert "1 not judged, of 3 verdicts: 1 CONFIRMED, 1 CONTRADICTED, 1 INCONCLUSIVE." in text
    assert "broken/quick/report.json" in text
    for each in (path, path.with_suffix(".md")):
        assert each.read_bytes() == write_index(tmp_path).with_suffix(each.suffix).read_bytes()


def test_index_of_nothing(tmp_path: Path) -> None:
    """A folder without reports has an index that says so."""
    assert "0 verdicts." in page_text(write_index(tmp_path))


def test_document_is_cheap_to_import() -> None:
    """Importing the document, or the writer, loads no matplotlib, Typst or Jinja."""
    code = (
        "import sys, repro.judging.document, repro.report.write, repro.report.markdown\n"
        "print([m for m in ('matplotlib', 'typst', 'jinja2', 'torch') if m in sys.modules])"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path.cwd())}
    made = subprocess.run(
        [sys.executable, "-c", code], check=True, env=environment, capture_output=True, text=True
    )
    assert made.stdout.strip() == "[]"
