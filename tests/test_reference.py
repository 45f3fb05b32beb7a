"""The generated pages are those that the schema, the program and the claims give today."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

pytestmark = pytest.mark.usefixtures("parsed_once")

ROOT = Path(__file__).parents[1]


def generator() -> ModuleType:
    """The script that writes the pages."""
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        return importlib.import_module("generate")
    finally:
        sys.path.pop(0)


@pytest.mark.parametrize("page", generator().PAGES)
def test_a_generated_page_is_up_to_date(page: str) -> None:
    """What is committed is what `python docs/generate.py` would write."""
    written = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    assert written == generator().PAGES[page](), "run: ./dev exec python docs/generate.py"


def test_the_page_on_controls_says_what_their_reports_found() -> None:
    """Its words hold of the numbers in them: high ranks, better perplexities, with and without."""
    module = generator()
    low, free = map(module.controls.report, ("low_rank_language", "no_bottleneck_language"))
    ranks = {arm.id: arm.summaries[0] for document in (low, free) for arm in document.arms}
    assert ranks["mos"].low > 10 * ranks["matched"].high
    for document in (low, free, module.controls.report("nearer_to_the_truth")):
        assert document.verdict.conclusion == "CONFIRMED"
        assert {one.conclusion for one in document.results} == {"CONFIRMED"}
    numbers = module.controls.numbers()
    assert (numbers["free_mos_perplexity"], numbers["free_p"]) == ("4.14", ".0026")
    assert numbers["shares"] == "65, 34 and 47 per cent"
    assert float(numbers["free_gain"]) < float(numbers["low_gain"]) < float(numbers["mixture_gain"])


def row_of(page: str, claim: str) -> int:
    """The line of a page of a paper, from 0, on which a claim stands."""
    (found,) = (n for n, line in enumerate(page.splitlines()) if f"/{claim}.claim.yaml`" in line)
    return found


def test_the_page_of_a_paper_says_what_a_verdict_from_print_hangs_on() -> None:
    """As it does for trained models; the counts are of conclusions, fragile or not."""
    text = generator().papers.page("parthiban2021")
    line = text.splitlines()[row_of(text, "sigsoftmax_better_by_little_wt2")]
    assert "| CONFIRMED (fragile: rounding) |" in line
    assert "32 are judged from print: 21 CONFIRMED, 3 CONTRADICTED, 8 INCONCLUSIVE." in text


def test_claims_stand_by_the_table_that_they_are_about() -> None:
    """By its number, and not by that of a version of the paper or of a table of another one."""
    text = generator().papers.page("yang2018")
    ordered = ("mos_beats_awd_ptb", "mos_beats_awd_wt2", "mos_beats_moc_ptb", "pairwise_kl")
    places = [row_of(text, claim) for claim in (*ordered, "context_dependent_predictions")]
    assert places == sorted(places)


def test_every_audit_is_on_the_page_of_the_paper_that_it_quotes() -> None:
    """By the paper that the file names, whatever the file is called."""
    for path in sorted((ROOT / "claims" / "published").glob("*.yaml")):
        (paper,) = re.findall(r"^  paper: (\w+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
        page = (ROOT / "docs" / "papers" / f"{paper}.md").read_text(encoding="utf-8")
        assert f"(`published/{path.name}`) |" in page, path.name


@pytest.mark.parametrize("name", ["claim", "configuration"])
def test_every_key_of_a_file_is_listed(name: str) -> None:
    """Every definition of the schema has its heading and its place, and every key a row."""
    module = generator()
    text = getattr(module, f"{name}_keys")()
    schema = module.json.loads((ROOT / f"claims/{name}.schema.json").read_text(encoding="utf-8"))
    titles = [module.title_of(definition) for definition in schema["$defs"].values()]
    assert len(titles) == len(set(titles))
    for definition in schema["$defs"].values():
        assert f"\n### {module.title_of(definition)}\n" in text
        for key in definition["properties"]:
            assert f"| `{key}` |" in text
    assert "## Further" not in text


def test_every_key_of_the_claim_itself_is_explained() -> None:
    """A reader learns what each key is for before the table lists what it may be."""
    text = generator().claim_keys()
    explained = text[text.index("## The file") : text.index("| key |")]
    schema = generator().json.loads((ROOT / "claims/claim.schema.json").read_text("utf-8"))
    assert [key for key in schema["properties"] if f"`{key}`" not in explained] == []


def test_every_command_and_option_is_listed() -> None:
    """A command has its usage, a switch both sides, a choice its values."""
    text = generator().command_line()
    assert "repro verify CLAIMS... [OPTIONS]" in text
    assert "| `--train/--no-train` | yes |" in text
    assert "| `--scale NAME` |" in text
    assert "| `--better lower\\|higher` |" in text
    assert re.search(r"\| `--threshold NUMBER` \|.*May be given several times\. \|", text)
    assert "repro measure CLAIM|RUN... [OPTIONS]" in text
    assert "\n## repro runs export\n" in text


def test_the_picture_in_the_readme_is_there_and_small() -> None:
    """A PNG that the README shows, of less than 150 kB; `docs/picture.py` draws it."""
    picture = ROOT / "docs" / "report.png"
    assert 'src="docs/report.png"' in (ROOT / "README.md").read_text(encoding="utf-8")
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size < 150_000


def test_the_gallery_has_every_committed_report_and_three_pictures() -> None:
    """A line each, with a link where the page is committed; each picture is below 100 kB."""
    text = (ROOT / "docs/gallery.md").read_text(encoding="utf-8")
    pages = {path: path.with_name("report.html") for path in generator().gallery.paths()}
    assert len(pages) > 50
    assert sum(line.startswith("| ") for line in text.splitlines()) > len(pages)
    for html in pages.values():
        link = f"](../{html.relative_to(ROOT).as_posix()})"
        assert (link in text) == html.exists()
    pictures = [ROOT / "docs" / name for name in re.findall(r"\(([\w-]+\.png)\)", text)]
    assert len(pictures) == 3
    assert all(picture.stat().st_size < 100_000 for picture in pictures)


def test_the_glossary_has_each_word_once_in_order() -> None:
    """One word per thing, where a reader looks for it."""
    text = (ROOT / "docs/reference/glossary.md").read_text(encoding="utf-8")
    table = text[: text.index("## Kept names")]
    rows = [line for line in table.splitlines() if line.startswith("| ")][1:]
    words = [row.split(" | ")[0].removeprefix("| ") for row in rows]
    assert len(words) >= 50
    assert words == sorted(set(words), key=str.lower)
