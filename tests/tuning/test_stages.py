"""The settings of a stage, their number and cost, and what a stage passes on."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from repro.errors import SpecError
from repro.specs.configuration import read_sheet
from repro.trainers.trainer import cost
from repro.tuning.search import TrialOutcome, distinct, kept, plan_search, ranked, trials
from repro.tuning.search_file import load_search
from tests.tuning.searches import STAGES, cross, search

CLAIMS = Path(__file__).parents[2] / "claims"
PAPER = CLAIMS / "searches" / "parthiban2021_table_5.yaml"


def settings_of(loaded, number=0):
    stage = loaded.spec.stages[number]
    return trials(loaded, stage, stage.grid, ())


def rate_and_dropout(trial):
    recipe = trial.configuration.recipe
    return recipe.learning_rate, recipe.dropout.output


def test_one_at_a_time_is_the_base_and_each_value_alone(tmp_path):
    """In the order of the file; the base's own values are the base once more."""
    found = settings_of(search(tmp_path))
    pairs = [(5, 0), (2, 0), (5, 0), (20, 0), (5, 0), (5, 0.2)]
    assert [rate_and_dropout(trial) for trial in found] == pairs
    assert [rate_and_dropout(t) for t in distinct(found)] == [(5, 0), (2, 0), (20, 0), (5, 0.2)]


def test_cross_is_every_combination(tmp_path):
    """As itertools.product has them, the last path fastest."""
    grid = {"recipe__learning_rate": [2, 20], "recipe__dropout__output": [0.0, 0.1, 0.2]}
    found = settings_of(search(tmp_path, stages=cross(**grid)))
    expected = list(itertools.product([2, 20], [0.0, 0.1, 0.2]))
    assert [rate_and_dropout(trial) for trial in found] == expected


def test_a_later_stage_is_laid_over_the_choice_of_the_earlier(tmp_path):
    """Values that it does not try stay as they were chosen; those that it tries are its own."""
    loaded = search(tmp_path)
    layers = ({"recipe.dropout.output": 0.3, "recipe.learning_rate": 7.0},)
    found = trials(loaded, loaded.spec.stages[1], {"recipe.learning_rate": [1, 2]}, layers)
    assert [rate_and_dropout(trial) for trial in found] == [(1, 0.3), (2, 0.3)]


def test_the_runs_of_a_setting_measure_nothing_and_have_a_root_of_their_own(tmp_path):
    """A run a seed, from the search's root and not from that of claims, without a measurement."""
    for trial in settings_of(search(tmp_path)):
        runs = trial.runs()
        assert [planned.run.replicate for planned in runs] == [0, 1]
        assert {(planned.run.root, planned.run.streams) for planned in runs} == {(7, "paired")}
        assert all(planned.measurements == () for planned in runs)


def test_a_plan_counts_what_is_tried_at_most(tmp_path):
    """Four settings, then two values of two paths: 8 settings of 2 seeds and 2 epochs."""
    loaded = search(tmp_path)
    planned = plan_search(loaded, workers=3)
    assert [stage.settings for stage in planned.stages] == [4, 4]
    assert planned.epochs == 8 * 2 * 2
    one = cost(settings_of(loaded)[0].runs()[0]).total
    assert sum(stage.work for stage in planned.stages) == pytest.approx(8 * 2 * one)
    assert not planned.problems


def test_a_later_stage_is_priced_by_the_dearest_values_that_it_could_keep(tmp_path):
    """Epochs are tried: 1, 2 and 6 in the first stage, at most 6 in each of the second's two."""
    first = {**STAGES[0], "grid": {"recipe.epochs": [1, 6]}}
    planned = plan_search(search(tmp_path, stages=[first, STAGES[1]]))
    assert [stage.epochs for stage in planned.stages] == [2 * (2 + 1 + 6), 2 * 2 * 6]


@pytest.mark.parametrize(
    ("budget", "words"),
    [
        ({"settings": 7}, "budget.settings: the stages take up to 8, and 7 are declared"),
        ({"settings": 8, "epochs": 31}, "budget.epochs: the stages take up to 32, and 31"),
        ({"settings": 8, "tokens": 19_199}, "budget.tokens: the stages take up to 19,200, and"),
    ],
)
def test_more_than_was_declared_is_refused_at_its_place(tmp_path, budget, words):
    """The line of the budget, what the stages take, and what was declared."""
    loaded = search(tmp_path, budget=budget)
    (problem,) = plan_search(loaded).problems
    assert words in problem.what
    line = Path(problem.place.file).read_text(encoding="utf-8").splitlines()[problem.place.line - 1]
    assert words.split(":")[0].partition(".")[2] in line
    with pytest.raises(SpecError):
        plan_search(loaded).refuse()


def test_settings_that_do_not_fit_together_are_named(tmp_path):
    """Each value fits the base alone; the combination is refused where the plan meets it."""
    plif = {"kind": "plif", "pieces": 50}
    stages = cross(model__output=[plif], recipe__learning_rates=[{"output.slopes": 1.0}])
    with pytest.raises(SpecError, match=r"no part 'output.slopes'"):
        search(tmp_path, stages=stages)  # without the other the base has no slopes
    frozen = {**plif, "frozen": True}
    base = {"configuration": "tiny/base", "override": {"model": {"output": plif}}}
    stages = cross(model__output=[plif, frozen], recipe__learning_rates=[{"output.slopes": 1.0}])
    with pytest.raises(SpecError, match=r"setting model.output a mapping; .* no part"):
        plan_search(search(tmp_path, base=base, stages=stages))


def test_the_papers_protocol_has_the_papers_settings():
    """8 and 2,940 (supplement, Tables 7 and 8), 1,000 epochs each; its choice is among them."""
    loaded = load_search(PAPER)
    planned = plan_search(loaded)
    assert [stage.settings for stage in planned.stages] == [8, 2940]
    assert planned.epochs == 2_948_000
    chosen = read_sheet(CLAIMS / "configurations/parthiban2021/ptb/softmax_double_dagger.yaml")
    assert chosen.configuration is not None
    digest = chosen.configuration.training().digest()
    assert digest in {trial.digest for trial in settings_of(loaded, 1)}
    assert digest not in {trial.digest for trial in settings_of(loaded, 0)}


def outcomes_of(loaded, losses):
    """An outcome a trial of the first stage: its losses, None for a replicate that diverged."""
    found = []
    for trial, values in zip(settings_of(loaded), losses, strict=True):
        finished = tuple(value for value in values if value is not None)
        found.append(TrialOutcome(trial, finished, values.count(None)))
    return found


def order(loaded, losses):
    found = outcomes_of(loaded, losses)
    return [found.index(one) for one in ranked(found)]


def test_the_lowest_mean_is_the_best_and_of_equal_ones_the_first(tmp_path):
    """Means of 3, 2, 3, 1, 2 and 4 nats."""
    losses = [(3, 3), (1, 3), (2, 4), (1, 1), (2, 2), (4, 4)]
    assert order(search(tmp_path), losses) == [3, 1, 4, 0, 2, 5]


def test_who_diverged_is_behind_all_who_did_not(tmp_path):
    """Once before twice, however low the losses that are left."""
    losses = [(0.5, None), (3, 3), (None, None), (4, 4), (0.1, None), (2, 2)]
    assert order(search(tmp_path), losses) == [5, 1, 3, 4, 0, 2]


def test_mean_and_standard_deviation_are_those_of_numpy(tmp_path):
    """n - 1 in the denominator; of one replicate there is none."""
    values = (3.25, 3.5, 3.125, 4.0)
    one, *_ = outcomes_of(search(tmp_path), [values, (1.0,), *[(2.0,)] * 4])
    assert one.mean == pytest.approx(np.mean(values), rel=1e-12)
    assert one.sd == pytest.approx(np.std(values, ddof=1), rel=1e-12)
    assert outcomes_of(search(tmp_path), [(1.0,)] * 6)[0].sd is None


@pytest.mark.parametrize(
    ("losses", "rates", "dropouts"),
    [
        # base, rate 2, 5, 20, dropout 0.0, 0.2
        ([(3, 3), (4, 4), (3, 3), (2, 2), (3, 3), (9, 9)], [5, 20], [0.0, 0.2]),
        ([(3, 3), (1, 1), (3, 3), (3, 3), (3, 3), (9, 9)], [2, 5], [0.0, 0.2]),
        ([(3, 3), (4, 4), (3, 3), (1, None), (3, 3), (None, None)], [2, 5], [0.0]),
        ([(1, 1), (None, 1), (None, 1), (4, 4), (3, 3), (9, 9)], [20], [0.0, 0.2]),
    ],
)
def test_the_best_values_of_each_path_are_kept(tmp_path, losses, rates, dropouts):
    """Two of each, of equals the first, in the order of the file; none that diverged."""
    loaded = search(tmp_path)
    stage = loaded.spec.stages[0]
    found = kept(stage, stage.grid or {}, outcomes_of(loaded, losses))
    assert found == {"recipe.learning_rate": rates, "recipe.dropout.output": dropouts}


def test_a_path_of_which_no_value_survived_is_left_as_it_is(tmp_path):
    """The next stage goes on with the other paths; an empty grid would leave it nothing to do."""
    loaded = search(tmp_path)
    stage = loaded.spec.stages[0]
    losses = [(3, 3), (None, 1), (None, 1), (None, None), (3, 3), (2, 2)]
    found = kept(stage, stage.grid or {}, outcomes_of(loaded, losses))
    assert found == {"recipe.dropout.output": [0.0, 0.2]}
    assert len(trials(loaded, loaded.spec.stages[1], found, ())) == 2


def test_in_a_cross_a_value_is_as_good_as_the_best_setting_that_has_it(tmp_path):
    """Rates 2 and 20 by dropouts 0, 0.1, 0.2: the minima of rows and columns decide."""
    grid = {"recipe__learning_rate": [2, 20], "recipe__dropout__output": [0.0, 0.1, 0.2]}
    stages = [{**cross(**grid)[0], "keep": 1}, STAGES[1]]
    loaded = search(tmp_path, stages=stages, budget={"settings": 9})
    stage, table = loaded.spec.stages[0], np.array([[5.0, 9.0, 2.0], [4.0, 3.0, 4.0]])
    found = kept(stage, stage.grid or {}, outcomes_of(loaded, [(loss,) for loss in table.flat]))
    best = ([2, 20][table.min(axis=1).argmin()], [0.0, 0.1, 0.2][table.min(axis=0).argmin()])
    assert best == (2, 0.2)
    assert found == {"recipe.learning_rate": [2], "recipe.dropout.output": [0.2]}
