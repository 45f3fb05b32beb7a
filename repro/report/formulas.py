"""The formula of each test, as MathML for a page and in one line of text for paper.

Written by hand and keyed by what a test is called. Nothing of a document enters it.
"""

from __future__ import annotations

from repro.report.blocks import Formula

Part = str
"""A piece of MathML."""


def _i(name: str) -> Part:
    return f"<mi>{name}</mi>"


def _n(number: str) -> Part:
    return f"<mn>{number}</mn>"


def _o(sign: str) -> Part:
    return f"<mo>{sign}</mo>"


def _row(*parts: Part) -> Part:
    return f"<mrow>{''.join(parts)}</mrow>"


def _sub(base: Part, index: Part) -> Part:
    return f"<msub>{base}{index}</msub>"


def _mean(index: str) -> Part:
    bar = "<mover><mi>x</mi><mo>¯</mo></mover>"
    return _sub(bar, _i(index)) if index else bar


def _over(top: Part, bottom: Part) -> Part:
    return f"<mfrac>{top}{bottom}</mfrac>"


def _variance(index: str) -> Part:
    return _over(f"<msubsup>{_i('s')}{_i(index)}{_n('2')}</msubsup>", _sub(_i("n"), _i(index)))


_DIFFERENCE = _row(_mean("A"), _o("−"), _mean("B"))
_ERROR = f"<msqrt>{_variance('A')}{_o('+')}{_variance('B')}</msqrt>"
_OF_PAIRS = _over(_i("s"), f"<msqrt>{_i('n')}</msqrt>")
_POOLED = _row(
    _sub(_i("s"), _i("p")),
    "<msqrt>",
    *(_over(_n("1"), _sub(_i("n"), _i("A"))), _o("+"), _over(_n("1"), _sub(_i("n"), _i("B")))),
    "</msqrt>",
)
_T = _i("t") + _o("=")
_SQUARE = f"<msup>{_i('r')}{_n('2')}</msup>"
_LEFT = _over(_row(_i("n"), _o("−"), _n("2")), _row(_n("1"), _o("−"), _SQUARE))

TABLE: tuple[tuple[str, str, Part, str], ...] = (
    ("paired t-test on logarithms", "Paired t-test of log A − log B, against log r of the limit r",
     _T + _over(_row(_mean("d"), _o("−"), _i("log"), _i("r")), _OF_PAIRS),
     "t = (mean of log A − log B, minus log r) / (s / √n)"),
    ("Welch's t-test on logarithms", "Welch's t-test of logarithms, against log r of the limit r",
     _T + _over(_row(_DIFFERENCE, _o("−"), _i("log"), _i("r")), _ERROR),
     "t = (mean log A − mean log B − log r) / √(s²A/nA + s²B/nB)"),
    ("paired t-test", "Paired t-test of d = A − B, against the limit m",
     _T + _over(_row(_mean("d"), _o("−"), _i("m")), _OF_PAIRS),
     "t = (mean of A − B, minus m) / (s / √n)"),
    ("Student's t-test of one sample", "Student's t-test of one arm, against the limit m",
     _T + _over(_row(_mean(""), _o("−"), _i("m")), _OF_PAIRS), "t = (mean − m) / (s / √n)"),
    ("Student's t-test", "Student's t-test with the pooled deviation s, against the limit m",
     _T + _over(_row(_DIFFERENCE, _o("−"), _i("m")), _POOLED),
     "t = (mean A − mean B − m) / (s √(1/nA + 1/nB))"),
    ("Welch", "Welch's t-test, against the limit m (0 where none is declared)",
     _T + _over(_row(_DIFFERENCE, _o("−"), _i("m")), _ERROR),
     "t = (mean A − mean B − m) / √(s²A/nA + s²B/nB)"),
    ("complete separation", "Chance that k seeds of A and n of B separate, if both were alike",
     _i("p") + _o("=") + _over(_n("1"), _row(
         _o("("), f'<mfrac linethickness="0">{_row(_i("k"), _o("+"), _i("n"))}{_i("k")}</mfrac>',
         _o(")"))),
     "p = 1 / (k + n choose k)"),
    ("bound in every replicate", "Share of all seeds that n kept ones show, at level α",
     _i("share") + _o("≥") + f"<msup>{_i('α')}{_over(_n('1'), _i('n'))}</msup>",
     "share ≥ α^(1/n)"),
    ("Fisher z", "Pearson's r over n points, by Fisher's z against the limit ρ",
     _i("z") + _o("=") + _row(
         _o("("), _i("artanh"), _i("r"), _o("−"), _i("artanh"), _i("ρ"), _o(")"),
         f"<msqrt>{_row(_i('n'), _o('−'), _n('3'))}</msqrt>"),
     "z = (artanh r − artanh ρ) √(n − 3)"),
    ("Pearson's r", "Pearson's r over n points",
     _T + _row(_i("r"), f"<msqrt>{_LEFT}</msqrt>"),
     "t = r √((n − 2) / (1 − r²))"),
    ("Kendall's tau", "Kendall's tau of C concordant and D discordant pairs (ties are allowed for)",
     _i("τ") + _o("=") + _over(_row(_i("C"), _o("−"), _i("D")), _row(_i("C"), _o("+"), _i("D"))),
     "τ = (C − D) / (C + D)"),
    ("t-test of the slopes", "t-test of the slopes b of the seeds, from arm to arm",
     _T + _over("<mover><mi>b</mi><mo>¯</mo></mover>", _OF_PAIRS), "t = mean b / (s / √n)"),
)  # fmt: skip


def formula(test: str, unit: str) -> Formula | None:
    """The formula of a test by its name; None where there is none to show in one line.

    Two tests at once (TOST) are each the test of their name.
    """
    for name, label, mathml, said in TABLE:
        if name in test:
            markup = f'<math display="block">{mathml}</math>'
            return Formula(label.replace("seed", unit), markup, said)
    return None
