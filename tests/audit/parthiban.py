"""The p-values of Parthiban et al. 2021 with the numbers that they were printed with."""

from __future__ import annotations

from repro.audit.comparison import PrintedArm, PrintedComparison
from repro.evidence.published import PrintedNumber

PTB, WT2 = ("57.08", "0.10"), ("64.63", "0.09")

# Tables 4 and 5 and supplement Table 1: mean and sd of two arms of ten seeds, the printed p;
# then Student's interval over all rounding, found by an independent search, as it prints.
ELEVEN = {
    "PTB SS": (PTB, ("57.03", "0.15"), "3.92e-1", ".288", ".508"),
    "PTB GSS": (PTB, ("57.02", "0.13"), "2.62e-1", ".176", ".367"),
    "PTB LMS-PLIF": (PTB, ("56.81", "0.11"), "1.91e-5", "6.7e-6", "5.1e-5"),
    "PTB MoS": (PTB, ("54.88", "0.26"), "2.02e-15", "1.2e-15", "3.3e-15"),
    "WT2 SS": (WT2, ("64.35", "0.18"), "3.46e-4", "1.7e-4", "6.6e-4"),
    "WT2 GSS": (WT2, ("64.51", "0.13"), "2.74e-2", ".0141", ".0494"),
    "WT2 LMS-PLIF": (WT2, ("64.15", "0.17"), "2.98e-7", "1.3e-7", "6.5e-7"),
    "WT2 MoS": (WT2, ("61.97", "0.43"), "2.04e-13", "1.5e-13", "2.7e-13"),
    "PTB PLIF, frozen": (("56.81", "0.11"), ("56.82", "0.09"), "8.26e-1", ".645", "1"),
    "WT2 PLIF, frozen": (("64.15", "0.17"), ("64.30", "0.17"), "6.41e-2", ".0438", ".0905"),
    "PTB MoS, Softmax": (("56.39", "0.19"), ("56.45", "0.10"), "0.62", ".301", ".484"),
}
TEN = [name for name in ELEVEN if name != "PTB MoS, Softmax"]
EIGHT = TEN[:8]


def comparisons(names=tuple(ELEVEN), **how):
    """The comparisons of these names, ten seeds an arm."""
    return [comparison(name, *ELEVEN[name][:3], **how) for name in names]


def comparison(name, a, b, p, n=(10, 10), **how):
    """One comparison from the texts of its numbers; no p is the empty text."""
    first = PrintedArm.read(mean=a[0], sd=a[1], n=n[0])
    second = PrintedArm.read(mean=b[0], sd=b[1], n=n[1])
    return PrintedComparison(name, first, second, PrintedNumber.read(p) if p else None, **how)


def as_csv(names=tuple(ELEVEN)):
    """The same as a table."""
    lines = ["id,mean_a,sd_a,n_a,mean_b,sd_b,n_b,p"]
    for name in names:
        a, b, p = ELEVEN[name][:3]
        lines.append(f'"{name}",{a[0]},{a[1]},10,{b[0]},{b[1]},10,{p}')
    return "\n".join(lines) + "\n"
