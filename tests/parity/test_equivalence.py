"""The benchmark that trains both codes from seeds of their own: its runs, its file, its plan."""

import statistics

import pytest

from benchmarks.equivalence.__main__ import append, main, read
from benchmarks.equivalence.last_step import last_steps
from benchmarks.equivalence.plan import report
from benchmarks.equivalence.runs import ARMS, ours, theirs, training_spec
from repro.stats.power import PowerDesign, power_equivalence
from repro.trainers.language_model.recipe import NoAveraging
from repro.trainers.language_model.spec import TrainingSpec
from tests.parity.shared import corpus, run_of


def test_both_train_what_they_are_given(root):
    """Three epochs of a tiny model: perplexities of one size, different for different seeds."""
    spec = TrainingSpec.of(run_of("awd-lstm-lm", precision="float32"))
    own = [ours(seed, spec, corpus()) for seed in (0, 1)]
    published = [theirs(seed, spec, corpus(), root) for seed in (0, 1)]
    assert len({*own, *published}) == 4
    assert statistics.mean(own) == pytest.approx(statistics.mean(published), rel=0.1)
    assert theirs(1, spec, corpus(), root) == published[1]


def test_the_configuration_has_every_regularisation():
    """What is compared on real text: three epochs of Penn Treebank with all of it switched on."""
    spec = training_spec()
    recipe = spec.recipe
    assert spec.corpus.label.startswith("Penn Treebank")
    assert recipe.epochs == 3
    dropped = recipe.dropout.model_dump(exclude={"latent"})
    assert all(dropped.values())
    assert recipe.activation * recipe.temporal * recipe.weight_decay > 0
    assert recipe.window.random
    assert recipe.averaging == NoAveraging()


def test_values_are_added_to_the_file(tmp_path):
    """A header once, a row a value, read back to the last digit."""
    path = tmp_path / "values.csv"
    assert read(path) == {}
    append(path, "ours", 3, 123.45678901234567)
    append(path, "theirs", 3, 1 / 3)
    assert read(path) == {("ours", 3): 123.45678901234567, ("theirs", 3): 1 / 3}
    assert path.read_text("utf-8").splitlines()[0] == "arm,seed,measurement,value"


def test_the_plan_has_the_power_that_is_asked_for(tmp_path, capsys):
    """The number of seeds has 80 % power with the scatter of each arm, and one less has not."""
    pilot = {"ours": [298.0, 300.0, 303.0], "theirs": [297.0, 299.0, 301.0, 306.0]}
    path = tmp_path / "pilot.csv"
    for arm in ARMS:
        for seed, value in enumerate(pilot[arm]):
            append(path, arm, seed, value)
    assert main(["--out", str(path), "--plan"]) == 0
    line = capsys.readouterr().out.strip()
    assert line == report(pilot)
    planned = int(line.split(": ")[1].split()[0])
    margin = 0.01 * statistics.mean(map(statistics.mean, pilot.values()))
    ours_sd, theirs_sd = map(statistics.stdev, pilot.values())
    enough, short = (
        power_equivalence(PowerDesign(ours_sd, theirs_sd, n, n), 0.0, low=-margin, high=margin)
        for n in (planned, planned - 1)
    )
    assert short < 0.8 <= enough


def test_the_last_step_is_seen_apart(root):
    """Looking at the weights before an epoch's last step changes nothing of the training."""
    spec = TrainingSpec.of(run_of("awd-lstm-lm", precision="float32", epochs=3))
    found = list(last_steps(1, spec, corpus(), root))
    assert len(found) == 3
    assert all(length > 1 and before != after for length, before, after in found)
    best = min(after for _, _, after in found)
    assert best == pytest.approx(theirs(1, spec, corpus(), root), rel=1e-5)
