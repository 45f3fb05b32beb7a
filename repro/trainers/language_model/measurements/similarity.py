"""Word similarity: a model's embeddings of words against what people say of pairs of words."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from pydantic import model_validator

from repro.errors import DataError
from repro.schema.messages import Words
from repro.similarity.benchmarks import BENCHMARKS, known_benchmark, lacking
from repro.trainers.measurement import Details, Measured, MeasurementSpec, Natural

if TYPE_CHECKING:
    from repro.similarity.embeddings import WordCorrelation


class SimilarityDetails(Details):
    """How many pairs there are, and of how many of them the model knows both words."""

    pairs: Natural
    covered: Natural

    @model_validator(mode="after")
    def _no_more_than_there_are(self) -> Self:
        if self.covered > self.pairs:
            raise ValueError(f"covered: {self.covered} of {self.pairs} pairs")
        return self

    def contradiction(self, value: float) -> str:
        """A correlation is between -1 and 1."""
        return "" if -1 <= value <= 1 else f"a correlation of {value:g}"


class WordSimilarity(MeasurementSpec):
    """Spearman's correlation of the cosines of word embeddings with human scores, from -1 to 1.

    Over the pairs of a ``benchmark`` whose words, in lower case, the model knows; ``mean`` is the
    mean over the 13 benchmarks. The embeddings are those that the model reads, the decoder's
    matrix where they are tied. Reference: Parthiban et al. 2021, Figure 4 and Supplement Table 3.
    """

    trainers: ClassVar[tuple[str, ...]] = ("language_model",)
    better: ClassVar[Literal["lower", "higher"]] = "higher"
    digits: ClassVar[int] = 4
    Details: ClassVar[type[Details]] = SimilarityDetails

    kind: Literal["word_similarity"] = "word_similarity"
    benchmark: Literal[
        "mean",
        "ws_353",
        "ws_353_sim",
        "ws_353_rel",
        "rg_65",
        "mc_30",
        "mturk_287",
        "mturk_771",
        "men",
        "yp_130",
        "verb_143",
        "rw_stanford",
        "simverb_3500",
        "simlex_999",
    ]

    @property
    def label(self) -> str:
        if self.benchmark == "mean":
            return f"word similarity, mean of {len(BENCHMARKS)} benchmarks"
        return f"word similarity, {BENCHMARKS[self.benchmark].label}"

    @property
    def names(self) -> tuple[str, ...]:
        """The ids of the benchmarks that are read."""
        return tuple(BENCHMARKS) if self.benchmark == "mean" else (self.benchmark,)

    def measure(self, subject: Any) -> Measured:
        found = {name: self._correlation(name, subject) for name in self.names}
        correlations = {name: _defined(name, each) for name, each in found.items()}
        details: dict[str, Any] = {
            "pairs": sum(each.pairs for each in found.values()),
            "covered": sum(each.covered for each in found.values()),
        }
        if self.benchmark == "mean":
            details["benchmarks"] = {name: each._asdict() for name, each in found.items()}
        return Measured(statistics.fmean(correlations.values()), details)

    def _correlation(self, name: str, subject: Any) -> WordCorrelation:
        from repro.similarity.embeddings import word_correlation  # noqa: PLC0415 - scipy

        benchmark = known_benchmark(name, subject.corpus.data)
        rows = {word: row for row, word in enumerate(subject.corpus.words)}
        matrix_VE = subject.model.embedding_matrix.detach()
        known = sorted(benchmark.words & rows.keys())
        vectors = matrix_VE[[rows[word] for word in known]].cpu().double().numpy()
        return word_correlation(benchmark, dict(zip(known, vectors, strict=True)))

    def misfits(self, training: Any, whose: str) -> Iterator[tuple[str, Words]]:
        """Only a text whose tokens are words has embeddings of the words of the pairs."""
        if training.corpus.kind != "text" or training.corpus.unit is not None:
            mistake = f"{whose} reads {training.corpus.label}: the benchmarks are of English words"
            yield "kind", (mistake, "a text of words", "measure something else, or another corpus")

    def lacking(self, training: Any, data: Path | None) -> str:
        return next(filter(None, (lacking(name, data) for name in self.names)), "")


def _defined(name: str, found: WordCorrelation) -> float:
    if found.correlation is None:
        raise DataError(
            f"{found.covered} of the {found.pairs} pairs of {BENCHMARKS[name].label} are of words "
            "that the model knows: they have no correlation\n"
            "  expected: three pairs or more, not all alike\n"
            "  to do: take a benchmark of which the corpus has more words"
        )
    return found.correlation
