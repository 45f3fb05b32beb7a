"""A search end to end, in miniature: trained, ranked, resumed, written, and never on the test."""

from __future__ import annotations

import csv
import json
import statistics
import subprocess
import sys
from typing import Any

import pytest

from repro.errors import ClaimError, OutputError, RunError, SpecError
from repro.running.engine import RunOptions
from repro.specs.configuration import read_sheet
from repro.store.run_store import RunStore
from repro.trainers.language_model import corpus as corpora
from repro.tuning.search import tune, write_tuned
from tests.tuning.searches import cross, search, written


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """The search of `searches.py`, its store, and what came of it."""
    folder = tmp_path_factory.mktemp("search")
    loaded = search(folder)
    options = RunOptions(RunStore(folder / "store"), engine="serial", device="cpu")
    return loaded, options, tune(loaded, options)


def best_losses(store, trial):
    """The lowest validation loss of each run, read from the store by hand."""
    losses = []
    for planned in trial.runs():
        path = store.folder(planned.run.key) / "history.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines()
        losses.append(min(json.loads(line)["valid_loss"] for line in lines))
    return losses


def test_the_choice_is_the_lowest_mean_of_the_stored_histories(done):
    """Over all settings of both stages, two seeds each."""
    _, options, tuned = done
    means = {
        one.trial.digest: statistics.fmean(best_losses(options.store, one.trial))
        for one in tuned.outcomes
    }
    assert 4 < len(means) <= 8
    assert min(means, key=lambda digest: means[digest]) == tuned.best.trial.digest
    assert {one.trial.digest: one.mean for one in tuned.outcomes} == means


def test_the_second_stage_crosses_the_best_values_of_the_first(done):
    """The two rates and both dropouts with the lowest means, each alone; then their products."""
    _, _, tuned = done
    first = [one for one in tuned.trials if one.trial.stage == "one"]
    second = [one for one in tuned.trials if one.trial.stage == "two"]
    rates = {
        one.trial.changes["recipe.learning_rate"]: one.mean
        for one in first
        if "recipe.learning_rate" in one.trial.changes
    }
    dropped = max(rates, key=lambda rate: rates[rate])
    expected = [(r, d) for r in (2, 5, 20) if r != dropped for d in (0.0, 0.2)]
    assert [tuple(one.trial.changes.values()) for one in second] == expected


def test_nothing_is_measured(done):
    """No run of the store has a measurement of any split."""
    _, options, _ = done
    keys = list(options.store.keys())
    assert len(keys) >= 8
    assert not any(list(options.store.folder(key).glob("measurements/*")) for key in keys)


def test_the_words_of_the_test_split_change_nothing(done, tmp_path, monkeypatch):
    """With a test split that would raise if it were touched, the choice is the same."""
    loaded, _, tuned = done
    original = corpora.load_corpus

    class Forbidden:
        def __getattr__(self, name):
            raise AssertionError(f"test.{name} was touched")

    forbidden: Any = Forbidden()

    def without_test(spec, data):
        read = original(spec, data)
        return corpora.CorpusData(read.train, read.valid, forbidden, read.words)

    monkeypatch.setattr(corpora, "load_corpus", without_test)
    store = RunStore(tmp_path / "other")
    again = tune(loaded, RunOptions(store, engine="serial", device="cpu"))
    assert [one.losses for one in again.outcomes] == [one.losses for one in tuned.outcomes]


def test_what_is_stored_is_not_trained_again(done, monkeypatch):
    """The same search once more trains nothing and finds the same."""
    from repro.trainers.language_model import training

    loaded, options, tuned = done
    monkeypatch.setattr(training, "train", None)
    assert tune(loaded, options).outcomes == tuned.outcomes


def test_what_is_written_says_how_it_was_found(done, tmp_path):
    """A configuration that loads, with the chosen values, a reason for each, and the search."""
    loaded, _, tuned = done
    path, _ = write_tuned(tuned, tmp_path)
    found = read_sheet(path).configuration
    assert found is not None
    assert found.training() == tuned.best.trial.configuration.training()
    assert found.tuning is not None
    assert found.tuning.settings == len(tuned.outcomes)
    assert found.tuning.selected_on == "valid"
    assert "search 'tiny', root 7" in found.tuning.source
    tried = {"recipe.learning_rate", "recipe.dropout.output"}
    assert set(found.assumed) == {*tried, "recipe.clip", "recipe.epochs"}
    assert all("best of" in found.assumed[name] for name in tried)
    assert "changed in the base" in found.assumed["recipe.epochs"]
    assert found.source == loaded.base.source


def test_the_table_has_every_setting(done, tmp_path):
    """In the order of their ranks, with values, mean, standard deviation and what diverged."""
    _, options, tuned = done
    _, path = write_tuned(tuned, tmp_path)
    with path.open(encoding="utf-8", newline="") as stream:
        table = list(csv.DictReader(stream))
    losses = [float(row["valid_loss"]) for row in table]
    assert losses == sorted(losses)
    by_digest = {one.trial.digest[:12]: one for one in tuned.outcomes}
    assert {row["setting"] for row in table} == set(by_digest)
    for row in table:
        trial = by_digest[row["setting"]].trial
        assert float(row["recipe.learning_rate"]) == trial.configuration.recipe.learning_rate
        assert float(row["recipe.dropout.output"]) == trial.configuration.recipe.dropout.output
        stored = best_losses(options.store, trial)
        assert float(row["valid_loss"]) == pytest.approx(statistics.fmean(stored), abs=1e-5)
        assert float(row["sd"]) == pytest.approx(statistics.stdev(stored), abs=1e-5)
        assert (row["seeds"], row["diverged"]) == ("2", "0")


def test_nothing_is_ever_overwritten(done, tmp_path):
    """The same text is left as it is; another is refused, and stays."""
    _, _, tuned = done
    path, table = write_tuned(tuned, tmp_path)
    before = path.stat().st_mtime_ns
    assert write_tuned(tuned, tmp_path) == [path, table]
    assert path.stat().st_mtime_ns == before
    table.write_text("mine\n", encoding="utf-8")
    path.unlink()
    with pytest.raises(OutputError, match="never overwritten"):
        write_tuned(tuned, tmp_path)
    assert table.read_text(encoding="utf-8") == "mine\n"
    assert not path.exists()


def test_what_is_written_loads_whatever_was_tried_and_changed(tmp_path):
    """A value that the chosen setting has not, and a title, are no values to give a reason for."""
    base = {
        "configuration": "tiny/base",
        "override": {"title": "Another title for it", "recipe": {"epochs": 4}},
    }
    grid = {"recipe.stop.patience": [1], "recipe.learning_rate": [1e-6]}
    stages = [{"id": "only", "design": "one_at_a_time", "grid": grid}]
    loaded = search(tmp_path, base=base, stages=stages, seeds=1)
    options = RunOptions(RunStore(tmp_path / "store"), engine="serial", device="cpu")
    tuned = tune(loaded, options)
    assert tuned.best.trial.configuration.recipe.stop is None
    path, _ = write_tuned(tuned, tmp_path / "out")
    sheet = read_sheet(path)
    assert sheet.problems == ()
    assert sheet.configuration is not None
    assert set(sheet.configuration.assumed) == {
        *("recipe.clip", "recipe.epochs", "recipe.learning_rate", "recipe.stop"),
    }


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"mine\r\n"])
def test_a_file_in_the_way_stays_whatever_is_in_it(done, tmp_path, content):
    """Bytes that are no text are another file, as any other."""
    _, _, tuned = done
    (tmp_path / "tiny.csv").write_bytes(content)
    with pytest.raises(OutputError, match="never overwritten"):
        write_tuned(tuned, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["tiny.csv"]
    assert (tmp_path / "tiny.csv").read_bytes() == content


def test_an_effort_that_went_before_is_counted(tmp_path):
    """The base was chosen among 30 settings; one more stage of two makes 32."""
    loaded = search(tmp_path, stages=cross(recipe__learning_rate=[2, 5]), seeds=1)
    tuning = {"settings": 30, "selected_on": "test", "source": "somebody else"}
    base = type(loaded.base).model_validate_json(
        json.dumps({**loaded.base.model_dump(mode="json", by_alias=True), "tuning": tuning})
    )
    loaded = type(loaded)(loaded.document, loaded.spec, base, loaded.overridden)
    options = RunOptions(RunStore(tmp_path / "store"), engine="serial", device="cpu")
    path, _ = write_tuned(tune(loaded, options), tmp_path / "out")
    found = read_sheet(path).configuration
    assert found is not None
    assert found.tuning is not None
    assert found.tuning.settings == 32
    assert found.tuning.selected_on == "test"  # some of its values still are those
    assert found.tuning.source.endswith("its base was chosen among 30 before, on test")


def test_a_setting_that_diverges_is_shown_and_never_chosen(tmp_path):
    """A rate that no loss survives is the last of the table."""
    grid = {"recipe__learning_rate": [1e30, 5], "recipe__clip": [1e30]}
    loaded = search(tmp_path, stages=cross(**grid), seeds=1)
    options = RunOptions(RunStore(tmp_path / "store"), engine="serial", device="cpu")
    tuned = tune(loaded, options)
    assert [one.diverged for one in tuned.outcomes] == [1, 0]
    assert tuned.best.trial.configuration.recipe.learning_rate == 5
    _, table = write_tuned(tuned, tmp_path)
    last = table.read_text(encoding="utf-8").splitlines()[-1]
    assert last.startswith("2,only,1e+30,1e+30,,,0,1,")


def test_where_all_diverge_nothing_is_chosen(tmp_path):
    """There is no best of nothing."""
    grid = {"recipe__learning_rate": [1e30], "recipe__clip": [1e30]}
    loaded = search(tmp_path, stages=cross(**grid), seeds=1)
    with pytest.raises(ClaimError, match="every setting diverged"):
        tune(loaded, RunOptions(RunStore(tmp_path / "store"), engine="serial", device="cpu"))


def test_a_run_that_fails_stops_the_choice_and_not_what_is_stored(tmp_path, monkeypatch):
    """The others are kept; fixed, the same search trains the one that is missing, and ends."""
    from repro.trainers.language_model import training

    loaded = search(tmp_path, stages=cross(recipe__learning_rate=[2, 5]), seeds=1)
    options = RunOptions(RunStore(tmp_path / "store"), engine="serial", device="cpu")
    original = training.train
    trained, broken = [], {2}

    def counting(batch, *arguments, **how):
        trained.append(batch[0].training.recipe.learning_rate)
        if trained[-1] in broken:
            raise RuntimeError("out of memory")
        return original(batch, *arguments, **how)

    monkeypatch.setattr(training, "train", counting)
    with pytest.raises(RunError, match=r"only 1, seed 0: .*out of memory"):
        tune(loaded, options)
    assert sorted(set(trained)) == [2, 5]
    trained.clear()
    broken.clear()
    assert len(tune(loaded, options).outcomes) == 2
    assert trained == [2]


def test_a_search_beyond_its_budget_trains_nothing(tmp_path):
    """It is refused before the store is so much as made."""
    loaded = search(tmp_path, budget={"settings": 2})
    store = RunStore(tmp_path / "store")
    with pytest.raises(SpecError, match="2 are declared"):
        tune(loaded, RunOptions(store, engine="serial", device="cpu"))
    assert not (tmp_path / "store").exists()


def command(*arguments, folder):
    """`python -m repro tune` in a folder."""
    words = [sys.executable, "-m", "repro", "tune", *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True, check=False, cwd=folder)


def test_the_command_plans_refuses_and_writes(tmp_path):
    """`--dry-run` trains nothing; a budget is named with its line; a search ends in two files."""
    path = written(tmp_path, stages=cross(recipe__learning_rate=[2, 5]))
    dry = command(path, "--dry-run", "--workers", 1, folder=tmp_path)
    assert dry.returncode == 0
    assert "up to 2 settings (8 declared), 2 seeds each: 4 runs, 8 epochs" in dry.stdout
    assert not (tmp_path / "store").exists()
    done = command(path, "--workers", 1, "--device", "cpu", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-2:] == ["tuned/tiny.yaml", "tuned/tiny.csv"]
    assert read_sheet(tmp_path / "tuned" / "tiny.yaml").configuration is not None
    small = written(tmp_path, budget={"settings": 3})
    refused = command(small, folder=tmp_path)
    assert refused.returncode == 2
    assert f"{small}:" in refused.stderr
    assert "3 are declared" in refused.stderr
