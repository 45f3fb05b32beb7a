"""The order that a table declares: which column it is, what it may hold, and what comes of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from repro import judge
from repro.errors import SpecError
from repro.evidence.csv_table import frame_table, read_table
from repro.evidence.evidence import TidyTable
from repro.specs.claim import Claim
from tests.evidence.tidy import HEADER, small
from tests.judging.made import made
from tests.judging.test_kinds import difference

WANTED = replace(small(), order="finished")
ROWS = ["a,7,ppl,1,{}", "a,3,ppl,2,{}", "a,9,ppl,3,{}", "b,0,ppl,4,1"]


def read(folder: Path, *cells: str, last: str = "1") -> TidyTable:
    """A table whose seeds 7, 3 and 9 of arm a were finished at these times."""
    rows = [row.format(cell) for row, cell in zip(ROWS, cells, strict=False)]
    path = folder / "results.csv"
    text = "\n".join([f"{HEADER},finished", *rows, f"b,0,ppl,4,{last}"]) + "\n"
    path.write_text(text, encoding="utf-8")
    return read_table(path, WANTED)


def mistakes(folder: Path, *cells: str, last: str = "1") -> list[str]:
    """What is said of such a table."""
    with pytest.raises(SpecError) as caught:
        read(folder, *cells, last=last)
    return [one.what for one in caught.value.problems]


@pytest.mark.parametrize(
    ("cells", "last"),
    [
        (("3", "1", "2"), "0"),
        (("3e4", "-1", "0.5"), "0"),
        (("2026-03-02", "2025-12-31", "2026-03-01"), "2020-01-01"),
        (("2026-03-01T12:30:05", "2026-03-01T12:30", "2026-03-01 12:30:01"), "2020-01-01"),
        (
            ("2026-03-01T12:00:00Z", "2026-03-01T12:00:00+03:00", "2026-03-01T10:00:00+00:00"),
            "2020-01-01T00:00:00Z",
        ),
    ],
)
def test_numbers_and_dates_tell_an_order(tmp_path: Path, cells: tuple[str, ...], last: str) -> None:
    """Seed 3 came first, then 9, then 7."""
    table = read(tmp_path, *cells, last=last)
    assert table.seeds("a") == (3, 9, 7)
    assert table.source.order == "finished"
    assert table.source.ignored == ()


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (("1", "x", "2"), "row 3, column finished: 'x' is neither a number nor a date"),
        (("1", "", "2"), "row 3, column finished: the cell is empty"),
        (("1", "nan", "2"), "row 3, column finished: 'nan' is neither a number nor a date"),
        (("1", "2", "1"), "row 4: seeds 7 and 9 of arm 'a' came together"),
        (
            ("1", "2026-03-01", "2"),
            "row 3, column finished: '2026-03-01' is a date, and the rows before hold another sort",
        ),
    ],
)
def test_what_tells_no_order_is_named(tmp_path: Path, cells: tuple[str, ...], said: str) -> None:
    """Each mistake with its row and column."""
    assert mistakes(tmp_path, *cells)[0] == said


def test_a_declared_column_must_be_there(tmp_path: Path) -> None:
    """The claim declares it, so a table without it is refused rather than judged otherwise."""
    path = tmp_path / "results.csv"
    path.write_text(f"{HEADER}\na,0,ppl,1\nb,0,ppl,1\n", encoding="utf-8")
    with pytest.raises(SpecError, match="there is no column 'finished'"):
        read_table(path, WANTED)


def test_one_seed_has_one_time() -> None:
    """Two measurements of a run were finished together."""
    rows = [("a", 0, "ppl", 1.0, 1), ("a", 0, "rank", 1.0, 2), ("b", 0, "ppl", 1.0, 1)]
    with pytest.raises(SpecError, match="seed 0 of arm 'a' has another time in an earlier row"):
        frame_table(pd.DataFrame(rows, columns=[*HEADER.split(","), "finished"]), WANTED)


def test_the_seed_may_be_declared_to_be_the_order() -> None:
    """Whoever trains seeds 0, 1, 2, ... in turn may say so, and the report repeats it."""
    rows = [(arm, seed, "ppl", 1.0) for arm in "ab" for seed in (5, 2)]
    table = frame_table(
        pd.DataFrame(rows, columns=HEADER.split(",")), replace(small(), order="seed")
    )
    assert table.seeds("a") == (2, 5)
    assert table.source.order == "seed"


def claim(order: str | None) -> Claim:
    """That the loss of a is lower, at looks in the order of a column."""
    how: dict[str, Any] = {"method": "eprocess_t"}
    how = how if order is None else {**how, "order": order}
    return made(difference(), sequential=how, seeds={"min": 4, "plan": 4, "max": 40})


def frame(shift: float = 0.0) -> pd.DataFrame:
    """Twenty seeds of either arm, numbered by value and finished at random times."""
    rng = np.random.default_rng(20_261_122)
    rows = []
    for arm, mean in (("a", 10.0 - shift), ("b", 10.0)):
        values, times = np.sort(rng.normal(mean, 1, 20)), rng.permutation(20)
        for seed, (value, day) in enumerate(zip(values, times, strict=True)):
            finished = pd.Timestamp("2026-03-01") + pd.Timedelta(days=int(day))
            rows.append((arm, seed, "loss", float(value), finished))
    return pd.DataFrame(rows, columns=[*HEADER.split(","), "finished"])


def test_looks_follow_the_declared_order() -> None:
    """The same rows under other seed numbers are the same looks; without an order is none."""
    table = frame(1.2)
    other = table.assign(seed=table["seed"].map(lambda seed: (7 * seed + 3) % 20))
    first, second = judge(claim("finished"), table), judge(claim("finished"), other)
    assert first.sequential == second.sequential
    assert len(first.sequential[0].looks) == 17
    assert first.sequential[0].order == "declared"
    assert [one.sequential[0].order for one in (judge(claim(None), table),)] == ["unknown"]


@pytest.mark.parametrize("design", ["independent", "paired"])
def test_pairs_are_those_of_the_order(design: str) -> None:
    """A run that diverged takes its pair by time with it; in a paired design that of its number."""
    table = frame(1.2)
    of = claim("finished").model_copy(update={"design": design})
    seeds = of.seeds.model_copy(update={"diverged": "exclude<=1"})
    of = of.model_copy(update={"seeds": seeds})
    lost = table.query("arm == 'a' and seed == 4").index[0]
    moment = table.loc[lost, "finished"]
    (partner,) = table[(table["arm"] == "b") & (table["finished"] == moment)]["seed"]
    partner = 4 if design == "paired" else partner
    table["value"] = table["value"].astype(object)
    table.loc[lost, "value"] = "diverged"
    document = judge(of, table)
    flags = [flag.text for flag in document.verdict.flags if flag.kind == "diverged"]
    assert f"B: left out, because their pair diverged (seed {partner})." in flags
    assert [look.seeds for look in document.sequential[0].looks] == list(range(4, 20))
