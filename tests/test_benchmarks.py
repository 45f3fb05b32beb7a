"""The speed benchmark's arithmetic and its referee; no time is judged here."""

from __future__ import annotations

import io
import json
import mmap
import os
import time
from pathlib import Path

import numpy as np
import pytest
import torch

from benchmarks.speed import __main__ as command
from benchmarks.speed import machine, shapes, table
from benchmarks.speed.contest import Job, Ratio, Sample, Timing, alternate, rounds
from benchmarks.speed.linear import departures
from benchmarks.speed.metronome import FinishedError, Metronome
from benchmarks.speed.rows import Goal, Row
from benchmarks.speed.theirs import DifferentLossError, require_equal
from benchmarks.speed.together import write_text
from repro.trainers.language_model.corpus import load_corpus
from repro.trainers.language_model.model import LanguageModel
from repro.trainers.language_model.spec import Model, MoS, Softmax


def sample(seconds: float, others: float = 0.0, peak: int = 1) -> Sample:
    """One piece of work on one core, with others at work for so many seconds."""
    return Sample(seconds, own=seconds, busy=seconds + others, peak=peak)


class TestContest:
    def test_samples_with_a_busy_neighbour_are_dropped(self):
        """More than a tenth of a core used by others disturbs a sample, a tenth does not."""
        assert sample(2.0, others=0.21).disturbed
        assert not sample(2.0, others=0.19).disturbed

    def test_median_is_that_of_the_undisturbed(self):
        """With three quiet samples the others do not count; with two, all do, and it is said."""
        slow = sample(9.0, others=5.0)
        three = Timing([sample(1.0), sample(2.0), sample(3.0), slow, slow])
        assert (three.seconds, three.quiet) == (2.0, True)
        two = Timing([sample(1.0), sample(2.0), slow, slow])
        assert (two.seconds, two.quiet) == (5.5, False)

    def test_ratio_spreads_from_quartile_to_opposite_quartile(self):
        """Medians 4 and 2; quartiles 3 to 5 and 1.5 to 2.5 (numpy's linear quantiles)."""
        slow = Timing([sample(each) for each in (2.0, 3.0, 4.0, 5.0, 6.0)])
        fast = Timing([sample(each / 2) for each in (2.0, 3.0, 4.0, 5.0, 6.0)])
        assert slow.quartiles == tuple(np.quantile([2, 3, 4, 5, 6], [0.25, 0.75]))
        ratio = Ratio.of(slow, fast)
        assert (ratio.value, ratio.low, ratio.high) == (2.0, 3.0 / 2.5, 5.0 / 1.5)

    def test_everybody_is_asked_again_for_a_disturbed_sample(self):
        """After two warm-ups, rounds go on until each has enough quiet samples."""
        first = iter([7.0, 7.0, 1.0, 1.0, 1.0, 1.0])
        second = iter([sample(7.0), sample(7.0), sample(9.0, 9.0), *[sample(2.0)] * 3])
        found = rounds({"a": lambda: sample(next(first)), "b": lambda: next(second)}, samples=3)
        assert [len(timing.samples) for timing in found.values()] == [4, 4]
        assert (found["a"].seconds, found["b"].seconds) == (1.0, 2.0)

    def test_patience_ends(self):
        """On a machine that is never quiet, twice the samples are taken and no more."""
        found = rounds({"a": lambda: sample(1.0, others=1.0)}, samples=3)
        assert len(found["a"].samples) == 6
        assert not found["a"].quiet


WORK = """
import os

def work(metronome, name, log):
    print("a model says how many parameters it has")
    while True:
        metronome.tick()
        with open(log, "a") as file:
            file.write(name + os.environ.get("MALLOC_TRIM_THRESHOLD_", "-") + "\\n")
"""


class TestContenders:
    def test_they_work_in_turn_each_in_its_own_environment(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ):
        """Two processes alternate; neither inherits the allocator settings of the shell."""
        (tmp_path / "some_work.py").write_text(WORK)
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
        monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "1")
        log = tmp_path / "log"
        jobs = {
            name: Job("some_work:work", {"name": name, "log": str(log)}, environment)
            for name, environment in {"a": {}, "b": {"MALLOC_TRIM_THRESHOLD_": "2"}}.items()
        }
        found = alternate(jobs, samples=1)
        lines = log.read_text().splitlines()
        assert lines == ["a-", "b2"] * (len(lines) // 2)
        assert len(lines) == 2 * (2 + len(found["a"].samples))
        assert all(0 < one.seconds < 60 and one.peak > 10**6 for one in found["a"].samples)

    def test_the_death_of_one_is_told(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
        """A contender that ends before it is ready ends the contest, by its name."""
        (tmp_path / "no_work.py").write_text("def work(metronome): raise SystemExit(3)\n")
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
        with pytest.raises(RuntimeError, match="'dead' ended with status 3"):
            alternate({"dead": Job("no_work:work", {}, {})}, samples=1)


class TestMetronome:
    def test_a_tick_answers_for_the_work_before_it(self):
        """Ready, then one answer a request, then the end; the time is that of the work."""
        answers = io.StringIO()
        metronome = Metronome(io.StringIO("go\ngo\n"), answers)
        before = time.monotonic()
        metronome.tick()
        time.sleep(0.02)
        metronome.tick()
        spent = time.monotonic() - before
        with pytest.raises(FinishedError):
            metronome.tick()
        ready, first, second = map(json.loads, answers.getvalue().splitlines())
        assert ready == {}
        assert 0.02 <= first["seconds"] <= spent
        assert second["peak"] > 10**6


class TestMachine:
    def test_busy_time_is_all_but_idle_and_waiting(self, tmp_path: Path):
        """Columns 4 and 5 of /proc/stat are idle; 9 and 10 are part of the first two (proc(5))."""
        stat = tmp_path / "stat"
        stat.write_text("cpu  100 20 30 4000 500 6 7 8 90 10\ncpu0 1 1 1 1 1 1 1 1 1 1\n")
        ticks = os.sysconf("SC_CLK_TCK")
        assert machine.busy_seconds(stat) == (100 + 20 + 30 + 6 + 7 + 8) / ticks

    def test_processor_time_is_that_of_the_process(self):
        """The kernel's two counts of this process agree within a few of its ticks."""
        assert machine.cpu_seconds([os.getpid()]) == pytest.approx(time.process_time(), abs=0.1)

    def test_peak_is_forgotten_and_found_again(self):
        """64 MB that were mapped for a moment are in the peak, and no longer after forgetting.

        Mapped, because an array may lie in memory that earlier tests have freed and that is
        still resident.
        """
        machine.forget_peak()
        before = machine.peak_bytes()
        with mmap.mmap(-1, 2**26) as held:
            for page in range(0, len(held), mmap.PAGESIZE):
                held[page] = 1
        assert machine.peak_bytes() - before > 60e6
        machine.forget_peak()
        assert machine.peak_bytes() - before < 30e6


class TestShapes:
    @pytest.mark.parametrize("output", [Softmax(), MoS(components=3)])
    def test_work_is_that_of_the_matrices(self, output: Softmax | MoS):
        """Six operations an entry of each matrix of the model, the decoder's once a component."""
        context = 5 if isinstance(output, Softmax) else 6
        model = Model(
            embedding_size=5, hidden_size=7, context_size=context, layers=2, output=output
        )
        matrices = [p for p in LanguageModel(model, 11).parameters() if p.dim() == 2]
        entries = sum(p.numel() for p in matrices)
        if isinstance(output, MoS):
            entries += (output.components - 1) * 11 * 5
        assert shapes.flop_per_token(model, 11) == 6 * entries

    def test_papers_shapes_with_what_is_changed(self):
        """K, V and the recipe change as told, the windows are fixed, all else is the paper's."""
        spec = shapes.training(
            "mos", vocabulary=50, components=2, recipe={"dropout": shapes.QUIET_DROPOUT}
        )
        assert isinstance(spec.model.output, MoS)
        assert (spec.corpus.vocabulary, spec.model.output.components) == (50, 2)
        assert (spec.recipe.window.base, spec.recipe.window.random) == (70, False)
        assert set(spec.recipe.dropout.model_dump().values()) == {0.0}
        assert (spec.model.hidden_size, spec.recipe.batch_size) == (960, 12)

    def test_words_leave_out_the_last(self):
        """Of five words, four are drawn, and all of them."""
        assert sorted(set(shapes.random_words(1000, 5, seed=0).tolist())) == [0, 1, 2, 3]

    def test_written_text_is_the_text_of_its_specification(self, tmp_path: Path):
        """``load_corpus`` checks digests, tokens and vocabulary, and finds them as stated."""
        spec = write_text(tmp_path, 30, train=200, valid=50)
        corpus = load_corpus(spec, tmp_path)
        assert [len(corpus.train), len(corpus.valid), corpus.vocabulary] == [200, 50, 30]
        assert torch.equal(corpus.test.unique(), torch.arange(30))


class TestVerdicts:
    def test_goals(self):
        """At least or at most; a floor with an aim, one of them alone."""
        both = Goal(2.0, 3.0)
        words = [both.word(value) for value in (1.9, 2.0, 3.0)]
        assert words == ["not reached", "floor reached, aim not reached", "aim reached"]
        assert [Goal(60.0, at_most=True).word(value) for value in (60.0, 61.0)] == [
            "reached",
            "not reached",
        ]
        assert [Goal(aim=80.0).word(value) for value in (80.0, 79.0)] == [
            "aim reached",
            "not reached",
        ]

    def test_line_and_its_departures(self):
        """Points on 2 + 3x depart by 0; one that is lifted by a fifth is the worst of all."""
        x = np.array([1, 2, 5, 10, 15, 20, 30])
        assert departures(x, 2 + 3 * x) == pytest.approx(np.zeros(7), abs=1e-12)
        lifted = (2 + 3 * x) * np.where(x == 10, 1.2, 1.0)
        assert int(np.argmax(np.abs(departures(x, lifted)))) == 3
        assert departures(x, lifted)[3] > 0.1

    def test_different_losses_are_refused(self):
        """Float32's last digits may differ; the fourth digit may not, nor may a loss be NaN."""
        require_equal({"before": (9.2103500, 9.2103498)})
        for own in (9.2113, float("nan")):
            with pytest.raises(DifferentLossError, match="after"):
                require_equal({"after": (own, 9.2103)})


class TestTable:
    @pytest.mark.parametrize(
        ("value", "unit", "text"),
        [
            (2.5, "x", "2.50x"),
            (0.349, "x", "0.35x"),
            (59.53, "ms", "59.5 ms"),
            (1234.5, "", "1,234"),
        ],
    )
    def test_three_digits(self, value: float, unit: str, text: str):
        """As many digits as count."""
        assert table.number(value, unit) == text

    def test_row(self):
        """A ratio with its spread, both goals, the verdict, and that it was disturbed."""
        ratio = Ratio(2.5, 2.4, 2.6, quiet=False)
        record = Row.of_ratio("over the step", ratio, Goal(2.4, 3.0)).record()
        found = {"title": "A step", "rows": [record]}
        document = {
            **machine.description(),
            "command": "python -m benchmarks.speed",
            "date": "2026-11-21",
            "threads": 2,
            "measurements": {"step": found},
        }
        assert (
            "| over the step | 2.50x | 2.40 to 2.60 | ≥ 2.40x | ≥ 3.00x "
            "| floor reached, aim not reached | disturbed |"
        ) in table.markdown(document)

    def test_folders_are_not_published(self):
        """The command that is written down has names in the place of the user's folders."""
        own = ["--references", "/home/me/code", "--samples", "7", "--out", "/home/me/speed"]
        words = command._without_places(own)
        assert words == ["--references", "PATH", "--samples", "7", "--out", "STEM"]
