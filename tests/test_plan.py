"""`repro plan` as a design doctor: power, seeds and cost, and its status for hopeless designs."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from repro.cli import app
from repro.running.plan import GPUS, gpu_kind, gpu_rate
from repro.specs.load import load_claim
from repro.trainers.trainer import cost
from tests.commands import repro
from tests.edits import changed
from tests.trainers.command import toy

ROOT = Path(__file__).parents[1]
GOOD = ROOT / "tests" / "specs" / "good"


def plan(*arguments: object) -> tuple[int, str]:
    """Status and output of `repro plan`."""
    done = CliRunner().invoke(app, ["plan", *map(str, arguments)])
    return done.exit_code, done.output


def hopeless(folder: Path, scale: str = "") -> Path:
    """A claim of tiny models whose margin is far below its planned scatter."""
    text = (GOOD / "group_claim.yaml").read_text(encoding="utf-8")
    text = text.replace("sequential: {method: group_obf, looks: [5, 10, 15, 20]}\n", "")
    text = text.replace("plan: 5, max: 20}", "plan: 5}")
    text = text.replace("kind: non_superiority", "kind: equivalence")
    text = text.replace(
        "expectations:", "planned_sd: {ppl: {sd: 4, why: 'as tiny models scatter'}}\nexpectations:"
    )
    shutil.copytree(GOOD / "configurations", folder / "configurations", dirs_exist_ok=True)
    path = folder / "hopeless.yaml"
    path.write_text(text + scale, encoding="utf-8")
    return path


def test_a_hopeless_design_is_refused_with_2(tmp_path: Path) -> None:
    """Power, the seeds that would do and what they cost are said; then it is refused."""
    status, said = plan(hopeless(tmp_path))
    assert status == 2
    assert "not_better: 5 seeds per arm" in said
    assert "planned sd 4.0, from as tiny models scatter" in said
    assert "80 % power: " in said
    assert "very roughly" in said
    assert "refused: 5 replicates give equivalence a power of 0.0 %" in said


def test_a_forced_design_ends_with_0(tmp_path: Path) -> None:
    """By the option, or in the claim with its reason, which is said."""
    path = hopeless(tmp_path)
    assert plan(path, "--force")[0] == 0
    path = hopeless(tmp_path, "    forced: {why: 'nothing better is affordable'}\n")
    status, said = plan(path)
    assert status == 0
    assert "refused, but forced: nothing better is affordable" in said


@pytest.mark.parametrize(
    ("name", "power"),
    [("fair_mos", "81%"), ("lms_plif_regularization", "> 99%"), ("mos_rank", "> 99%")],
)
def test_the_shipped_claims_plan_with_the_papers_scatter(name: str, power: str) -> None:
    """At paper scale every printed standard deviation is used, and no design is refused."""
    status, said = plan(ROOT / "claims" / f"{name}.yaml", "--scale", "paper")
    assert status == 0
    assert f"power {power}" in said
    assert load_claim(ROOT / "claims" / f"{name}.yaml", "paper").forced is None


def test_the_nightly_claims_can_decide() -> None:
    """The sequential one has its power by simulation of its own looks; none is refused."""
    status, said = plan(ROOT / "claims" / "nightly")
    assert status == 0
    assert "The power is simulated" in said


PAPER = ROOT / "claims" / "yang2018" / "mos_finetuned_beats_awd_ptb.claim.yaml"


def hours_on(gpu: str, *more: object) -> float:
    """GPU hours of a claim at paper scale."""
    document = json.loads(plan(PAPER, "--scale", "paper", "--gpu", gpu, "--json", *more)[1])
    assert document["gpu"].replace(" ", "") == gpu.upper().replace("-", "")
    found: float = document["hours"]
    return found


@pytest.mark.parametrize(
    ("gpu", "teraflops"),
    [("h100", 33.5), ("A100", 19.5), ("rtx-4090", 10.1), ("RTX4090", 10.1), ("L4", 3.0)],
)
def test_gpu_hours_are_counted_operations_at_a_share_of_what_the_gpu_can(
    gpu: str, teraflops: float
) -> None:
    """32 % of what the maker states in float32, or of ten operations for each byte of memory."""
    operations = sum(cost(run).total for run in load_claim(PAPER, "paper").runs())
    assert hours_on(gpu) == pytest.approx(operations / (0.32 * teraflops * 1e12) / 3600)


def test_gpus_are_ranked_by_what_products_of_few_rows_reach() -> None:
    """Neither a workstation's card nor a small one is before a server's; none is before an H100."""
    rates = {gpu: gpu_rate(gpu) for gpu in GPUS}
    assert max(rates.values()) == rates["H100"] == rates["H200"] == rates["B200"]
    ranked = ["H100", "H100 PCIe", "A100", "RTX 4090", "L4"]
    assert sorted(ranked, key=lambda gpu: -rates[gpu]) == ranked


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("NVIDIA H100 80GB HBM3", "H100"),
        ("NVIDIA H100 PCIe", "H100 PCIe"),
        ("h100nvl", "H100 NVL"),
        ("H100-PCIE", "H100 PCIe"),
        ("NVIDIA GH200 480GB", "GH200"),
        ("NVIDIA A100-SXM4-40GB", "A100"),
        ("NVIDIA A10", "A10"),
        ("NVIDIA A10G", None),
        ("rtx4090", "RTX 4090"),
        ("NVIDIA GeForce RTX 3090", "RTX 3090"),
        ("L400", None),
    ],
)
def test_a_kind_is_known_by_the_driver_s_name_and_by_a_user_s(name: str, kind: str | None) -> None:
    assert gpu_kind(name) == kind


def test_a_gpu_and_a_cpu_contradict_each_other() -> None:
    status, said = plan(PAPER, "--scale", "paper", "--gpu", "h100", "--device", "cpu")
    assert status != 0
    assert "--gpu h100 --device cpu: they contradict each other" in said


def test_a_plan_for_another_gpu_says_how_far_it_may_be_off() -> None:
    said = plan(PAPER, "--scale", "paper", "--gpu", "l4")[1]
    assert "at 3.2 % of 30.3 TFLOP/s, an estimate from an H100 that may be 3 times off)" in said


def test_a_design_says_gpu_hours_too() -> None:
    """As often the hours of all runs as it has more seeds than they."""
    claim = ROOT / "claims" / "wikitext2" / "lms_plif_regularization_wt2.claim.yaml"
    roughly = "80 % power: 25 seeds per arm, very roughly"
    said = plan(claim, "--scale", "paper")[1]
    assert re.search(roughly + r" \d+ years in all; [\d,]+ hours of an H100", said)
    said = plan(claim, "--scale", "paper", "--gpu", "h100")[1]
    assert re.search(roughly + r" .* in all \([\d,]+ GPU hours\)", said)


def test_a_plan_for_gpus_says_hours_and_money() -> None:
    """On eight, a tenth of the runs each at most; a run is not divided."""
    hours = hours_on("h100")
    said = plan(PAPER, "--scale", "paper", "--gpu", "h100", "--workers", 8, "--price", 2.5)[1]
    assert "on 8 H100 GPUs (108 GPU hours, at 16 % of 67 TFLOP/s), for 270 in all" in said
    assert hours == pytest.approx(108, rel=0.005)


def test_years_on_a_cpu_are_never_the_only_answer() -> None:
    said = plan(PAPER, "--scale", "paper")[1]
    assert "years on" in said
    assert "; 108 hours of an H100 (--gpu H100)" in said


def test_the_gpus_of_this_machine_are_planned_with(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the driver's name for them; where it knows none, nothing is stated of one."""
    gpus = [
        "0, GPU-a, Tesla T4",
        "1, GPU-b, NVIDIA H100 80GB HBM3",
        "2, GPU-c, NVIDIA H100 80GB HBM3",
    ]
    driver = {"index,uuid,name": gpus, "index": ["0", "1", "2"]}
    monkeypatch.setattr("repro.trainers.devices.asked_of_driver", driver.get)
    for shown, said in (("1,2", "on 2 H100 GPUs"), ("GPU-b", "on 1 H100 GPU "), ("-1", "CPU core")):
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", shown)
        assert said in plan(PAPER, "--scale", "paper", "--device", "cuda")[1]


def test_an_unknown_gpu_is_refused_with_those_that_are_known() -> None:
    status, said = plan(PAPER, "--scale", "paper", "--gpu", "L400")
    assert status != 0
    assert "GPU 'L400': its speed is not known" in said


def test_a_program_s_stated_time_does_not_depend_on_the_gpu(tmp_path: Path) -> None:
    """A minute a run is that on any device."""
    (tmp_path / "code").mkdir()
    toy.program(tmp_path, toy.PROGRAM)
    path = tmp_path / "a.claim.yaml"
    path.write_text(toy.CLAIM, encoding="utf-8")
    for more in ([], ["--gpu", "h100"]):
        document = json.loads(repro("plan", str(path), "--json", "--allow-code", *more).stdout)
        assert {run["seconds"] for run in document["runs"]} == {60.0}


def programs(folder: Path, resources: str, *more: object) -> dict[str, Any]:
    """The plan of ten runs of a program of an hour each, with such resources."""
    (folder / "code").mkdir(exist_ok=True)
    toy.program(folder, toy.PROGRAM)
    path = folder / "a.claim.yaml"
    text = toy.CLAIM.replace("minutes: 1,", f"minutes: 60, {resources},")
    path.write_text(text, encoding="utf-8")
    given = ("plan", path, "--allow-code", "--price", 2.0, *more)
    document: dict[str, Any] = json.loads(repro(*map(str, given), "--json").stdout)
    document["said"] = repro(*map(str, given)).stdout
    return document


@pytest.fixture
def no_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("repro.trainers.devices.asked_of_driver", lambda _: [])


@pytest.mark.usefixtures("no_driver")
@pytest.mark.parametrize(
    ("more", "at_once", "gpus"),
    [
        (("--gpu", "h100", "--workers", 8), 2, 8),
        (("--gpu", "h100", "--workers", 11), 2, 11),
        (("--gpu", "h100"), 1, 4),
        ((), 1, 4),
    ],
)
def test_a_program_that_takes_four_gpus_costs_four_gpu_hours(
    more: tuple[object, ...], at_once: int, gpus: int, tmp_path: Path
) -> None:
    """Ten of an hour take forty; on eight GPUs two run at a time, and on eleven no more."""
    found = programs(tmp_path, "gpus: 4", *more)
    assert (found["hours"], found["price"]) == (pytest.approx(40), pytest.approx(80))
    assert found["seconds"] == pytest.approx(10 * 3600 / at_once)
    assert found["workers"] == gpus
    kind = "H100 " if more else ""
    assert f"on {gpus} {kind}GPUs (40 GPU hours), for 80 in all" in found["said"]


@pytest.mark.parametrize(
    ("resources", "more", "at_once", "hours", "on"),
    [
        ("cores: 4", (), 2, 40, "8 CPU cores"),
        ("cores: 3", (), 2, 30, "8 CPU cores"),
        ("cores: 16", (), 1, 160, "8 CPU cores"),
        ("cores: 4", ("--workers", 3), 3, 40, "3 workers of 4 CPU cores"),
        ("cores: 1", ("--workers", 3), 3, 10, "3 CPU cores"),
        ("cores: 4", ("--gpu", "h100"), 2, 40, "8 CPU cores"),
    ],
)
def test_a_program_that_keeps_cores_busy_costs_as_many(
    resources: str,
    more: tuple[object, ...],
    at_once: int,
    hours: float,
    on: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As many run at a time as there are cores for, or as are asked for."""
    monkeypatch.setattr("repro.running.plan.cores", lambda: 8)
    found = programs(tmp_path, resources, *more)
    assert (found["hours"], found["price"]) == (pytest.approx(hours), pytest.approx(2 * hours))
    assert found["seconds"] == pytest.approx(10 * 3600 / at_once)
    assert f"on {on}" in found["said"]


def test_fewer_gpus_than_a_run_takes_are_refused(tmp_path: Path) -> None:
    found = programs(tmp_path, "gpus: 4", "--gpu", "h100", "--workers", 2)
    assert found["error"].startswith("--workers 2: a run takes 4 GPUs")


def test_a_card_without_figures_is_named_and_the_plan_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Time that is counted is that of cores; a program's is stated, and so are its GPU hours."""
    gpus = ["0, GPU-a, NVIDIA GB10", "1, GPU-b, NVIDIA GB10"]
    driver = {"index,uuid,name": gpus, "index": ["0", "1"]}
    monkeypatch.setattr("repro.trainers.devices.asked_of_driver", driver.get)
    done = repro("plan", str(PAPER), "--scale", "paper", "--device", "cuda")
    assert done.returncode == 0
    assert "no figures for the GPU of this machine, NVIDIA GB10: the plan is for" in done.stderr
    assert "to do: name the one that is most like it with --gpu (B200, " in done.stderr
    assert "CPU core" in done.stdout
    said = programs(tmp_path, "gpus: 1")["said"]
    assert "on 2 NVIDIA GB10 GPUs (10 GPU hours), for 20 in all" in said


def test_runs_that_take_no_gpu_are_named_beside_gpu_hours(tmp_path: Path) -> None:
    """Two claims in one plan, of which one takes a GPU."""
    folders = [tmp_path / name for name in ("with", "without")]
    for folder, gpus in zip(folders, (1, 0), strict=True):
        folder.mkdir()
        programs(folder, f"gpus: {gpus}")
    path = folders[1] / "a.claim.yaml"
    changed(path, "id: adamw_better", "id: another")
    changed(path, "1337, 42, 7, 8, 9", "11, 12, 13, 14, 15")
    said = repro("plan", *map(str, folders), "--allow-code", "--gpu", "h100").stdout
    assert "(10 GPU hours); 10 of the runs take no GPU, and no GPU hours" in said
