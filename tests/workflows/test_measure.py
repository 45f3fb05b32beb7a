"""`repro measure`: numbers of runs that are trained, and nothing is trained for them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from repro.cli import app
from repro.registry.registry import Registry
from repro.running.engine import RunOptions
from repro.specs.claim import Claim
from repro.specs.load import load_claim
from repro.store.run_store import RunStore
from repro.trainers.language_model.measurements.hit_rate import HitRate
from repro.trainers.language_model.measurements.kl import KlFromTruth, PairwiseKl
from repro.trainers.language_model.measurements.perplexity import Perplexity
from repro.workflows.measure import asked_of_claims, compared, measure
from tests.running.doing import do, forbid_training

FILE = Path(__file__).parents[1] / "end_to_end" / "claims" / "tiny_rank.yaml"
HERE = ("--device", "cpu", "--engine", "serial")
HITS = "{kind: hit_rate, k: 3, batch_size: 2, contexts: 100}"
SPEC = HitRate(k=3, batch_size=2, contexts=100)


@pytest.fixture(scope="module")
def claim() -> Claim:
    return load_claim(FILE, "quick")


@pytest.fixture(scope="module")
def trained(claim: Claim, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with all runs but the last Softmax, of which nothing is measured."""
    store = RunStore(tmp_path_factory.mktemp("trained") / "store")
    for planned in claim.runs()[:-1]:
        do(store, planned.model_copy(update={"measurements": ()}))
    return store.root


@pytest.fixture
def store(trained: Path, tmp_path: Path) -> RunStore:
    shutil.copytree(trained, tmp_path / "store")
    return RunStore(tmp_path / "store")


@pytest.fixture(autouse=True)
def _nothing_is_trained(monkeypatch: pytest.MonkeyPatch) -> None:
    """All is measured in this process: workers take seconds to start."""
    forbid_training(monkeypatch)


def call(store: RunStore, *arguments: str | Path) -> Result:
    given = map(str, ("measure", *arguments, "--store", store.root, *HERE))
    return CliRunner().invoke(app, list(given))


def options(store: RunStore) -> RunOptions:
    return RunOptions(store, device="cpu", engine="serial")


def test_what_a_claim_declares_is_taken_of_what_is_trained(claim: Claim, store: RunStore) -> None:
    """The run that is not trained is named, and is not trained; a second time nothing is done."""
    found = measure(asked_of_claims([claim], store), options(store))
    assert found.measured == 8
    assert len(found.values) == 8 * 3
    assert [each.planned.label for each in found.untrained] == ["Softmax, seed 2"]
    assert found.failures == []
    for value in found.values:
        stored = store.measurement(value.asked.planned.run.key, value.measurement)
        assert stored is not None
        assert value.value == stored.value
    before = {path: path.stat().st_mtime_ns for path in store.root.rglob("*.json")}
    again = measure(asked_of_claims([claim], store), options(store))
    assert (again.measured, again.values) == (0, found.values)
    assert before == {path: path.stat().st_mtime_ns for path in store.root.rglob("*.json")}


def test_a_claim_is_registered_before_its_numbers_are_seen(claim: Claim, store: RunStore) -> None:
    """As before a training; not where only something else is measured."""
    asked_of_claims([claim], store, [SPEC])
    assert Registry(store).log(claim).registrations() == ()
    own = next(iter(claim.taken_of(claim.trained[0]).values()))
    asked_of_claims([claim], store, [own])
    assert len(Registry(store).log(claim).registrations()) == 1
    measure(asked_of_claims([claim], store), options(store))
    (made,) = Registry(store).log(claim).registrations()
    assert made.registration.digest == claim.digest()
    assert not made.registration.visible


def test_a_store_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    done = call(RunStore(tmp_path / "none"), FILE)
    assert done.exit_code == 3
    assert "0 runs measured now, 0 with numbers, 9 not trained: repro verify" in done.stderr
    assert not (tmp_path / "none").exists()


def test_something_else_of_every_run_and_the_arms_context_by_context(
    claim: Claim, store: RunStore
) -> None:
    """The mean over contexts of the difference of two arms, by hand from what is stored."""
    done = call(store, FILE, "--measurement", HITS, "--json")
    assert done.exit_code == 3
    document = json.loads(done.stdout)
    assert len(document["values"]) == 8
    first = document["values"][0]
    assert (first["claim"], first["arm"], first["seed"]) == ("tiny_rank (quick)", "MoS", 0)
    assert first["measurement"]["kind"] == "hit_rate"
    assert first["value"] == first["details"]["hits"] / 100
    hits = {
        name: np.mean(
            [store.arrays(claim.run(name, n).key, SPEC)["hits"] for n in range(seeds)], axis=0
        )
        for name, seeds in (("mos", 3), ("softmax", 2))
    }
    difference = hits["mos"] - hits["softmax"]
    found = next(x for x in document["by_context"] if x["of"] == ["MoS", "Softmax"])
    assert found["difference"] == pytest.approx(difference.mean(), abs=1e-12)
    assert found["standard_error"] == pytest.approx(difference.std(ddof=1) / 10)
    assert (found["contexts"], found["seeds"]) == (100, [3, 2])
    assert [each["of"] for each in document["by_context"]] == [
        ["MoS", "MoC"], ["MoS", "Softmax"], ["MoC", "Softmax"],
    ]  # fmt: skip


def test_it_is_told_in_lines(store: RunStore) -> None:
    lines = call(store, FILE, "--measurement", HITS).stdout.splitlines()
    assert lines[0] == "tiny_rank (quick)"
    assert "  MoS, seed 0  test top-3 hit rate (100 contexts): 0." in lines[1]
    assert "(standard error 0.0" in lines[1]
    assert lines[-1].startswith(
        "tiny_rank (quick): test top-3 hit rate (100 contexts), MoC less Softmax: "
    )
    assert lines[-1].endswith("over 100 contexts (3 seeds and 2 seeds)")


def test_drawn_pairs_are_compared_pair_by_pair(claim: Claim, store: RunStore) -> None:
    pairs = "{kind: pairwise_kl, batch_size: 2, pairs: 60}"
    lines = call(store, FILE, "--measurement", pairs).stdout.splitlines()
    spec = PairwiseKl(batch_size=2, pairs=60)
    found = [
        np.mean(
            [store.arrays(claim.run(arm, n).key, spec)["divergences"] for n in range(seeds)],
            axis=0,
            dtype=np.float64,
        )
        for arm, seeds in (("moc", 3), ("softmax", 2))
    ]
    assert "(60 pairs), MoC less Softmax: " in lines[-1]
    assert lines[-1].endswith("over 60 pairs (3 seeds and 2 seeds)")
    again = json.loads(call(store, FILE, "--measurement", pairs, "--json").stdout)
    difference = again["by_context"][-1]["difference"]
    assert difference == pytest.approx((found[0] - found[1]).mean(), rel=1e-9)
    assert difference != 0


def test_a_comparison_is_that_of_paired_contexts() -> None:
    """The textbook's paired standard error, of one seed per arm (reference: scipy)."""
    from scipy.stats import ttest_rel

    chance = np.random.default_rng(0)
    a, b = (chance.integers(0, 2, 50).astype(np.uint8) for _ in range(2))
    found = compared("claim", SPEC, ("A", [a]), ("B", [b]))
    assert found.difference / found.error == pytest.approx(ttest_rel(a * 1.0, b * 1.0).statistic)


def test_a_run_by_the_beginning_of_its_key(claim: Claim, store: RunStore) -> None:
    """With what is to be measured of it; two measurements at once."""
    key = claim.run("moc", 1).key
    perplexity = "{kind: perplexity, split: valid}"
    done = call(store, key[:10], "--measurement", HITS, "--measurement", perplexity)
    assert done.exit_code == 0, done.output
    stored = store.measurement(key, Perplexity(split="valid"))
    assert stored is not None
    assert f"  {key[:12]}  validation perplexity: {stored.value:.2f}" in done.stdout
    assert f"  {key[:12]}  test top-3 hit rate (100 contexts): " in done.stdout
    assert "1 run measured now, 1 with numbers" in done.stderr


def test_what_follows_from_a_rank_takes_the_rank_too(claim: Claim, store: RunStore) -> None:
    spectral = "{kind: spectral, statistic: stable, batch_size: 2}"
    key = claim.run("moc", 0).key
    done = call(store, key[:12], "--measurement", spectral)
    assert done.exit_code == 0, done.output
    assert "test rank: " in done.stdout
    assert "test stable rank: " in done.stdout


def test_noise_and_the_mean_row_of_a_trained_model(claim: Claim, store: RunStore) -> None:
    """Of a stored checkpoint; the spectra that lead to them are kept with the run."""
    key = claim.run("moc", 0).key
    settings = "statistic: effective, epsilon: 1.0e-3, batch_size: 2"
    noisy, centred = (f"{{kind: spectral, {settings}, {x}}}" for x in ("noise: 1", "centred: true"))
    done = call(store, key[:12], "--measurement", noisy, "--measurement", centred)
    assert done.exit_code == 0, done.output
    for label in (
        "test rank with noise of 1",
        "test effective rank, ε = 0.001, with noise of 1",
        "test largest singular value, without the mean row",
        "test effective rank, ε = 0.001, without the mean row",
    ):
        assert f"  {label}: " in done.stdout
    assert " nats per entry\n" in done.stdout
    sizes = {each.measurement.kind: len(store.arrays(key, each.measurement)["singular_values"])
             for each in store.check_numbers(key) if each.arrays is not None}  # fmt: skip
    assert sizes["noisy_rank"] == sizes["centred_spectrum"] > 1
    store.check(key)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["abcdef0123"], "a run says nothing of what is to be measured"),
        (["abcdef0123", "--measurement", HITS], "abcdef0123: begins no run's key in "),
        ([FILE, "--measurement", "{kind: hits, k: 3}"],
         "--measurement:1:8: unknown kind 'hits'\n  expected: one of bleu, "),
        ([FILE, "--measurement", "{k: 3}"], "the kind is missing"),
        ([FILE, "--measurement", "{kind: hit_rate, kk: 3}"], "--measurement:1:18: "),
        ([FILE, "--measurement", "kind hit_rate"], "--measurement:1:1: "),
        ([FILE, "--measurement", "{kind: perplexity, split: test, mode: training}"],
         "nothing is trained on the test split"),
        ([FILE, "--measurement", "{kind: hit_rate, k: 3, contexts: 1000000}"],
         "--measurement, contexts: contexts is 1,000,000, and the test split of MoS, seed 0 has"),
        ([FILE, "--measurement", "{kind: bleu, order: 1, side: recall, smoothing: none}"],
         "MoS, seed 0 is a language model, and only a dialog model answers"),
        ([FILE, "--measurement", "{use: 'mine:Own'}"], "--allow-code"),
        (["no_such_claim"], "no_such_claim"),
    ],
)  # fmt: skip
def test_what_cannot_be_measured_is_told(store: RunStore, arguments: Any, message: str) -> None:
    """Before anything is read, with 2, and nothing is written."""
    done = call(store, *arguments)
    assert done.exit_code == 2, done.output
    assert message in done.stderr
    assert not list(store.root.rglob("measurements/*"))


def test_a_key_that_begins_several_is_refused(store: RunStore) -> None:
    key = next(store.keys())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RunStore, "keys", lambda _: iter([key, key[:-1] + "x"]))
        done = call(store, key[:9], "--measurement", HITS)
    assert done.exit_code == 2
    assert "begins the keys of 2 runs" in done.stderr


def test_damage_is_told_and_the_others_are_measured(claim: Claim, store: RunStore) -> None:
    """A record that cannot be read, and weights that are missing."""
    first, second = claim.run("mos", 0).key, claim.run("moc", 0).key
    (store.folder(first) / "record.json").write_text("{}")
    (store.folder(second) / "model.safetensors").unlink()
    done = call(store, FILE, "--measurement", HITS)
    assert done.exit_code == 5
    failed = [line for line in done.stderr.splitlines() if line.startswith("failed: ")]
    assert len(failed) == 2
    assert "record.json" in done.stderr
    assert "model.safetensors" in done.stderr
    assert "6 runs measured now, 6 with numbers" in done.stderr


def test_a_run_that_diverged_has_nothing_to_measure(claim: Claim, tmp_path: Path) -> None:
    store = RunStore(tmp_path / "store")
    run = claim.run("mos", 0)
    store.put_run(run, history=[{"epoch": 1, "valid_loss": None}], weights=None, diverged=1)
    done = call(store, run.key[:12], "--measurement", HITS)
    assert done.exit_code == 0, done.output
    assert f"diverged: {run.key[:12]} has nothing to measure" in done.stderr


def test_the_most_probable_words_at_a_place_are_told(claim: Claim, store: RunStore) -> None:
    """In the order of the places, with what was read before them."""
    key = claim.run("mos", 0).key
    given = "{kind: hit_rate, k: 2, at: [40, 7]}"
    lines = call(store, key[:12], "--measurement", given).stdout.splitlines()
    stored = store.measurement(key, HitRate(k=2, at=(40, 7)))
    assert stored is not None
    details: Any = stored.details
    for line, fact in zip(lines[-2:], details["at"], strict=True):
        (first, second), word = fact["top"], fact["word"]
        assert line == (
            f"    {fact['at']}: {fact['context']} [{word}, place {fact['place']}]: "
            f"{first['word']} {first['probability']:.3f}, "
            f"{second['word']} {second['probability']:.3f}"
        )
    assert [line.split(":")[0].strip() for line in lines[-2:]] == ["40", "7"]


def test_a_distance_from_the_truth_is_told_with_the_floor(claim: Claim, store: RunStore) -> None:
    key = claim.run("softmax", 0).key
    done = call(store, key[:12], "--measurement", "{kind: kl_from_truth}")
    stored = store.measurement(key, KlFromTruth())
    assert stored is not None
    found: Any = stored.details
    told = (
        f"    perplexity {found['model']:.2f}; of the truth {found['truth']:.2f} on these words, "
    )
    assert f"{told}{found['floor']:.2f} in the long run" in done.stdout.splitlines()
