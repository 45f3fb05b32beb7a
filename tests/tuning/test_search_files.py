"""Search files: what loads, and what is refused at which place in which words."""

from __future__ import annotations

from pathlib import Path

import pytest

from repro.errors import SpecError
from repro.specs.load import load_claims
from repro.tuning.search import plan_search
from repro.tuning.search_file import load_search
from tests.tuning.searches import STAGES, cross, search, written

ROOT = Path(__file__).parents[2]
SHIPPED = sorted((ROOT / "claims" / "searches").glob("*.yaml"))


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_the_searches_that_come_with_it_load(path):
    """Each goes by the name of its file, is within its budget and chooses on validation."""
    loaded = load_search(path)
    assert loaded.spec.search == path.stem
    assert loaded.spec.selected_on == "valid"
    assert not plan_search(loaded).problems


def test_the_base_is_the_configuration_with_its_override(tmp_path):
    """What the search changes in it is named, for it is no longer the configuration's own."""
    loaded = search(tmp_path)
    assert loaded.base.recipe.epochs == 2
    assert loaded.base.recipe.learning_rate == 5
    assert loaded.overridden == ("recipe.epochs",)


def stage(**changes):
    return [{key: v for key, v in {**STAGES[0], **changes}.items() if v is not None}, STAGES[1]]


@pytest.mark.parametrize(
    ("changes", "line", "words"),
    [
        ({"selected_on": "test"}, '"selected_on"', "unknown value 'test'"),
        ({"root": 0}, '"root"', "0 is out of range"),
        ({"seeds": 0}, '"seeds"', "0 is out of range"),
        ({"budget": None}, "{", "budget: missing key"),
        ({"budget": {"settings": 10**9}}, '"settings"', "out of range"),
        ({"test": 1}, '"test"', "unknown key"),
        ({"base": {"configuration": "tiny/bass"}}, "tiny/bass", "no configuration 'tiny/bass'"),
        ({"stages": cross(recipe__lr=[1])}, "1", "recipe.lr: unknown key"),
        ({"stages": cross(recipe__clip=[1, -1])}, "-1", "recipe.clip: -1 is out of range"),
        ({"stages": cross(recipe__clip=["big"])}, '"big"', "recipe.clip: 'big' is of the wrong"),
        ({"stages": cross(recipe__clip=[])}, '"recipe.clip"', "it is empty"),
        ({"stages": cross(recipe__clip=[1, 2, 1.0])}, "1.0", "1.0 is there twice"),
        ({"stages": cross(corpus__seed=[1])}, '"corpus.seed"', "is not well formed"),
        ({"stages": cross(recipe__dropout__latent=[0.1])}, "0.1", "has no effect"),
        (
            {"stages": cross(recipe__stop=[None, {"patience": 2}])},
            "{",
            "stop.patience: a mapping has",
        ),
        ({"stages": cross(recipe__valid_batch_size=[5])}, "5", "part of the measurement"),
        ({"stages": cross(model__context_size=[6, 8])}, "8", "make them equal"),
        (
            {"stages": cross(recipe__learning_rates=[{"trunk": 1}, {"tronk": 1}])},
            "{",
            "no part 'tronk' that is trained",
        ),
        (
            {"stages": cross(recipe__dropout=[{"input": 0.1}], recipe__dropout__input=[0.2])},
            '"recipe.dropout.input"',
            "change the same values",
        ),
        ({"stages": STAGES[1:]}, "{", "two: it has no values to try"),
        ({"stages": stage(keep=None)}, "{", "two: it has no values to try"),
        ({"stages": [STAGES[0]]}, '"keep"', "no stage takes the values"),
        ({"stages": [STAGES[0], {**STAGES[1], "id": "one"}]}, '"one"', "two stages have this id"),
        ({"stages": []}, '"stages"', "it is empty"),
    ],
)
def test_a_mistake_is_named_with_its_place(tmp_path, changes, line, words):
    """What is wrong, on the line that says it, and what to do about it."""
    path = written(tmp_path, **changes)
    with pytest.raises(SpecError) as caught:
        load_search(path)
    problem = next(one for one in caught.value.problems if words in one.what)
    found = path.read_text(encoding="utf-8").splitlines()[problem.place.line - 1]
    assert line in found
    assert problem.place.file == str(path)
    assert problem.expected
    assert problem.advice


def test_mistakes_come_out_together(tmp_path):
    """One reading names all that is wrong with the values of all stages."""
    bad = [*cross(recipe__clip=[0], recipe__learning_rate=[-1]), {**cross(recipe__x=[1])[0]}]
    bad[1]["id"] = "second"
    with pytest.raises(SpecError) as caught:
        search(tmp_path, stages=bad)
    assert len(caught.value.problems) == 3


def test_a_claim_is_no_search():
    """It is named as what it is, with the command that reads it: one mistake, not twenty."""
    with pytest.raises(SpecError, match="this is a claim, and no search") as caught:
        load_search(ROOT / "claims" / "mos_rank.yaml")
    (problem,) = caught.value.problems
    assert "`repro verify`" in problem.advice


def test_a_search_is_no_claim():
    """A search that is given to `repro verify` is sent to `repro tune`."""
    with pytest.raises(SpecError, match="this is a search, and no claim") as caught:
        load_claims(ROOT / "claims" / "searches" / "quick.yaml")
    (problem,) = caught.value.problems
    assert problem.place.line == 2  # search: quick
    assert "`repro tune`" in problem.advice


def test_a_base_without_digests_is_refused(tmp_path):
    """Nothing is trained on a blank, and what to write is said before anything is planned."""
    base = {"configuration": "yang2018/text8/softmax"}
    with pytest.raises(SpecError, match="'text8' of the base does not say which files") as caught:
        search(tmp_path, base=base, stages=cross(recipe__clip=[1]))
    (problem,) = caught.value.problems
    assert "base's override" in problem.advice
    assert "repro corpus text8 --unit characters" in problem.advice


@pytest.mark.parametrize("key", ["batch_size", "valid_batch_size"])
def test_a_batch_that_the_text_is_too_short_for_is_refused(tmp_path, key):
    """A stream needs two tokens: in the base, and in a value, at their lines."""
    base = {"configuration": "tiny/base", "override": {"recipe": {"epochs": 2, key: 10**6}}}
    with pytest.raises(SpecError, match=rf"recipe.{key} of the base is 1,000,000") as caught:
        search(tmp_path, base=base)
    (problem,) = caught.value.problems
    lines = (tmp_path / "search.yaml").read_text(encoding="utf-8").splitlines()
    assert "configuration" in "".join(lines[problem.place.line - 2 : problem.place.line + 1])


def test_a_value_that_the_text_is_too_short_for_is_refused(tmp_path):
    """As the base is, at the line of the value."""
    path = written(tmp_path, stages=cross(recipe__batch_size=[2, 10**6]))
    with pytest.raises(SpecError, match=r"recipe.batch_size of the setting is 1,000,000") as caught:
        load_search(path)
    (problem,) = caught.value.problems
    line = path.read_text(encoding="utf-8").splitlines()[problem.place.line - 1]
    assert "1000000" in line


def test_sizes_that_must_agree_are_tried_as_one_value(tmp_path):
    """A mapping is laid over the model key by key."""
    sizes = [{"embedding_size": 6, "context_size": 6}, {"embedding_size": 8, "context_size": 8}]
    loaded = search(tmp_path, stages=cross(model=sizes))
    found = loaded.setting([{"model": sizes[1]}], "only")
    assert (found.model.context_size, found.model.hidden_size) == (8, 8)


def test_another_kind_replaces_the_whole_value(tmp_path):
    """An output layer with other fields is tried against that of the base."""
    kinds = [{"kind": "softmax"}, {"kind": "gss", "c": 0.0, "k": 2.0}]
    loaded = search(tmp_path, stages=cross(model__output=kinds))
    found = loaded.setting([{"model.output": kinds[1]}, {"model.output.k": 3.0}], "only")
    assert found.model.output.model_dump() == {"kind": "gss", "c": 0.0, "k": 3.0}


def test_a_grid_of_absurd_size_is_refused_at_once(tmp_path):
    """Sixty values of each of nine paths are 10^16 settings; none of them is ever made."""
    values = [n / 100 for n in range(1, 61)]
    names = ("embedding", "input", "hidden", "output", "weight")
    grid = {f"recipe__dropout__{name}": values for name in names}
    more = dict.fromkeys(("recipe__clip", "recipe__activation", "recipe__temporal"), values)
    loaded = search(tmp_path, stages=cross(**grid, **more, recipe__embedding_noise=values))
    planned = plan_search(loaded)
    assert planned.settings == 60**9
    with pytest.raises(SpecError, match=r"up to 10,077,696,000,000,000, and 8 are declared"):
        planned.refuse()
