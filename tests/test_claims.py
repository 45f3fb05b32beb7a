"""The shipped claims and configurations hold what the papers print."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from repro.errors import Place
from repro.evidence.evidence import Replicate
from repro.expectations.exact import Bound
from repro.expectations.ratio import Ratio
from repro.expectations.verdict_words import FlagKind
from repro.judging.assemble import check_claim
from repro.judging.gather import gather, read_tables
from repro.specs.claim import SCALES, Claim, ScaleName
from repro.specs.configuration import Configuration, read_sheet
from repro.specs.load import load_claim
from repro.store.run_store import RunStore
from repro.trainers.language_model.measurements.rank import Rank
from repro.trainers.language_model.spec import MoS, TrainingSpec
from repro.tuning.search_file import changed
from tests.commands import repro

pytestmark = pytest.mark.usefixtures("parsed_once")

CLAIMS = Path(__file__).parents[1] / "claims"
FILES = sorted(CLAIMS.glob("*.yaml"))

# facts.md 1.3: what the papers print, and the exact counts behind it.
PARAMETERS = {
    ("mos_rank", "softmax"): 24_221_600,
    ("mos_rank", "moc"): 21_500_620,
    ("mos_rank", "mos"): 21_500_620,
    ("lms_plif_regularization", "softmax"): 24_221_600,
    ("lms_plif_regularization", "plif"): 24_321_600,
    ("lms_plif_regularization", "frozen"): 24_321_600,
    ("fair_mos", "mos"): 17_535_200,
    ("fair_mos", "softmax"): 17_560_880,
}


def configuration(claim: Claim, arm: str) -> Configuration:
    found = claim.arms[arm].configuration
    assert isinstance(found, Configuration)
    return found


@pytest.mark.parametrize(("name", "arm"), PARAMETERS)
def test_models_at_paper_scale_have_the_printed_size(name: str, arm: str) -> None:
    """Numbers of parameters come out exactly at the paper's scale."""
    claim = load_claim(CLAIMS / f"{name}.yaml", "paper")
    assert configuration(claim, arm).training().parameters == PARAMETERS[name, arm]


# What the papers print of a configuration's size, in millions; WikiText-2's are cut, not rounded.
MILLIONS = {
    "merity2018/ptb/softmax": (24_221_600, 24.22),
    "merity2018/ptb/softmax_finetuned": (24_221_600, 24.22),
    "merity2018/wt2/softmax": (33_556_078, 33.55),
    "merity2018/wt2/softmax_finetuned": (33_556_078, 33.55),
    "parthiban2021/ptb/gss": (24_221_600, 24.22),
    "parthiban2021/ptb/moc": (21_500_620, 21.50),
    "parthiban2021/ptb/mos": (21_500_620, 21.50),
    "parthiban2021/ptb/mos_dagger": (17_535_200, 17.53),
    "parthiban2021/ptb/plif": (24_321_600, 24.32),
    "parthiban2021/ptb/plif_frozen": (24_321_600, 24.32),
    "parthiban2021/ptb/sigsoftmax": (24_221_600, 24.22),
    "parthiban2021/ptb/softmax": (24_221_600, 24.22),
    "parthiban2021/ptb/softmax_dagger": (16_350_800, 16.35),
    "parthiban2021/ptb/softmax_double_dagger": (17_560_880, 17.56),
    "parthiban2021/wt2/gss": (33_556_078, 33.55),
    "parthiban2021/wt2/moc": (34_909_528, 34.90),
    "parthiban2021/wt2/mos": (34_909_528, 34.90),
    "parthiban2021/wt2/plif": (33_656_078, 33.65),
    "parthiban2021/wt2/plif_frozen": (33_656_078, 33.65),
    "parthiban2021/wt2/sigsoftmax": (33_556_078, 33.55),
    "parthiban2021/wt2/softmax": (33_556_078, 33.55),
    "yang2018/ptb/moc": (21_500_620, 21.50),
    "yang2018/ptb/mos": (21_500_620, 21.50),
    "yang2018/ptb/mos_finetuned": (21_500_620, 21.50),
    "yang2018/wt2/moc": (34_909_528, 34.90),
    "yang2018/wt2/mos": (34_909_528, 34.90),
    "yang2018/wt2/mos_finetuned": (34_909_528, 34.90),
}

# No size is printed of these: AWD-LSTM with the hyper-parameters of MoS (Yang et al., Table 4).
UNPRINTED = {"yang2018/ptb/softmax", "yang2018/wt2/softmax"}

# Lim et al. 2018, Table 1: parameters of MoS and of MoC over the number of components.
COMPONENTS = {
    "ptb": {
        1: 19_057_620,
        3: 19_406_620,
        5: 19_755_620,
        10: 20_628_120,
        15: 21_500_620,
        20: 22_373_120,
    },
    "wt2": {
        1: 32_166_228,
        3: 32_558_128,
        5: 32_950_028,
        10: 33_929_778,
        15: 34_909_528,
        20: 35_889_278,
    },
}


def shipped(name: str) -> Configuration:
    """The packaged configuration of this name."""
    found = read_sheet(CLAIMS / "configurations" / f"{name}.yaml").configuration
    assert isinstance(found, Configuration)
    return found


@pytest.mark.parametrize("name", MILLIONS)
def test_configurations_have_the_printed_size(name: str) -> None:
    """The exact number of parameters, and the millions that a table prints of it."""
    exact, printed = MILLIONS[name]
    assert shipped(name).training().parameters == exact
    assert printed <= exact / 1e6 < printed + 0.01


def test_no_configuration_of_penn_treebank_and_wikitext_is_without_its_size() -> None:
    """The table above names every configuration of the papers' two texts."""
    folder = CLAIMS / "configurations"
    paths = [path for corpus in ("ptb", "wt2") for path in folder.glob(f"*20??/{corpus}/*.yaml")]
    names = {path.relative_to(folder).with_suffix("").as_posix() for path in paths}
    assert names == MILLIONS.keys() | UNPRINTED


@pytest.mark.parametrize("kind", ["mos", "moc"])
@pytest.mark.parametrize("corpus", COMPONENTS)
def test_sizes_over_the_number_of_components_are_the_printed_ones(corpus: str, kind: str) -> None:
    """The sweep over K is an override of one configuration: its sizes are Lim et al.'s."""
    base = shipped(f"parthiban2021/{corpus}/{kind}")
    place = Place("sweep.yaml", 1, 1)
    for components, printed in COMPONENTS[corpus].items():
        sheet = changed(base, [{"model.output.components": components}], place)
        assert sheet.configuration is not None
        assert sheet.configuration.training().parameters == printed


def test_paper_recipes_have_the_rates_of_the_published_code() -> None:
    """Where windows are random, an averaged step is late and the last window's rate is drawn."""
    for folder in ("merity2018", "parthiban2021", "yang2018"):
        for path in sorted((CLAIMS / "configurations" / folder).rglob("*.yaml")):
            found = read_sheet(path).configuration
            assert found is not None
            training = found.training()
            if isinstance(training, TrainingSpec) and training.recipe.window.random:
                assert training.recipe.window.last_rate == "drawn", path
                assert getattr(training.recipe.averaging, "rate", None) == "late", path


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
@pytest.mark.parametrize("scale", SCALES)
def test_every_claim_loads_at_every_scale(path: Path, scale: ScaleName) -> None:
    """A shipped claim has no mistake, and its file is named like its id."""
    claim = load_claim(path, scale)
    assert claim.id == path.stem
    assert claim.scale == scale


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_quick_needs_no_data(path: Path) -> None:
    """The quick scale trains on a synthetic language; the others on text."""
    kinds: dict[ScaleName, str] = {"quick": "synthetic", "bench": "text", "paper": "text"}
    for scale, kind in kinds.items():
        claim = load_claim(path, scale)
        assert {configuration(claim, arm).corpus.kind for arm in claim.trained} == {kind}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_small_scales_say_that_they_are_not_the_papers(path: Path) -> None:
    """The notice of quick and bench tells a reader that this is another experiment."""
    for scale in SCALES[:2]:
        notice = load_claim(path, scale).notice
        assert any(
            word in notice
            for word in ("not how large", "nothing about", "not those", "not the paper")
        )


def test_the_rank_of_bench_is_over_the_whole_test_set_of_ptb() -> None:
    """At bench the rank is of batch 1, so that every context but the first word's counts."""
    claim = load_claim(CLAIMS / "mos_rank.yaml", "bench")
    rank = next(m for m in claim.measurements.values() if isinstance(m, Rank))
    assert rank.batch_size == 1
    assert {configuration(claim, arm).corpus.tokens.test for arm in claim.arms} == {82_430}
    assert claim.seeds.plan >= 3


def test_the_ratio_asked_of_softmax_is_below_what_the_papers_print() -> None:
    """9,981 / 402 is 24.8, so a least ratio of 25 would contradict the papers' own numbers."""
    claim = load_claim(CLAIMS / "mos_rank.yaml", "paper")
    least = {one.id: one.at_least.value for one in claim.expectations if isinstance(one, Ratio)}
    assert least == {"far_above_moc": 25, "far_above_softmax": 20}
    assert least["far_above_softmax"] < 9981 / 402 < 25
    assert least["far_above_moc"] < 9981 / 282


def test_arms_of_the_fair_comparison_are_equal_within_a_per_cent_at_every_scale() -> None:
    """What the claim declares to be equal is equal in the shipped configurations."""
    for scale in SCALES:
        claim = load_claim(CLAIMS / "fair_mos.yaml", scale)
        sizes = (configuration(claim, arm).training().parameters for arm in claim.arms)
        low, high = sorted(size for size in sizes if size is not None)
        within = claim.comparable.parameters_within
        assert within is not None
        assert high <= low * (1 + within)


def test_yangs_mos_has_the_epsilon_of_its_code_and_parthibans_has_not() -> None:
    """log(p + 1e-8) is a named option of one configuration, and absent from the other."""
    epsilons = {}
    for paper in ("yang2018", "parthiban2021"):
        path = CLAIMS / "configurations" / paper / "ptb" / "mos.yaml"
        configuration = read_sheet(path).configuration
        assert configuration is not None
        assert isinstance(configuration.model.output, MoS)
        epsilons[paper] = configuration.model.output.log_epsilon
    assert epsilons == {"yang2018": 1e-8, "parthiban2021": 0}


@pytest.mark.parametrize("path", sorted((CLAIMS / "nightly").glob("*.yaml")), ids=lambda p: p.stem)
def test_the_nightly_claims_load_at_quick_scale(path: Path) -> None:
    """Each is named like its file and grows by night: sequential, or a negative control."""
    claim = load_claim(path, "quick")
    assert claim.id == path.name.partition(".")[0]
    assert (claim.sequential is None) != (claim.control is None)


# What every claim that is judged from print alone says: nothing is trained for it.
PRINTED = {
    "lim2018": {
        "empirical_rank_far_from_full_printed": "CONFIRMED",
        "empirical_rank_rises_with_components_printed": "CONFIRMED",
        "moc_rank_is_280_printed": "CONFIRMED",
        "moc_rank_same_for_all_components_printed": "CONFIRMED",
        "mos_rank_above_moc_printed": "CONTRADICTED",
        "no_degradation_beyond_full_rank_printed": "INCONCLUSIVE",
        "on_par_with_yang_printed": "INCONCLUSIVE",
        "rank_rises_with_components_printed": "CONFIRMED",
        "ranks_match_yang_printed": "CONFIRMED",
    },
    "parthiban2021": {
        "correlation_fairly_weak_ptb": "INCONCLUSIVE",
        "correlation_fairly_weak_wt2": "INCONCLUSIVE",
        "et_better_than_nt": "CONFIRMED",
        "freezing_changes_nothing_elsewhere_ptb": "CONTRADICTED",
        "freezing_changes_nothing_elsewhere_wt2": "CONTRADICTED",
        "freezing_changes_nothing_ptb": "CONFIRMED",
        "freezing_changes_nothing_wt2": "INCONCLUSIVE",
        "frozen_plif_trades_training_for_test_ptb": "CONFIRMED",
        "frozen_plif_trades_training_for_test_wt2": "CONFIRMED",
        "gap_grows_with_capacity": "CONFIRMED",
        "gss_ranks_diverse_ptb": "CONFIRMED",
        "gss_ranks_diverse_wt2": "CONFIRMED",
        "hits_do_not_go_with_rank": "INCONCLUSIVE",
        "low_rank_hits_of_all_contexts": "CONFIRMED",
        "low_rank_hits_of_yangs_contexts": "CONFIRMED",
        "moc_embeddings_beat_mos_ptb": "INCONCLUSIVE",
        "moc_embeddings_beat_mos_wt2": "CONFIRMED",
        "mos_dagger_not_better": "INCONCLUSIVE",
        "mos_noteworthy_better_ptb": "CONFIRMED",
        "mos_noteworthy_better_wt2": "CONFIRMED",
        "normalised_spectra_alike": "CONFIRMED",
        "plif_better_at_lower_rank_ptb": "CONFIRMED",
        "plif_better_at_lower_rank_wt2": "CONFIRMED",
        "plif_better_than_softmax_ptb": "CONFIRMED",
        "plif_better_than_softmax_wt2": "CONFIRMED",
        "plif_rank_low_below_press": "CONTRADICTED",
        "press_rank_not_robust_to_noise": "CONFIRMED",
        "press_rank_overestimates": "CONFIRMED",
        "rank_goes_with_performance_over_k": "CONFIRMED",
        "rank_neither_necessary_nor_sufficient_printed": "INCONCLUSIVE",
        "sigsoftmax_better_by_little_wt2": "CONFIRMED",
        "sigsoftmax_not_better_ptb": "INCONCLUSIVE",
    },
    "yang2018": {
        "almost_full_rank_printed": "CONFIRMED",
        "context_dependent_predictions": "INCONCLUSIVE",
        "mos_perplexities_printed": "CONFIRMED",
        "one_component_is_softmax_printed": "CONTRADICTED",
        "outperforms_all_baselines": "CONFIRMED",
        "rank_and_performance": "CONFIRMED",
        "slowdown_two_to_three_times": "CONFIRMED",
        "softmax_bottleneck_printed": "CONFIRMED",
        "switchboard_printed": "CONFIRMED",
        "too_many_components": "INCONCLUSIVE",
    },
}


def scales_of(path: Path) -> list[ScaleName]:
    """The scales that a claim declares, the paper's last."""
    with path.open(encoding="utf-8") as lines:
        declared = {line.strip().rstrip(":") for line in lines if line.startswith("  ")}
    return [scale for scale in SCALES if scale in declared]


@pytest.mark.parametrize("paper", PRINTED)
def test_every_claim_of_a_paper_loads_at_every_scale_that_it_has(paper: str) -> None:
    """Each is named like its file, and quotes its paper."""
    paths = sorted((CLAIMS / paper).glob("*.claim.yaml"))
    assert paths
    for path in paths:
        assert scales_of(path), path
        for scale in scales_of(path):
            claim = load_claim(path, scale)
            assert claim.id == path.name.partition(".")[0]
            assert claim.paper == paper
            assert not claim.trained or scale == "paper" or "not the paper" in claim.notice


@pytest.mark.parametrize("folder", ["controls", "wikitext2"])
def test_claims_of_other_folders_load_at_every_scale_that_they_have(folder: str) -> None:
    """Each trains what its notice tells to be another experiment, or judges a table."""
    paths = sorted((CLAIMS / folder).glob("*.claim.yaml"))
    assert paths
    for path in paths:
        assert scales_of(path), path
        for scale in scales_of(path):
            claim = load_claim(path, scale)
            told = ("not the paper", "No paper makes this claim")
            assert not claim.trained or scale == "paper" or any(w in claim.notice for w in told)


def test_no_two_claims_have_the_same_id() -> None:
    """An id names a report's folder, whatever folder its claim is in."""
    paths = [*FILES, *CLAIMS.rglob("*.claim.yaml")]
    texts = (path.read_text(encoding="utf-8") for path in paths)
    ids = {one for text in texts for one in re.findall(r"^id: (\w+)$", text, re.MULTILINE)}
    assert len(ids) == len(paths)


CONTROLS = {
    "moc_follows_mos": "CONFIRMED",
    "moc_has_a_part_of_the_gain": "CONFIRMED",
    "switch_turns_plif": "CONFIRMED",
}


def printed(folder: str) -> Iterator[tuple[Path, Claim]]:
    """The claims of a folder that train nothing, and their files."""
    for path in sorted((CLAIMS / folder).glob("*.claim.yaml")):
        if "paper" in scales_of(path) and not (claim := load_claim(path, "paper")).trained:
            yield path, claim


@pytest.mark.parametrize("folder", [*PRINTED, "controls"])
def test_claims_from_print_have_their_verdicts(folder: str, tmp_path: Path) -> None:
    """Printed numbers are judged, all VALID, as the table says, and each with values of one kind.

    A perplexity among scores would lie far from the others, and arms of one table go together.
    """
    unlike = {FlagKind.OUTLIER, FlagKind.CORRELATED, FlagKind.UNITS}
    conclusions = {}
    for path, claim in printed(folder):
        verdict = check_claim(claim, gather(claim, RunStore(tmp_path), read_tables(claim))).verdict
        assert verdict.validity == "VALID", path
        assert verdict.as_expected, path
        assert not unlike & {flag.kind for flag in verdict.flags}, path
        conclusions[claim.id] = verdict.conclusion
    assert conclusions == {**PRINTED, "controls": CONTROLS}[folder]


def test_hits_of_two_claims_are_those_of_one_figure(tmp_path: Path) -> None:
    """Figure 3 of Parthiban et al.: a model's hits, context by context, are as many as its sum."""

    def runs(path: str, arm: str) -> tuple[Replicate, ...]:
        claim = load_claim(CLAIMS / f"{path}.claim.yaml", "paper")
        return gather(claim, RunStore(tmp_path), read_tables(claim)).finished(arm)

    sums = [run.values["hits"] for run in runs("parthiban2021/hits_do_not_go_with_rank", "models")]
    for arm, early, by_validation in (("moc", 4, 5), ("mos", 6, 7)):
        hits = [run.values for run in runs("yang2018/context_dependent_predictions", arm)]
        assert sum(each["hit"] for each in hits) == sums[early]
        assert sum(each["hit_nt"] for each in hits) == sums[by_validation]


@pytest.mark.parametrize("folder", PRINTED)
def test_what_is_expected_of_printed_numbers_is_called_a_record(folder: str) -> None:
    """Numbers in print were known before the file was: to expect them is to predict nothing."""
    reasons = [claim.expect.why for _, claim in printed(folder) if claim.expect is not None]
    assert reasons
    assert [why for why in reasons if not why.startswith("a record and no prediction")] == []


def test_settings_of_two_to_three_times_are_counted_from_the_printed_times(tmp_path: Path) -> None:
    """Those of Yang et al. first; by either reading of "two to three times"."""
    path = CLAIMS / "yang2018" / "slowdown_two_to_three_times.claim.yaml"
    claim = load_claim(path, "paper")
    strictly, at_most = gather(claim, RunStore(tmp_path), read_tables(claim)).finished("mos")
    times = [1.9, 2.5, 3.8, 2.9, 2.1, 1.8, 8.3]
    counted = {"of_five": times[:5], "of_seven": times}
    assert strictly.values == {name: sum(2 <= t <= 3 for t in of) for name, of in counted.items()}
    assert at_most.values == {name: sum(t <= 3 for t in of) for name, of in counted.items()}
    places = ("--store", str(tmp_path / "store"), "--reports", str(tmp_path / "reports"))
    said = repro("verify", str(path), "--scale", "paper", *places).stdout
    assert "Settings of five, 2 to 3 times slower: MoS at 3 to 4 keeps within the bound" in said
    assert "in 2 of 2 readings." in said
    assert "CONFIRMED (exact, for these readings)" in said
    page = next((tmp_path / "reports").glob("*/paper/report.html")).read_text(encoding="utf-8")
    for words in ("2 readings per arm", "Each dot is one reading", "without each reading in turn"):
        assert words in page.replace("\xa0", " ")


def test_moc_has_65_per_cent_of_the_gain_of_mos(tmp_path: Path) -> None:
    """(57.10 - 55.81) / (57.10 - 55.11), the early switch on Penn Treebank; facts.md 6.1 f."""
    claim = load_claim(CLAIMS / "controls" / "moc_has_a_part_of_the_gain.claim.yaml", "paper")
    first, *_ = gather(claim, RunStore(tmp_path), read_tables(claim)).finished("ptb")
    assert first.values["share"] == pytest.approx(1.29 / 1.99)


def test_the_operations_that_are_doubled_are_those_that_are_counted() -> None:
    """The limits of the claim are one less than twice, or eight times, what a smaller model has."""
    claim = load_claim(CLAIMS / "yang2018" / "fewer_operations_than_components.claim.yaml", "quick")
    counted = {arm: configuration(claim, arm).training().flops for arm in claim.arms}
    limits = [
        one.at_most.value
        for one in claim.expectations
        if isinstance(one, Bound) and one.at_most is not None
    ]
    two, four, one = (counted[arm] or 0 for arm in ("two", "four", "softmax"))
    assert limits == [2 * two - 1, 2 * four - 1, 8 * one - 1]
