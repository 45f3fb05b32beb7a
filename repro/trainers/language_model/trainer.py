"""The trainer of language models, and `Networks`: what that of dialog models has in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, Unpack

from repro.files import mismatch
from repro.schema.messages import Words, choose
from repro.schema.yaml import Steps
from repro.trainers.base import LEAST_TOKENS, STEP, too_short
from repro.trainers.devices import forget_peak, numerics, peak_of
from repro.trainers.language_model.recipe import CHUNK_ELEMENTS, Recipe, WindowLength
from repro.trainers.language_model.spec import Model, Own, TextCorpus, TrainingSpec, parts
from repro.trainers.measurement import NAMES, Measured, MeasurementSpec
from repro.trainers.run import RunSpec
from repro.trainers.trainer import (
    PROCESS_MEMORY,
    Cost,
    Device,
    Effort,
    Facts,
    Finished,
    How,
    Idle,
    Package,
    Trainer,
    measuring_costs,
)

KEPT = 6.0
"""Copies of the weights while one replicate is trained: gradients, average, best, two to write."""

ACTIVATIONS = 10.0
"""Numbers that one LSTM layer keeps for each output and token: gates, cell, masks, gradients."""

SCHEDULE = (
    *("epochs", "batch_size", "learning_rate", "decay", "window", "clip", "averaging"),
    *("finetuning", "stop", "learning_rates", "optimiser"),
)
"""The settings of a recipe that say how steps are taken, where it has them."""

PRECISION = ("precision", "products")
"""The settings of a recipe that say how numbers are rounded."""


class Networks(Trainer[Any]):
    """A trainer of networks, whose configurations have a model, a corpus and a recipe."""

    package = Package("torch", extra="lm")

    ending: ClassVar[str]
    """Of the names of the files of a corpus."""

    @abstractmethod
    def networks(self) -> Any:
        """The module that builds, trains and reads the networks; it has torch."""

    @abstractmethod
    def activations(self, spec: Any) -> float:
        """Numbers that training keeps for each token before the output layer."""

    def idle(self, spec: Any) -> Iterator[Idle]:
        """Dropout of latent contexts that no output layer but a mixture has."""
        if spec.recipe.dropout.latent and not spec.model.output.maps_contexts:
            kind = spec.model.output.kind
            yield Idle("recipe.dropout.latent", f"output {kind} has no latent contexts")

    def comparable(self, spec: Any) -> Mapping[str, Any]:
        recipe = spec.recipe
        return {
            "corpus": spec.corpus,
            "precision": {name: getattr(recipe, name) for name in PRECISION},
            "epochs": recipe.most_epochs,
            "averaging": recipe.averaging,
            "schedule": {name: getattr(recipe, name, None) for name in SCHEDULE},
        }

    def cost(self, spec: Any, measurements: Sequence[MeasurementSpec]) -> Cost:
        """The text through the network, forward and back."""
        weights, tokens = spec.multiplied_weights, spec.corpus.tokens
        steps = tokens.train / spec.step_tokens
        epoch = 6 * weights * tokens.train + 2 * weights * tokens.valid + STEP * steps
        measuring = measuring_costs(spec, measurements)
        return Cost(spec.recipe.most_epochs * float(epoch), measuring)

    def memory(self, spec: Any, measurements: Sequence[MeasurementSpec]) -> float:
        """`KEPT` copies of the weights in training; dynamic evaluation holds less."""
        held = max((each.memory(spec) for each in measurements), default=0.0)
        return PROCESS_MEMORY + max(KEPT * self.disk(spec), self.disk(spec) + held)

    def disk(self, spec: Any) -> float:
        return float(spec.parameters * _number(spec))

    def replicate_memory(self, spec: Any) -> float:
        model = spec.model
        latent = 4.0 * model.output.latent_contexts * model.decoder_size
        kept = self.activations(spec) + latent
        return float(_number(spec) * (KEPT * spec.parameters + self.at_once(spec) * kept))

    def process_memory(self, spec: Any, device: Device) -> float:
        """On a GPU with the logits of a loss and their log-softmax, which replicates share."""
        if device == "cpu":
            return PROCESS_MEMORY
        logits = self.at_once(spec) * spec.model.output.softmaxes * spec.corpus.vocabulary
        return PROCESS_MEMORY + 2 * _number(spec) * min(2 * CHUNK_ELEMENTS[device], logits)

    def at_once(self, spec: Any) -> float:
        """How many tokens go through the network at once, with a margin."""
        return float(1.5 * spec.step_tokens)

    def reads(self, spec: Any) -> Hashable:
        """Its corpus, by its digests."""
        corpus: Hashable = spec.corpus
        return corpus

    def lacking(self, spec: Any, data: Path | None) -> str:
        name, sha256 = spec.corpus.name, spec.corpus.sha256
        need = f"needs the corpus {name}"
        names = [f"{name}/{split}.{self.ending}" for split in NAMES]
        if data is None:
            first, second, third = names
            return f"{need}: set REPRO_DATA to the folder that has {first}, {second} and {third}"
        if sha256 is None:
            fault = "its configuration does not say which files it is"
            return f"{need}: {fault}; see repro corpus {data / name}"
        wrong = (mismatch(data / each, str(getattr(sha256, Path(each).stem))) for each in names)
        return next((f"{need}: {line}" for line in wrong if line), "")

    def describes(self, folder: Path) -> bool:
        return (folder / f"train.{self.ending}").exists()

    def others_code(self, spec: Any) -> Mapping[str, Own]:
        """An output layer and a trunk of the user's own."""
        found = {f"model.{name}": getattr(spec.model, name, None) for name in ("trunk", "output")}
        return {place: part for place, part in found.items() if isinstance(part, Own)}

    def try_out(self, spec: Any) -> None:
        self.networks().build(spec)

    def unfit_checkpoint(self, run: RunSpec, content: bytes) -> str:
        """What is wrong in the file, or for the model; one with third-party parts is not built."""
        import torch  # noqa: PLC0415 - a plan needs none

        from repro.trainers.language_model.checkpoint import unfit  # noqa: PLC0415 - torch

        if self.others_code(self.Spec.of(run)):
            return unfit(content, run.key, None)
        with torch.device("meta"):
            return unfit(content, run.key, self.networks().build(self.Spec.of(run)).state_dict())

    def forget_peak(self, device: Device) -> None:
        forget_peak(device)

    def peak(self, device: Device) -> int:
        """Of its process, on a GPU of the tensors there."""
        return peak_of(device)

    @contextmanager
    def numerics(self, device: Device) -> Iterator[Facts]:
        """One thread and deterministic algorithms on a CPU; no TF32 unless a recipe declares it."""
        with numerics(device) as found:
            yield found

    def train(
        self, batch: Sequence[RunSpec], corpus: Any, **how: Unpack[How]
    ) -> Sequence[Finished]:
        import torch  # noqa: PLC0415 - a plan needs none

        where = torch.device(how["device"])
        trained = self.networks().train(batch, corpus, **{**how, "device": where})
        return [each.finished() for each in trained]

    def measurer(
        self, finished: Finished, corpus: Any, device: Device
    ) -> Callable[[MeasurementSpec], Measured]:
        import torch  # noqa: PLC0415 - a plan needs none

        from repro.trainers.language_model.checkpoint import EpochRecord  # noqa: PLC0415 - torch

        where, networks = torch.device(device), self.networks()
        model = networks.build(self.Spec.of(finished.run))
        weights = {name: torch.from_numpy(x) for name, x in (finished.weights or {}).items()}
        model.load_state_dict(weights)
        model.to(where).eval()
        history = tuple(EpochRecord(**row) for row in finished.history)
        best = finished.best_epoch or 0
        subject = networks.SUBJECT(
            finished.run, model, history, best, corpus, where, finished.place
        )
        return lambda measurement: measurement.measure(subject)


class LanguageModels(Networks):
    """Recurrent language models on a text."""

    Spec = TrainingSpec
    ending = "txt"

    def networks(self) -> Any:
        from repro.trainers.language_model import training  # noqa: PLC0415 - has torch

        return training

    def misnamed(self, spec: TrainingSpec) -> Iterator[tuple[Steps, Words]]:
        """Learning rates for parts that the model does not have, where it can be told."""
        rates, places = spec.recipe.learning_rates or {}, self.others_code(spec)
        known = parts(spec.model)
        for name in rates:
            if name in known or f"model.{name.partition('.')[0]}" in places:
                continue
            mistake = f"recipe.learning_rates: the model has no part '{name}' that is trained"
            shown = ", ".join(part for part in known if part.count(".") < 3)
            steps: Steps = ("recipe", "learning_rates", name)
            yield steps, (mistake, f"one of {shown}", choose(name, known))

    def mistakes(self, spec: TrainingSpec, whose: str, where: str) -> Iterator[Words]:
        """A text that is not named by its files, or too short to be read in parallel streams."""
        corpus, recipe = spec.corpus, spec.recipe
        if isinstance(corpus, TextCorpus) and corpus.sha256 is None:
            unit = "" if corpus.unit is None else f" --unit {corpus.unit}"
            mistake = f"corpus '{corpus.name}' {whose} does not say which files it is"
            advice = f"write in {where} what `repro corpus {corpus.name}{unit}` prints"
            yield mistake, "sha256, the digest of each file", advice
        for key, size, split in (
            ("batch_size", recipe.batch_size, "train"),
            ("valid_batch_size", recipe.valid_batch_size, "valid"),
        ):
            if spec.tokens(split) // size < LEAST_TOKENS:
                yield too_short(f"recipe.{key} {whose}", size, spec.tokens(split), split)

    def idle(self, spec: TrainingSpec) -> Iterator[Idle]:
        yield from super().idle(spec)
        yield from _idle_on_text(spec.model, spec.recipe)

    def effort(self, spec: TrainingSpec) -> Effort:
        """Epochs over the text; settings are ranked by validation loss."""
        ranked_by = {"recipe.valid_batch_size": spec.recipe.valid_batch_size}
        return Effort(spec.recipe.most_epochs, spec.corpus.tokens.train, ranked_by)

    def activations(self, spec: TrainingSpec) -> float:
        return ACTIVATIONS * sum(size for _, size in spec.model.layer_sizes())

    def at_once(self, spec: TrainingSpec) -> float:
        """Less where a part of the batch is taken at a time."""
        recipe = spec.recipe
        share = (recipe.small_batch_size or recipe.batch_size) / recipe.batch_size
        return super().at_once(spec) * share

    def batched(self, spec: TrainingSpec) -> bool:
        """Only the trunk of AWD-LSTM has a batched recurrence."""
        return spec.model.trunk is None

    def lacking(self, spec: TrainingSpec, data: Path | None) -> str:
        return super().lacking(spec, data) if isinstance(spec.corpus, TextCorpus) else ""

    def try_out(self, spec: TrainingSpec) -> None:
        self.networks().try_out(spec)

    def describe(self, folder: Path, *, unit: str, last: str) -> dict[str, Any]:
        from repro.trainers.language_model import corpus  # noqa: PLC0415 - has numpy

        found = corpus.describe(folder, "characters" if unit == "characters" else None)
        return {**found.model_dump(exclude_defaults=True), "kind": found.kind}

    def load(self, spec: TrainingSpec, data: Path | None) -> Any:
        from repro.trainers.language_model import corpus  # noqa: PLC0415 - has torch

        return corpus.load_corpus(spec.corpus, data)


def _number(spec: Any) -> float:
    """Bytes of a number in the precision of the recipe."""
    return {"float32": 4.0, "float64": 8.0}[spec.recipe.precision]


def _idle_on_text(model: Model, recipe: Recipe) -> Iterator[Idle]:
    one_layer = model.layers == 1 and model.trunk is None
    if recipe.dropout.hidden and one_layer:
        yield Idle("recipe.dropout.hidden", "with one layer there is nothing between layers")
    if one_layer and model.hidden_size != model.context_size:
        advice = f"write {model.context_size}, as context_size, or change the model"
        yield Idle("model.hidden_size", "the only layer has the size context_size", advice)
    if recipe.stop is not None and recipe.stop.patience >= recipe.epochs - 1:
        yield Idle("recipe.stop.patience", "training has no more epochs than would be waited for")
    yield from _idle_of_window("recipe.window", recipe.window)
    if _one_late_rate(recipe):
        yield Idle("recipe.averaging.rate", "all steps have one rate")
    if recipe.finetuning is not None:
        if recipe.finetuning.window is not None:
            yield from _idle_of_window("recipe.finetuning.window", recipe.finetuning.window)
        if _one_late_rate(recipe.stage(recipe.epochs + 1)):
            yield Idle("recipe.finetuning.rate", "all steps have one rate")


def _idle_of_window(place: str, window: WindowLength) -> Iterator[Idle]:
    if window.max_delta is not None and not window.random:
        yield Idle(f"{place}.max_delta", "the windows are not random")
    if window.last_rate is not None and not window.random:
        yield Idle(f"{place}.last_rate", "the windows are not random, so all have one rate")


def _one_late_rate(recipe: Recipe) -> bool:
    """Whether an averaged step is to take the rate of the step before, and all have one."""
    return recipe.late and recipe.decay == "constant" and not recipe.window.random
