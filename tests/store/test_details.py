"""Details of a measurement: of another shape they are damage, by file and field."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from repro.errors import StoreError
from repro.store.run_store import RunStore
from repro.store.sealed import read_sealed, seal
from tests.running.tiny import RANK, TEST
from tests.store.filled import DETAILS, RUN, fill


def put_details(store: RunStore, measurement: Any, changes: dict[str, Any]) -> Path:
    """Seal other details in the place of those that are there; None removes one."""
    name = f"{measurement.key}.json"
    path = store.folder(RUN.key) / "measurements" / name
    document = read_sealed(path) or {}
    details = {**document["details"], **changes}
    document["details"] = {key: value for key, value in details.items() if value is not None}
    path.write_bytes(seal(document))
    return path


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"curve": None}, "details.curve: Field required"),
        ({"curve": 3}, "details.curve: Input should be a valid array"),
        ({"curve": [1]}, "details: curve: 1 ranks at 2 tolerances"),
        ({"curve": [1, "8"]}, "details.curve.1: Input should be a valid integer"),
        ({"tolerances": [1e-4, 0.0]}, "details.tolerances.1: Input should be greater than"),
        ({"tenfold": -1}, "details.tenfold: Input should be greater than or equal to 0"),
        ({"tenth": 31}, "details: tenth: a rank of 31 of 590 x 30"),
        ({"rows": 7}, "value: a rank of 8 of 7 x 30"),
        ({"rows": 10**30}, "details.rows: "),
        ({"known_rank": []}, "details.known_rank: Input should be an object"),
        ({"known_rank": {"expected": 1}}, "details.known_rank.measured: Field required"),
        ({"relative_threshold": 0.0}, "details.relative_threshold: "),
    ],
)
def test_details_of_a_rank_are_checked(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    """The message names the file, the field, and what to do."""
    store = fill(RunStore(tmp_path))
    if said.startswith(("value", "details: tenth")):
        changes = {"tenth": 7, "curve": [1, 7], **changes}
    path = put_details(store, RANK, changes)
    with pytest.raises(StoreError) as refused:
        RunStore(tmp_path).measurement(RUN.key, RANK)
    assert str(refused.value).startswith(f"{path}: {said}")
    assert f"to do: remove {path} (it is then measured again)" in str(refused.value)
    assert refused.value.exit_code == 4


def test_details_of_a_perplexity_are_checked(tmp_path: Path) -> None:
    """Tokens are counted."""
    store = fill(RunStore(tmp_path))
    put_details(store, TEST, {"tokens": "many"})
    with pytest.raises(StoreError, match=r"details\.tokens: Input should be a valid integer"):
        RunStore(tmp_path).measurement(RUN.key, TEST)


def test_a_newer_version_may_say_more_and_no_details_are_no_damage(tmp_path: Path) -> None:
    """What is not known here is let through; of what is absent nothing is said."""
    store = fill(RunStore(tmp_path))
    put_details(store, RANK, {"condition_number": 3.5})
    stored = RunStore(tmp_path).measurement(RUN.key, RANK)
    assert stored is not None
    assert stored.details == {**DETAILS, "condition_number": 3.5}
    put_details(store, RANK, dict.fromkeys((*DETAILS, "condition_number")))
    stored = RunStore(tmp_path).measurement(RUN.key, RANK)
    assert stored is not None
    assert stored.details == {}
