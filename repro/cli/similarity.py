"""`repro similarity`: anybody's embeddings of words against benchmarks of word similarity."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from repro.cli.options import Data, Json, problems, say, say_json

if TYPE_CHECKING:
    from repro.similarity.benchmarks import Benchmark
    from repro.similarity.embeddings import Embeddings


def similarity(
    embeddings: Annotated[
        Path,
        typer.Argument(
            help="A text as word2vec or GloVe write it, or FILE.npy with --vocabulary.",
            show_default=False,
        ),
    ],
    vocabulary: Annotated[
        Path | None, typer.Option(help="The words of the rows of FILE.npy, one a line.")
    ] = None,
    benchmark: Annotated[
        list[Path] | None,
        typer.Option(
            help="A benchmark of yours, `word word score` a line; default the 13 in "
            "REPRO_DATA/wordsim."
        ),
    ] = None,
    data: Data = None,
    json: Json = False,
) -> None:
    """Spearman's correlation of the cosines of word embeddings with human scores."""
    with problems(json=json):
        from repro.similarity.benchmarks import known_benchmarks, own_benchmarks
        from repro.similarity.embeddings import read_embeddings

        tests = own_benchmarks(benchmark) if benchmark else known_benchmarks(data)
        needed = frozenset[str]().union(*(each.words for each in tests))
        read = read_embeddings(embeddings, vocabulary, needed)
        document = _document(read, tests)
        if json:
            say_json(document)
        else:
            say(_as_text(embeddings, document))


def _document(read: Embeddings, tests: list[Benchmark]) -> dict[str, Any]:
    """The mean over the benchmarks first; it is left out where a benchmark has no correlation."""
    from repro.similarity.cosine import word_correlation

    found = {each.label: word_correlation(each, read.vectors) for each in tests}
    correlations = [each.correlation for each in found.values() if each.correlation is not None]
    whole = len(correlations) == len(found)
    return {
        "mean": sum(correlations) / len(found) if whole else None,
        "words": read.words,
        "size": read.size,
        "benchmarks": {label: each._asdict() for label, each in found.items()},
    }


def _as_text(name: Path, document: dict[str, Any]) -> str:
    found = document["benchmarks"]
    width = max(map(len, [*found, "benchmark"]))
    lines = [
        f"{name}: {document['words']:,} words, vectors of {document['size']:,}",
        f"{'benchmark':<{width}}  {'pairs':>5}  covered  correlation",
    ]
    lines += [
        f"{label:<{width}}  {each['pairs']:>5}  {each['covered']:>7}  {_number(each):>11}"
        for label, each in found.items()
    ]
    if document["mean"] is not None and len(found) > 1:
        lines.append(f"{'mean':<{width}}  {'':>5}  {'':>7}  {document['mean']:>11.4f}")
    return "\n".join(lines)


def _number(each: dict[str, Any]) -> str:
    return "none" if each["correlation"] is None else f"{each['correlation']:.4f}"
