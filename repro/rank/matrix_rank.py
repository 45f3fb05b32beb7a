"""All ranks of a matrix that is never held, with a control by the same reduction."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from repro.errors import MatrixError
from repro.rank.low_rank import LEAST_COLUMNS, ManyDirectionsError
from repro.rank.reduction import (
    BLOCK_ROWS,
    GRAM_RESOLUTION,
    QR_RESOLUTION,
    Reduced,
    Rows,
    reduce_rows,
    reduction_for,
    refuse_without_memory,
    vectors_for,
)
from repro.rank.resume import SameRows, SavedReading
from repro.rank.rounded import (
    BITS,
    COARSE,
    coarse_rows,
    eps_of,
    precision_of,
    rounded,
    telling_rows,
    tells,
)
from repro.rank.spectrum import (
    Spectrum,
    cumulative_share,
    curve_tolerances,
    numpy_threshold,
    press_threshold,
    share_places,
    without_threshold,
)

KNOWN_RANK: Final = 32
SEED: Final = 20180430
CONTROL_CHUNK: Final = 999
CONTROL_LEAST: Final = 8 * 2.0**-23
"""A basis of the control that resolved less would be one of the rounding of its rows in float32."""

LARGEST: Final = 1e100

Read = Callable[[int], Iterable[Rows]]
Control = Callable[[float, int, str], Iterable[Rows]]


@dataclass(frozen=True)
class Ranks:
    """Ranks of a matrix; thresholds are relative to its largest singular value.

    ``at`` maps each further threshold that was asked for to its rank. ``tenth`` and ``tenfold``
    are the ranks at a tenth of Press's threshold (None where it is not resolved) and at ten times
    it. ``empirical`` is the rank by the ``bound`` that was asked for. ``control`` is the rank, by
    the same reduction, of a matrix whose rank is ``expected``.
    """

    reduced: Reduced
    precision: str
    threshold: float
    press: int
    tenfold: int
    numpy: int
    tenth: int | None
    at: dict[float, int]
    bound: float | None
    empirical: int | None
    expected: int
    control: int


@dataclass(frozen=True)
class _Asked:
    """What ``ranks_of`` is asked for."""

    rows: int
    precision: str
    thresholds: tuple[float, ...]
    bound: float | None
    counts_only: bool
    epsilons: tuple[float, ...]
    control: Control
    sure: bool


def ranks_of(  # noqa: PLR0913 - one parameter for each thing that can be asked
    read: Read,
    *,
    rows: int = 1,
    precision: str = "",
    thresholds: Sequence[float] = (),
    bound: float | None = None,
    counts_only: bool = False,
    epsilons: Sequence[float] = (),
    checkpoint: SavedReading | None = None,
    control: Control | None = None,
    sure: bool = False,
) -> Ranks:
    """All ranks of a matrix; ``read(start)`` gives its rows from row ``start`` in chunks (?, N).

    They are read once, into a basis; where they have too many directions for one, or what it
    leaves out puts a count in doubt, they are read again. ``rows`` is how many there are at least:
    the more, the cheaper the reduction may be. ``precision`` (absent: found out) is that of the
    data, whatever type holds them; its eps is Press's. One that is finer than what the rows show is
    refused, unless who computed them is ``sure`` of it. ``bound`` is Lim's,
    a singular value that is not relative to the largest. ``counts_only`` holds N^2 numbers at most,
    and may give no spectrum; else the spectrum gives effective ranks at ``epsilons`` that are
    certain. A ``checkpoint`` holds what was read before. ``control`` gives the rows of the control,
    by threshold, columns and precision (absent: ``control_rows``).

    Raises MatrixError for no rows, rows of different lengths, numbers that are not finite, or were
    rounded further than the ``precision`` that is given, rows that differ when they are read again,
    thresholds, epsilons and bounds that float64 does not resolve, and where memory has no room.
    """
    smooth = () if counts_only else tuple(epsilons)
    known = control or control_rows
    asked = _Asked(rows, precision, tuple(thresholds), bound, counts_only, smooth, known, sure)
    return _ranks(SameRows(read), asked, checkpoint, basis=True)


def _ranks(read: Read, asked: _Asked, checkpoint: SavedReading | None, *, basis: bool) -> Ranks:
    """As ``ranks_of``; without a ``basis`` unless one is asked for."""
    chunks, used, columns, least = _checked(read, asked, checkpoint)
    begun = checkpoint.reduction if checkpoint else ""
    reduction = reduction_for(least, spectrum=not asked.counts_only)
    if basis and least >= GRAM_RESOLUTION and columns >= LEAST_COLUMNS and begun in ("", "basis"):
        saved_before = begun == "basis"
        room = vectors_for(asked.rows, columns, reduction)
        if found := _by_basis(chunks, used, least, asked, checkpoint, room):
            return found
        if checkpoint and checkpoint.rows:
            with checkpoint.beside() as finer:
                return _ranks(read, asked, finer, basis=saved_before)
        chunks = _checked(read, asked, checkpoint)[0]
    if not begun or begun == "basis":
        refuse_without_memory(reduction, columns)
    if checkpoint:
        checkpoint.agree(reduction, used)
    return _counted(reduce_rows(chunks, reduction, checkpoint=checkpoint), used, asked)


def _by_basis(
    chunks: Iterable[Rows],
    precision: str,
    least: float,
    asked: _Asked,
    checkpoint: SavedReading | None,
    room: tuple[int, bool],
) -> Ranks | None:
    """The ranks of rows of low rank; None for others, and where a rank is in doubt.

    Of what is in doubt the ``checkpoint`` keeps all, of others nothing.
    """
    if checkpoint:
        checkpoint.agree("basis", precision)
    try:
        reduced = reduce_rows(chunks, "basis", checkpoint=checkpoint, threshold=least, room=room)
    except ManyDirectionsError:
        if checkpoint:
            checkpoint.begin_again()
        return None
    bounds = [asked.bound / reduced.sigma_1] if asked.bound and reduced.sigma_1 else []
    counts = [*_fixed(reduced, precision), *asked.thresholds, *bounds]
    if reduced.certain(counts) and (asked.counts_only or reduced.smooth_certain(asked.epsilons)):
        return _counted(reduced, precision, asked)
    return None


def _checked(
    read: Read, asked: _Asked, checkpoint: SavedReading | None
) -> tuple[Iterator[Rows], str, int, float]:
    """The rows not read yet, their precision and number of columns, and the least threshold."""
    given = iter(checkpoint.rest(read) if checkpoint else read(0))
    first = next((chunk for chunk in given if len(chunk)), None)
    done, last = (checkpoint.rows, checkpoint.last) if checkpoint else (0, None)
    shown = last if first is None else first
    if shown is None:
        raise MatrixError("no rows\n  expected: a row per context\n  to do: add log-probabilities")
    known = asked.precision or (checkpoint.precision if checkpoint else "")
    used = known or _precision(read, shown)
    columns = shown.shape[-1]
    unread = itertools.chain([] if first is None else [first], given)
    checked: Iterator[Rows] = checked_rows(unread, done + 1)
    if not asked.sure:
        checked = not_rounded(checked, asked.precision, done + 1)
    if not asked.precision:
        checked = one_precision(checked, used, done + 1)
    press = press_threshold(asked.rows, columns, eps_of(used))
    _refuse_meaningless(press, used)
    press /= 1 if asked.counts_only else 10
    smooth = [float(np.sqrt(epsilon / columns)) for epsilon in asked.epsilons]
    for epsilon, needed in zip(asked.epsilons, smooth, strict=True):
        if needed < QR_RESOLUTION:
            raise MatrixError(
                f"epsilon {epsilon:g}: rounding in float64 hides so small a share of the sum of "
                f"squares\n  expected: at least {1.01 * columns * QR_RESOLUTION**2:.2g}\n"
                "  to do: ask for a larger one"
            )
    return checked, used, columns, min([max(press, QR_RESOLUTION), *asked.thresholds, *smooth])


def _precision(read: Read, first: Rows) -> str:
    """That of the first rows that show one; they may come late, after rows of zeros."""
    first = np.atleast_2d(first)
    if not tells(first):
        first = next((chunk for chunk in read(0) if len(chunk) and tells(chunk)), first)
    return precision_of(telling_rows(first)[0])


def _refuse_meaningless(threshold: float, precision: str) -> None:
    """MatrixError for a threshold of Press that no singular value passes."""
    if threshold >= 1:
        raise MatrixError(
            f"Press's threshold is {threshold:.3g} of the largest singular value, with {precision} "
            "and so many rows and columns: no singular value is above it, whatever the matrix\n"
            "  expected: below 1\n  to do: take log-probabilities of a finer precision, or fewer "
            "rows"
        )


def _fixed(reduced: Reduced, precision: str) -> list[float]:
    """The thresholds of every matrix: Press's, ten times it, numpy's, and a tenth of Press's."""
    rows, columns, eps = reduced.rows, reduced.columns, eps_of(precision)
    threshold = press_threshold(rows, columns, eps)
    fixed = [threshold, 10 * threshold, numpy_threshold(rows, columns, eps)]
    tenth_is_resolved = reduced.spectrum is not None and threshold / 10 >= reduced.least
    return [*fixed, threshold / 10] if tenth_is_resolved else fixed


def _counted(reduced: Reduced, precision: str, asked: _Asked) -> Ranks:
    """The counts, and the control."""
    columns, fixed = reduced.columns, _fixed(reduced, precision)
    threshold = fixed[0]
    _refuse_meaningless(threshold, precision)
    counts = reduced.ranks([*fixed, *asked.thresholds])
    if threshold < reduced.least and counts[0] != reduced.ranks([reduced.least])[0]:
        raise MatrixError(
            f"Press's threshold of {threshold:.2g}: singular values between it and "
            f"{reduced.least:.2g} of the largest are hidden by rounding in float64\n"
            "  expected: none there\n  to do: take more rows, or say a coarser precision"
        )
    empirical = None if asked.bound is None else reduced.rank_above(asked.bound)
    reduced.gram = None  # the control needs its room
    rows = asked.control(threshold, columns, precision)
    least = max(threshold, CONTROL_LEAST)
    control = reduce_rows(rows, reduced.reduction, threshold=least)
    return Ranks(
        reduced,
        precision,
        threshold,
        press=counts[0],
        tenfold=counts[1],
        numpy=counts[2],
        tenth=counts[3] if len(fixed) > 3 else None,
        at=dict(zip(asked.thresholds, counts[len(fixed) :], strict=True)),
        bound=asked.bound,
        empirical=empirical,
        expected=known_rank_of(columns),
        control=control.ranks([threshold])[0],
    )


def document_of(found: Ranks, epsilons: Sequence[float]) -> dict[str, Any]:
    """All that is found, for JSON; what needs a spectrum only with one, and with ``epsilons``."""
    reduced = found.reduced
    document: dict[str, Any] = {
        "press": found.press,
        "rows": reduced.rows,
        "columns": reduced.columns,
        "precision": found.precision,
        "reduction": reduced.reduction,
        "largest_singular_value": reduced.sigma_1,
        "threshold": found.threshold,
        "tenfold": found.tenfold,
        "numpy": found.numpy,
        "numpy_threshold": numpy_threshold(reduced.rows, reduced.columns, eps_of(found.precision)),
        "at": {f"{threshold:g}": count for threshold, count in found.at.items()},
        "control": {"expected": found.expected, "measured": found.control},
    }
    if found.bound is not None:
        document["empirical"] = {"bound": found.bound, "rank": found.empirical}
    if epsilons and (values := reduced.spectrum) is not None:
        known = map(float, curve_tolerances(found.threshold, reduced.least))
        tolerances = [t for t in known if reduced.certain([t])]
        places, shares = share_places(len(values)), cumulative_share(values)
        document |= {
            "tenth": found.tenth,
            **without_threshold(values, epsilons),
            "curve": {"tolerances": tolerances, "ranks": reduced.ranks(tolerances)},
            "cumulative": {
                "first": places.tolist(),
                "share": [float(shares[k - 1]) for k in places],
            },
        }
    return document


def column_means(chunks: Iterable[Rows]) -> Spectrum:
    """The mean row (N,), in float64, of the rows in ``chunks`` (?, N), of which there are some."""
    total, rows = np.zeros(1), 0
    for chunk in chunks:
        total = total + chunk.sum(axis=0, dtype=np.float64)
        rows += len(chunk)
    return total / rows


def centred_spectrum(chunks: Iterable[Rows], means: Spectrum) -> Spectrum:
    """Singular values of the rows in ``chunks`` (?, N) minus their ``means`` (N,).

    For ranks that have no threshold: rounding of the data hides what it hides without centring.
    """
    return reduce_rows((chunk - means for chunk in chunks), "gram").values()


def checked_rows(chunks: Iterable[Rows], row: int = 1) -> Iterator[Rows]:
    """The chunks that hold rows; MatrixError for numbers whose rank would mean nothing.

    ``row`` is the number of the first.
    """
    columns = 0
    for chunk in chunks:
        if not len(chunk):
            continue
        columns = columns or chunk.shape[1]
        if chunk.shape[1] != columns:
            raise MatrixError(
                f"row {row:,}: {chunk.shape[1]:,} numbers, and {columns:,} before\n"
                "  expected: a number per word, in every row\n  to do: correct what gives the rows"
            )
        _refuse_numbers(chunk, row)
        row += len(chunk)
        yield chunk


def not_rounded(chunks: Iterable[Rows], declared: str, number: int) -> Iterator[Rows]:
    """The same chunks; MatrixError for rows rounded further than the precision that is declared.

    ``declared`` may be empty; ``number`` is that of the first row.
    """
    for chunk in chunks:
        rows, first = telling_rows(chunk)
        sign = "" if declared in COARSE else rounded(rows)
        if declared and not sign:
            if others := coarse_rows(chunk, declared):
                first = others[0]
                rows = chunk[first : first + 1]
            if tells(rows) and BITS[declared] > BITS[found := precision_of(rows)]:
                sign = f"have the precision of {found}"
        if sign:
            though = f", though {declared} is declared" if declared else ""
            raise MatrixError(
                f"row {number + first:,}: its numbers {sign}{though}, so the rank would be that of "
                "the rounding\n  expected: log-probabilities in the precision of the model's "
                "parameters, in every step\n  to do: compute them without a lower precision, or "
                "say which one they have"
            )
        number += len(chunk)
        yield chunk


def one_precision(chunks: Iterable[Rows], precision: str, number: int) -> Iterator[Rows]:
    """The same chunks; MatrixError once rows are finer or coarser than the first of all."""
    for chunk in chunks:
        rows, first = telling_rows(chunk)
        found = precision_of(rows)
        if tells(rows) and found != precision:
            raise _other_precision(found, precision, number + first)
        if len(others := coarse_rows(chunk, precision)):
            found = precision_of(chunk[others[0]])
            raise _other_precision(found, precision, number + int(others[0]))
        number += len(chunk)
        yield chunk


def _other_precision(found: str, precision: str, row: int) -> MatrixError:
    than = "finer" if BITS[found] > BITS[precision] else "coarser"
    return MatrixError(
        f"row {row:,}: its numbers are {than} than the {precision} of the first row\n"
        "  expected: one precision in all rows, on which Press's threshold depends\n"
        "  to do: compute all rows alike, or say which precision they have"
    )


def _refuse_numbers(chunk: Rows, row: int) -> None:
    """MatrixError for numbers that are not finite, or whose squares are not."""
    low, high = float(chunk.min()), float(chunk.max())
    if not np.isfinite((low, high)).all():
        where = tuple(np.argwhere(~np.isfinite(chunk))[0])
        raise MatrixError(
            f"row {row + where[0]:,}, column {where[1] + 1:,}: {chunk[where]}\n"
            "  expected: finite log-probabilities\n  to do: leave such words out of all rows"
        )
    largest = max(abs(low), abs(high))
    if largest > LARGEST or 0 < largest < 1 / LARGEST:
        raise MatrixError(
            f"row {row:,} and after: numbers of a size of {largest:.3g}, whose squares are lost in "
            f"float64\n  expected: log-probabilities, of a size from {1 / LARGEST:g} to "
            f"{LARGEST:g}\n  to do: correct what gives the rows"
        )


def known_rank_of(columns: int) -> int:
    """The rank of the control of this width: 32, or less where there is no room for it."""
    return min(KNOWN_RANK, columns // 2)


def control_factors(threshold: float, columns: int) -> tuple[Spectrum, Spectrum]:
    """Contexts (M, R) and words (N, R) whose product has a known rank at the ``threshold``.

    It has ``known_rank_of(columns)`` singular values from 1 down to three times the threshold, or
    to its square root where that is less, as many again from a third of it down, and nothing else:
    a threshold that is wrong by a factor of
    three, lost rows, or rounding of products or entries to half precision give another count. Its
    rows should come as a model's do: contexts times words in the precision of the data, in chunks
    of CONTROL_CHUNK, which is no divisor of a block; they are two and a half blocks.
    """
    generator = np.random.default_rng(SEED)
    rank = known_rank_of(columns)
    rows = 5 * BLOCK_ROWS // 2 + 17
    above = np.geomspace(1.0, min(3 * threshold, threshold**0.5), rank)
    below = np.geomspace(threshold / 3, threshold / 30, rank)
    left, right = (
        np.linalg.qr(generator.standard_normal((n, 2 * rank)))[0] for n in (rows, columns)
    )
    return left * np.append(above, below), right


def control_rows(threshold: float, columns: int, precision: str) -> Iterator[Rows]:
    """The rows of the control, computed in this precision, or in float32 for a coarser one."""
    dtype = "float64" if precision == "float64" else "float32"
    contexts, words = (factor.astype(dtype) for factor in control_factors(threshold, columns))
    for start in range(0, len(contexts), CONTROL_CHUNK):
        yield contexts[start : start + CONTROL_CHUNK] @ words.T
