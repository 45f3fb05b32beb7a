"""A trainer in one file: a line is fitted to points that are drawn, without any network."""

from __future__ import annotations

import json
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from repro.extend import Finished, Measured, Measurement, Trainer, Training


class Line(Training):
    """The keys of a configuration file, beyond `title`, `source` and `trainer`."""

    noun: ClassVar[str] = "a line"

    points: Annotated[int, Field(ge=2)]
    slope: float
    noise: Annotated[float, Field(gt=0)]


class LeastSquares(Trainer):
    """Points are drawn by the seed; what is left is the fitted line, as JSON."""

    Spec = Line

    def train(self, batch, corpus, *, device, folders, progress, together):
        return [Finished(run, files={"fit.json": json.dumps(fit(run)).encode()}) for run in batch]

    def measurer(self, finished, corpus, device):
        found = json.loads(finished.files["fit.json"])
        return lambda measurement: measurement.measure(found)


def fit(run):
    """The line through one sample; arms share no random numbers unless the design is paired."""
    line = run.training
    arm = () if run.streams == "paired" else (int(line.digest()[:16], 16),)
    generator = np.random.default_rng((run.root, run.replicate, *arm))
    x = generator.uniform(size=line.points)
    y = line.slope * x + generator.normal(scale=line.noise, size=line.points)
    slope, intercept = np.polyfit(x, y, 1)
    return {"slope": float(slope), "intercept": float(intercept)}


class SlopeError(Measurement):
    """How far the fitted slope is from the true one."""

    trainers: ClassVar[tuple[str, ...]] = ("tests.extension.trainer:LeastSquares",)

    kind: Literal["slope_error"] = "slope_error"
    label: ClassVar[str] = "error of the slope"
    truth: float

    def measure(self, subject):
        return Measured(abs(subject["slope"] - self.truth), details=subject)
