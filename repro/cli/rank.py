"""`repro rank` and `repro similarity`: what a file of numbers has, without a claim."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from repro.cli.options import Data, Json, problems, say, say_json
from repro.errors import printable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from repro.rank.matrix import Matrix
    from repro.rank.matrix_rank import Ranks
    from repro.rank.spectrum import Spectrum
    from repro.similarity.benchmarks import Benchmark
    from repro.similarity.embeddings import Embeddings


MatrixName = Annotated[
    str,
    typer.Argument(
        help="FILE.npy, FILE.safetensors, or module:callable, which returns the rows.",
        show_default=False,
    ),
]

Tensor = Annotated[str, typer.Option(help="Which tensor of a file with several.")]

Precision = Annotated[
    Literal["float64", "float32", "float16", "bfloat16"] | None,
    typer.Option(help="Precision of the numbers, whatever type holds them; default found out."),
]

Thresholds = Annotated[
    list[float] | None,
    typer.Option(
        min=0, max=1, help="Count above this, too, relative to the largest singular value."
    ),
]

Epsilons = Annotated[
    list[float] | None,
    typer.Option(
        min=0, max=0.99, help="The tolerance of an effective rank; default 1e-3, 1e-4 and 1e-5."
    ),
]

Reference = Annotated[
    Path | None,
    typer.Option(
        help="Singular values of a model whose rank is known (--spectrum wrote them): count "
        "above the first that it should not have, as Lim et al. do; with --reference-rank.",
    ),
]

ReferenceRank = Annotated[
    int | None, typer.Option(min=0, help="The known rank of the --reference.")
]

Noise = Annotated[
    list[float] | None,
    typer.Option(
        min=0,
        max=1e6,
        help="Press's and effective ranks with noise in every entry, too, whose sum of squares "
        "is this share of the largest squared singular value; reads the rows again.",
    ),
]

Centred = Annotated[
    bool,
    typer.Option(
        "--centred",
        help="Effective, stable and entropy rank without the mean row, too; reads the rows "
        "three times.",
    ),
]

Counts = Annotated[
    bool, typer.Option("--counts", help="Counts alone, no spectrum: the least memory.")
]

Checkpoint = Annotated[
    Path | None,
    typer.Option(help="Folder to go on from after a kill; delete it when all is done."),
]

SpectrumFile = Annotated[
    Path | None, typer.Option(help="Write the singular values to this .npy file.")
]

FigureFile = Annotated[
    Path | None,
    typer.Option(
        help="Draw rank(tolerance) with the thresholds, and the spectrum, to this .svg file."
    ),
]


def rank(
    matrix: MatrixName,
    tensor: Tensor = "",
    precision: Precision = None,
    threshold: Thresholds = None,
    epsilon: Epsilons = None,
    reference: Reference = None,
    reference_rank: ReferenceRank = None,
    noise: Noise = None,
    centred: Centred = False,
    counts: Counts = False,
    checkpoint: Checkpoint = None,
    spectrum: SpectrumFile = None,
    figure: FigureFile = None,
    json: Json = False,
) -> None:
    """Numerical rank of a matrix of log-probabilities, contexts x vocabulary. 1: control failed."""
    epsilons = tuple(epsilon or EPSILONS)
    with problems(json=json):
        if counts:
            asked = {"spectrum": spectrum, "figure": figure, "noise": noise}
            _refuse_without_spectrum({**asked, "centred": centred, "epsilon": epsilon})
        bound = _bound(reference, reference_rank)
        given = _same_each_time(matrix, tensor, precision or "")
        found = _ranks(
            given, checkpoint, precision=precision or "", thresholds=tuple(threshold or ()),
            bound=bound, counts_only=counts, epsilons=epsilons,
        )  # fmt: skip
        document = _document(given, found, () if counts else epsilons, noise or [], centred=centred)
    if json:
        say_json(document)
    else:
        say(_as_text(matrix, document))
    with problems():
        if spectrum is not None:
            _write(spectrum, _npy(found.reduced.values()))
        if figure is not None:
            _write(figure, _svg(matrix, document, found))
    raise typer.Exit(0 if found.control == found.expected else 1)


EPSILONS = (1e-3, 1e-4, 1e-5)


def _same_each_time(where: str, tensor: str, precision: str) -> Matrix:
    """The matrix; MatrixError where its rows are others when they are read again."""
    from repro.rank.matrix import matrix_of
    from repro.rank.resume import SameRows

    given = matrix_of(where, tensor, precision)
    return replace(given, read=SameRows(given.read))


def _ranks(given: Matrix, checkpoint: Path | None, **asked: Any) -> Ranks:
    """All ranks that are asked for, after what the folder ``checkpoint`` holds."""
    from repro.rank.matrix_rank import ranks_of
    from repro.rank.resume import SavedReading

    with SavedReading(checkpoint) if checkpoint else nullcontext() as kept:
        return ranks_of(given.read, rows=given.rows, checkpoint=kept, **asked)


def _document(
    given: Matrix, found: Ranks, epsilons: tuple[float, ...], noise: list[float], *, centred: bool
) -> dict[str, Any]:
    """What is found, and what further readings say with noise and without the mean row."""
    from repro.rank.matrix_rank import document_of

    document = document_of(found, epsilons)
    if noise:
        from repro.rank.noise import ranks_under_noise, with_noise_of

        ranks = {f"{c:g}": ranks_under_noise(given.read, found, c, epsilons) for c in noise}
        document["noise"] = {c: with_noise_of(under) for c, under in ranks.items()}
    if centred:
        from repro.rank.matrix_rank import centred_spectrum, column_means
        from repro.rank.spectrum import without_threshold

        values = centred_spectrum(given.read(0), column_means(given.read(0)))
        document["centred"] = without_threshold(values, epsilons)
    return document


def _bound(reference: Path | None, rank: int | None) -> float | None:
    """Lim's empirical bound; None where no reference is named."""
    from repro.errors import MatrixError
    from repro.rank.matrix import spectrum_in
    from repro.rank.spectrum import empirical_bound

    if reference is None and rank is None:
        return None
    if reference is None or rank is None:
        given, other = ("--reference-rank", "--reference")[:: 1 if reference is None else -1]
        raise MatrixError(
            f"{given} without {other}\n  expected: both\n"
            "  to do: name the singular values of the reference, and say which rank it has"
        )
    values, shown = spectrum_in(reference), printable(str(reference))
    try:
        bound = empirical_bound(values, rank)
    except ValueError as error:
        raise MatrixError(
            f"{shown}: {len(values):,} singular values, for --reference-rank {rank}\n"
            f"  expected: {error}\n  to do: say which rank the reference has"
        ) from error
    if not bound:
        raise MatrixError(
            f"{shown}: singular value {rank + 1:,} is 0\n  expected: one above 0, the noise of "
            "the reference\n  to do: take a reference whose log-probabilities have noise"
        )
    return bound


def _refuse_without_spectrum(given: Mapping[str, object]) -> None:
    """MatrixError for the first option that is given, of those that need a spectrum."""
    from repro.errors import MatrixError

    options = [option for option, value in given.items() if value]
    if options:
        raise MatrixError(
            f"--{options[0]} with --counts: counts alone give no spectrum\n"
            "  expected: one of the two\n  to do: leave --counts out"
        )


def _svg(name: str, document: dict[str, Any], found: Ranks) -> bytes:
    from repro.report.rank_figure import rank_svg

    reduced = found.reduced
    return rank_svg(name, document, reduced.values(), reduced.least).encode()


def _write(path: Path, content: bytes) -> None:
    from repro.errors import OutputError
    from repro.files import sweep, write_atomically

    sweep(path.parent, f".{escape(path.name)}.*.tmp")
    try:
        write_atomically(path, content)
    except OSError as error:
        raise OutputError(path, error) from None


def _npy(values: Spectrum) -> bytes:
    from io import BytesIO

    import numpy as np

    content = BytesIO()
    np.save(content, values)
    return content.getvalue()


def _as_text(name: str, d: dict[str, Any]) -> str:
    control = d["control"]
    passed = "passed" if control["measured"] == control["expected"] else "FAILED"
    lines = [
        f"{printable(name)}: {d['rows']:,} contexts x {d['columns']:,} words, {d['precision']}",
        (
            f"rank {d['press']:,} by Press's threshold, {d['threshold']:.3g} of the largest "
            f"singular value, {d['largest_singular_value']:.6g}"
        ),
    ]
    if d.get("tenth") is not None:
        lines.append(f"  at a tenth of it: {d['tenth']:,}")
    lines.append(f"  at ten times it: {d['tenfold']:,}")
    lines += [f"  at {threshold}: {count:,}" for threshold, count in d["at"].items()]
    lines.append(f"  by numpy's default threshold: {d['numpy']:,}{_beyond(d['numpy_threshold'])}")
    if "empirical" in d:
        bound = d["empirical"]
        lines.append(f"  by the empirical bound of {bound['bound']:.6g}: {bound['rank']:,}")
    if "stable" in d:
        lines += _smooth(d, "")
    if "centred" in d:
        lines += _smooth(d["centred"], ", without the mean row")
    for c, under in d.get("noise", {}).items():
        lines += _noise(c, under)
    lines.append(
        f"control, a matrix of rank {control['expected']} by the same reduction "
        f"({d['reduction']}): {control['measured']}, {passed}"
    )
    return "\n".join(lines)


def _beyond(threshold: float) -> str:
    """A threshold above every singular value, as numpy's of many rows in half precision."""
    if threshold < 1:
        return ""
    return f" (it is {threshold:.3g} of the largest singular value: nothing can be above it)"


def _smooth(d: dict[str, Any], of: str) -> list[str]:
    """Ranks without a threshold on the singular values."""
    ranks = [f"  effective, {epsilon}{of}: {rank:,}" for epsilon, rank in d["effective"].items()]
    return [*ranks, f"  stable{of}: {d['stable']:.4g}", f"  entropy{of}: {d['entropy']:.4g}"]


def _noise(c: str, d: dict[str, Any]) -> list[str]:
    """Ranks with noise, and how many more than without."""
    lines = [f"with noise of {d['deviation']:.3g} per entry, a share of {c}:"]
    lines.append(f"  Press's: {d['press']:,} ({d['press_change']:+,})")
    for epsilon, rank in d["effective"].items():
        change = d["effective_change"][epsilon]
        lines.append(f"  effective, {epsilon}: {rank:,} ({change:+,})")
    return lines


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
        document = _similarity_document(read, tests)
        if json:
            say_json(document)
        else:
            say(_similarity_text(embeddings, document))


def _similarity_document(read: Embeddings, tests: list[Benchmark]) -> dict[str, Any]:
    """The mean over the benchmarks first; it is left out where a benchmark has no correlation."""
    from repro.similarity.embeddings import word_correlation

    found = {each.label: word_correlation(each, read.vectors) for each in tests}
    correlations = [each.correlation for each in found.values() if each.correlation is not None]
    whole = len(correlations) == len(found)
    return {
        "mean": sum(correlations) / len(found) if whole else None,
        "words": read.words,
        "size": read.size,
        "benchmarks": {label: each._asdict() for label, each in found.items()},
    }


def _similarity_text(name: Path, document: dict[str, Any]) -> str:
    found = document["benchmarks"]
    width = max(map(len, [*found, "benchmark"]))
    lines = [
        f"{name}: {document['words']:,} words, vectors of {document['size']:,}",
        f"{'benchmark':<{width}}  {'pairs':>5}  covered  correlation",
    ]
    for label, each in found.items():
        shown = "none" if each["correlation"] is None else f"{each['correlation']:.4f}"
        lines.append(f"{label:<{width}}  {each['pairs']:>5}  {each['covered']:>7}  {shown:>11}")
    if document["mean"] is not None and len(found) > 1:
        lines.append(f"{'mean':<{width}}  {'':>5}  {'':>7}  {document['mean']:>11.4f}")
    return "\n".join(lines)
