"""The precision that numbers have, whatever the type that holds them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from repro.rank.rounded import bits_used, eps_of, precision_of, rounded

Row = np.ndarray[Any, np.dtype[np.floating[Any]]]
LOGITS = np.random.default_rng(1).normal(size=3000) - 9


def bfloat16(row: Row) -> Row:
    """The numbers cut to the 8 leading bits of bfloat16, in float32."""
    return (row.astype(np.float32).view(np.uint32) & 0xFFFF0000).view(np.float32)


def shifted(row: Row) -> Row:
    """Log-probabilities in float32 of logits that were rounded before."""
    row = row.astype(np.float32)
    result: Row = row - np.float32(np.log(np.exp(row).sum()) + 0.123)
    return result


@pytest.mark.parametrize("name", ["float64", "float32", "float16"])
def test_numbers_have_the_precision_of_their_type(name: str) -> None:
    row = LOGITS.astype(name)
    assert precision_of(row) == name
    assert eps_of(name) == np.finfo(name).eps


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (LOGITS.astype(np.float32).astype(np.float64), "float32"),
        (LOGITS.astype(np.float16).astype(np.float32), "float16"),
        (LOGITS.astype(np.float16).astype(np.float64), "float16"),
        (bfloat16(LOGITS), "bfloat16"),
    ],
)
def test_a_wider_type_does_not_hide_rounding(row: Row, expected: str) -> None:
    assert precision_of(row) == expected


def test_a_row_too_short_to_tell_has_the_precision_of_its_type() -> None:
    assert precision_of(np.array([-1.0, -2.0, -0.5, 0.0])) == "float64"


@pytest.mark.parametrize(
    ("numbers", "bits"), [([0.0, 1.0, -4.0], 0), ([1.5], 1), ([1 + 2**-23], 23), ([0.1], 51)]
)
def test_bits(numbers: list[float], bits: int) -> None:
    """0.1 in binary is 1.1001...1010 x 2^-4 with a last bit of zero."""
    assert bits_used(np.array(numbers)) == bits


def test_logits_rounded_before_their_normaliser() -> None:
    """They use all bits, and coincide."""
    row = shifted(LOGITS.astype(np.float16))
    assert precision_of(row) == "float32"
    assert "distinct values among" in rounded(row)


def test_honest_rows_do_not_coincide() -> None:
    for row in (LOGITS.astype(np.float32), shifted(LOGITS)):
        assert rounded(row) == ""


def test_clipped_logits_are_no_sign() -> None:
    row = shifted(np.maximum(LOGITS, -9.5))
    assert len(np.unique(row)) < 0.9 * len(row)
    assert rounded(row) == ""


def test_rows_of_few_values_show_no_coincidence() -> None:
    assert rounded(np.repeat(LOGITS[:90], 2)) == ""
    assert rounded(np.zeros(500)) == ""


def test_contexts_that_are_nearly_alike_are_not_rounded() -> None:
    """Rows of a small vocabulary that differ in their last bits share entries all the same."""
    generator = np.random.default_rng(5)
    some = generator.standard_normal((12, 6))
    alike = np.repeat(some, 30, axis=0) + 2e-7 * generator.standard_normal((360, 6))
    rows = alike - np.log(np.exp(alike).sum(axis=1, keepdims=True))
    assert rounded(rows.astype(np.float32)) == ""
