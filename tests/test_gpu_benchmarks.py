"""The GPU's commands, on a CPU and in tiny sizes: what they compare and time."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from benchmarks.gpu import (
    correctness,
    graphs,
    host,
    many,
    passes,
    product,
    ranks,
    speed,
    trainings,
)
from benchmarks.gpu.cases import TINY
from benchmarks.gpu.checks import Check, departure, largest_departure
from benchmarks.gpu.many import Asked
from benchmarks.gpu.stopwatch import WARM_UPS, EnoughError, Failed, Measured, Stopwatch, timed
from benchmarks.gpu.workloads import WORKLOADS, corpus_of, epoch_tokens, specification
from benchmarks.speed.rows import Goal
from benchmarks.speed.shapes import run_of
from repro.specs.load import load_claim
from repro.trainers.language_model import fused_loss
from repro.trainers.language_model.corpus import load_corpus
from repro.trainers.language_model.regularisation import Regularisation
from repro.trainers.language_model.spec import TrainingSpec
from repro.trainers.table import MEASUREMENTS
from tests.commands import repro
from tests.trainers import small

CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


class TestChecks:
    def test_a_bound_is_kept_up_to_itself_and_not_by_nan(self):
        """The word of each case; NaN is the mark of an error, not of an agreement."""
        assert [Check("", v, 1.0).word for v in (1.0, 1.1, float("nan"))] == [
            "kept",
            "BROKEN",
            "BROKEN",
        ]
        assert Check("", 7.0).word == "told"
        assert Check("", 7.0).kept

    def test_departures(self):
        """Closed forms: |(3, 4) - (3, 4.5)| / |(3, 4.5)|, and a lack of numbers is infinite."""
        found = departure(torch.tensor([3.0, 4.0]), torch.tensor([3.0, 4.5]))
        assert found == pytest.approx(0.5 / (9 + 4.5**2) ** 0.5)
        assert largest_departure([1.0, 3.0], [1.0, 2.0]) == 0.5
        assert largest_departure([1.0], [1.0, 2.0]) == float("inf")


class TestProduct:
    def test_a_claim_has_every_measurement_of_a_language_model(self):
        """All kinds but word similarity, which needs the words of the benchmarks."""
        claim = load_claim(product.CLAIM, "quick")
        kinds = {measurement.kind for measurement in claim.measurements.values()}
        assert kinds == {*MEASUREMENTS.names()} - {"word_similarity", "bleu"}

    def test_values_are_compared_run_by_run(self, tmp_path: Path, monkeypatch):
        """A departure of one value in one arm is found; of TF32 and of counts it is told."""
        first = {("mos", 0, "test"): 2.0, ("moc", 0, "test"): 2.0, ("mos", 0, "rank"): 5.0}
        second = {("mos", 0, "test"): 2.01, ("moc", 0, "test"): 3.0, ("mos", 0, "rank"): 6.0}
        found = iter([first, second])
        monkeypatch.setattr(product, "values", lambda *_: next(found))
        done = {check.what: check for check in product.compared(product.CLAIM, tmp_path, "cuda")}
        assert done["test, 1 runs"].word == "BROKEN"
        assert done["test, 1 runs"].value == pytest.approx(0.005)
        assert done["test, 1 runs with products in TF32"].word == "told"
        assert done["rank, 1 runs"].word == "told"

    @pytest.mark.slow
    def test_the_product_agrees_with_itself_on_a_cpu(self, tmp_path: Path, monkeypatch):
        """The claim on dialogs, verified twice: no value differs. In this process, for its cost."""
        claim = product.dialogs(tmp_path)
        monkeypatch.chdir(claim.parent)
        here = SimpleNamespace(
            run=lambda line, **_: repro(*line[3:], "--engine", "serial"), PIPE=subprocess.PIPE
        )
        monkeypatch.setattr(product, "subprocess", here)  # others start programs, too
        done = list(product.compared(claim, tmp_path, "cpu"))
        assert [check.value for check in done] == [0.0] * 4


def test_ranks_are_timed(tmp_path: Path):
    """The whole command on tiny models: three rows, and it writes what it prints."""
    assert ranks.main(["--device", "cpu", "--only", "ptb_mos", "--out", str(tmp_path)]) == 0
    document = json.loads((tmp_path / "ranks.json").read_text())
    assert [row["what"] for row in document["findings"]] == [
        "ptb_mos, mean loss of the test text",
        "ptb_mos, rank and its control",
        "ptb_mos, rank, the control being known",
    ]


class TestCorrectness:
    def test_everything_agrees_with_itself_on_a_cpu(self, tmp_path: Path, monkeypatch):
        """The whole command with two layers: no bound is broken, and it writes what it prints."""
        monkeypatch.setattr(passes, "all_layers", lambda: ["plif", "mos"])
        arguments = ["--device", "cpu", "--tiny", "--out", str(tmp_path)]
        assert correctness.main(arguments) == 0
        document = json.loads((tmp_path / "correctness.json").read_text())
        assert all(check["verdict"] != "BROKEN" for check in document["checks"])
        assert document["facts"]["determinism"]["torch.use_deterministic_algorithms"] is True
        assert "host" not in document["facts"]["machine"]
        told = [check for check in document["checks"] if check["bound"] is None]
        assert {check["note"] for check in told} == {"equal bit for bit"}
        assert "0 broken" in (tmp_path / "correctness.md").read_text()

    @pytest.mark.parametrize("name", ["softmax", "sigsoftmax", "gss", "moc"])
    def test_each_layer_is_within_the_bounds(self, name: str):
        """The layers that the whole command's test leaves out, in float32 and bf16."""
        found = list(passes.of_outputs([name], TINY, CPU, [None, "bf16"]))
        assert len(found) == 4
        assert all(check.kept for check in found), found

    def test_an_error_in_the_device_s_arithmetic_is_found(self, monkeypatch):
        """A mixture's loss that is wrong by one part in a thousand, in float32 alone."""
        right = fused_loss._mixture_chunk

        def wrong(rows, inputs, *others):
            error = 1e-3 if inputs.bias.dtype == torch.float32 else 0.0
            return right(rows, inputs, *others) * (1 + error)

        monkeypatch.setattr(fused_loss, "_mixture_chunk", wrong)
        loss, gradients = passes.of_outputs(["mos"], TINY, CPU, [None])
        assert (loss.word, gradients.word) == ("BROKEN", "kept")

    def test_a_wrong_gradient_is_found(self, monkeypatch):
        """One part in a thousand, again."""
        right = fused_loss._MixtureLoss.backward

        def wrong(context, scale):
            return right(context, scale * (1.001 if scale.dtype == torch.float32 else 1.0))

        monkeypatch.setattr(fused_loss._MixtureLoss, "backward", staticmethod(wrong))
        loss, gradients = passes.of_outputs(["softmax"], TINY, CPU, [None])
        assert (loss.word, gradients.word) == ("kept", "BROKEN")

    def test_other_masks_are_found(self, monkeypatch):
        """A device on which one mask is drawn from another stream."""
        original, calls = Regularisation.of_epoch, []

        def of_epoch(recipe, streams, epoch):
            calls.append(epoch)
            return original(recipe, streams, epoch + len(calls) - 1)

        monkeypatch.setattr(Regularisation, "of_epoch", of_epoch)
        words = {check.what: check.word for check in passes.of_masks(TINY, CPU)}
        assert words["mask weight: entries that differ"] == "BROKEN"

    def test_a_poison_that_spreads_is_found(self, monkeypatch):
        """Replicates whose losses are added up before they are recorded are not isolated."""
        from repro.trainers.language_model import training

        original = training._Epoch.objective
        seen: list[torch.Tensor] = []

        def leaking(self, output, step, part):
            objective = original(self, output, step, part)
            if self.replicate.run.replicate == 0:
                seen.clear()
            seen.append(objective.detach())
            self.by_token += 0 * sum(seen)
            return objective

        monkeypatch.setattr(training._Epoch, "objective", leaking)
        words = [check.word for check in trainings.of_nan("softmax", TINY, CPU)]
        assert words[0] == "kept"
        assert "BROKEN" in words[1:]

    def test_a_rank_that_rounding_fills_is_found(self, monkeypatch):
        """Log-probabilities rounded to bfloat16 would have full rank, and are refused."""
        from repro.trainers.language_model import evaluation

        exact = evaluation._log_probabilities
        monkeypatch.setattr(
            evaluation, "_log_probabilities", lambda m, rows: exact(m, rows).bfloat16().float()
        )
        (found,) = passes.of_rank(TINY, CPU)
        assert found.word == "BROKEN"
        assert "were rounded to bfloat16" in found.note


class TestSpeed:
    def test_the_command_writes_after_each_finding(self, tmp_path: Path):
        """One replicate of one workload: three precisions, and float32 without dropout."""
        arguments = ["--device", "cpu", "--steps", "2", "--parts", "one", "--only", "ptb_mos"]
        assert speed.main([*arguments, "--out", str(tmp_path)]) == 0
        document = json.loads((tmp_path / "speed-one.json").read_text())
        assert len(document["findings"]) == 4
        assert all(0 < one["epoch_seconds"] < 60 for one in document["findings"])
        assert "929,568 tokens" in (tmp_path / "speed-one.md").read_text()

    def test_an_epoch_is_extrapolated_by_tokens(self):
        """1,000 tokens of ten replicates in 2 s, epochs of 5,000 tokens: 100 s; goal missed."""
        measured = Measured("x", 4, 1_000, 2.0, 5_000, 10, goal=Goal(aim=99.0, at_most=True))
        assert measured.epoch_seconds == 100.0
        assert measured.cells()[1:6] == ("100 s", "≤ 99.0 s", "not reached", "500 ms", "500")

    def test_the_tokens_are_those_of_the_timed_steps(self):
        """Windows of 10 words in 4 streams: 3 steps of 2 replicates predict 240 words."""
        spec = TrainingSpec.of(small.run(recipe_=small.recipe(epochs=1, batch_size=4)))
        runs = [run_of(spec, number) for number in range(2)]
        watch = timed(runs, load_corpus(spec.corpus, None), CPU, 3, together=True)
        assert watch.tokens == 3 * 10 * 4 * 2
        assert watch.ended > watch.began

    def test_more_steps_than_an_epoch_has_are_refused(self):
        """A time of fewer steps than were asked for would be another number."""
        spec = specification("ptb_softmax", tiny=True)
        with pytest.raises(ValueError, match="fewer than"):
            timed([run_of(spec)], corpus_of(spec), CPU, 1000)

    def test_tiny_shrinks_sizes_alone(self):
        """Everything else of the recipes is the papers'; PTB's epoch has 929,560 tokens."""
        for name in WORKLOADS:
            whole, tiny = specification(name), specification(name, tiny=True)
            same = ("learning_rate", "dropout", "averaging", "clip", "activation", "temporal")
            for value in same:
                assert getattr(whole.recipe, value) == getattr(tiny.recipe, value)
            assert tiny.parameters < 3000
        assert epoch_tokens(specification("ptb_softmax")) == 929_560

    def test_replicates_in_every_way_of_one_process(self, monkeypatch):
        """In turn, together and by threads: the same tokens; what fails is told, not raised."""

        def failing(asked):
            raise TimeoutError("nobody came")

        monkeypatch.setattr(many, "by_processes", failing)
        found = list(many.ways(Asked("ptb_softmax", None, "cpu", 2, tiny=True, replicates=3)))
        assert [type(one) for one in found] == [Measured] * 3 + [Failed]
        assert len({one.tokens for one in found if isinstance(one, Measured)}) == 1
        assert found[-1].cells()[-1] == "TimeoutError: nobody came"

    @pytest.mark.parametrize(("streams", "found"), [(0.85, "agrees"), (0.7, "disagrees")])
    def test_a_device_agrees_with_the_default_engine_or_not(self, streams, found):
        """Disagrees where another way takes less than four fifths of the default's time."""
        asked = Asked("ptb_softmax", None, "cpu", 2, tiny=True, replicates=3)
        times = {"in turn": 3.0, "together": 1.0, "a stream and a thread each": streams}
        ways = [Measured(f"{asked.title}, {way}", 2, 9, s, 9, 3) for way, s in times.items()]
        ((what, word),) = speed.default_engine(asked, [*ways, Failed("a process each", "no")])
        assert what == "3 x PTB, Softmax, float32: the default engine on a GPU, together"
        assert word.startswith(f"{found}: the fastest way, a stream and a thread each, takes")
        assert list(speed.default_engine(asked, ways[:1])) == []

    def test_where_mps_runs_the_default_is_a_process_each(self, tmp_path, monkeypatch):
        (tmp_path / "control").touch()
        monkeypatch.setenv("CUDA_MPS_PIPE_DIRECTORY", str(tmp_path))
        asked = Asked("ptb_softmax", None, "cpu", 2, tiny=True, replicates=3)
        times = {"together": 1.0, "a process each": 0.5}
        ways = [Measured(f"{asked.title}, {way}", 2, 9, s, 9, 3) for way, s in times.items()]
        ((what, word),) = speed.default_engine(asked, ways)
        assert what.endswith("a process each")
        assert word.startswith("agrees")

    def test_processes_wait_for_each_other(self):
        """Two processes: their times overlap, and both count."""
        asked = Asked("ptb_softmax", None, "cpu", 2, tiny=True, replicates=2)
        seconds, tokens, _, _ = many.by_processes(asked)
        assert seconds > 0
        assert tokens == many.in_turn(asked)[1]

    def test_graphs_and_the_compiler_run_or_say_why_not(self):
        """On a CPU a step is issued and compiled (traced only), and nothing is captured."""
        asked = Asked("ptb_softmax", None, "cpu", 2, tiny=True, replicates=2)
        found = [*graphs.whole_steps(asked), *graphs.recurrences(asked), *graphs.compiled(asked)]
        failed = [one for one in found if isinstance(one, Failed)]
        assert {one.reason for one in failed} == {"RuntimeError: a CPU has no CUDA graphs"}
        assert (len(failed), len(found)) == (2, 6)

    def test_a_step_that_is_issued_is_that_of_training(self):
        """The graph's step, without dropout, has the gradients of the model's own loss."""
        asked = Asked("ptb_mos", None, "cpu", 2, tiny=True, replicates=2)
        step = graphs.Step(asked)
        step.add_gradients()
        alone = graphs.Step(replace(asked, replicates=1))
        alone.add_gradients()
        for one, two in zip(alone.parameters(), step.parameters(), strict=False):
            torch.testing.assert_close(one.grad, two.grad, rtol=1e-4, atol=1e-6)

    def test_costs_of_the_host(self):
        """Masks, validation and checkpoint are timed; a CPU's steps wait for no device."""
        found = dict(host.costs(Asked("wt2_mos", None, "cpu", 2, tiny=True, replicates=1)))
        assert len(found) == 3
        assert all(float(value.split()[0]) >= 0 for value in found.values())

    def test_a_step_ends_with_its_last_replicate(self):
        """Reports of other runs end no step; the end of the epoch ends the timing without one."""
        from repro.trainers.trainer import Progress

        watch = Stopwatch("b", CPU, steps=1)
        for step in (WARM_UPS, WARM_UPS + 1):
            watch(Progress("a", 1, 1, step, 99, 10 * step, 99, "train"))
        assert not watch.ended
        with pytest.raises(EnoughError):
            watch(Progress("b", 1, 1, WARM_UPS + 1, 99, 0, 99, "valid"))
        assert not watch.ended
