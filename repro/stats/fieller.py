"""How large is one effect as a share of another? Fieller's interval of a ratio."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

from scipy.special import stdtrit

from repro.stats.contrast import Contrast

Shape: TypeAlias = Literal["interval", "all but a gap", "half-line", "everything"]


@dataclass(frozen=True, slots=True)
class EffectRatio:
    """Our effect over the original's, with the set of ratios that the data do not refute.

    ``low`` and ``high`` are ``None`` unless ``shape`` is ``interval``: where the original's
    effect may be 0 the set has no such ends, and ``said`` is the sentence that says which
    ratios belong to it. ``ratio`` is ``None`` where the original's effect is exactly 0.
    """

    ratio: float | None
    low: float | None
    high: float | None
    level: float
    shape: Shape
    said: str


def effect_ratio(
    original: Contrast, ours: Contrast, *, df: float, level: float = 0.95, covariance: float = 0.0
) -> EffectRatio:
    """Fieller's set: all ratios ``r`` with ``|ours - r original| <= t se(ours - r original)``.

    ``df`` belongs to t; that of the prediction interval makes 1 a member exactly where our
    effect is compatible. ``covariance`` is that of the two estimates. Fieller 1954.
    """
    t_squared = float(stdtrit(df, (1 - level) / 2)) ** 2
    square = original.effect**2 - t_squared * original.se**2
    linear = original.effect * ours.effect - t_squared * covariance
    constant = ours.effect**2 - t_squared * ours.se**2
    ratio = ours.effect / original.effect if original.effect else None
    discriminant = linear**2 - square * constant
    if square > 0:
        reach = math.sqrt(max(discriminant, 0.0))
        low, high = (linear - reach) / square, (linear + reach) / square
        said = f"every ratio from {low:.3g} to {high:.3g}"
        return EffectRatio(ratio, low, high, level, "interval", said)
    shape, said = _without_ends(square, linear, constant, discriminant)
    why = ", because the original's effect may be 0"
    return EffectRatio(ratio, None, None, level, shape, said + why)


def _without_ends(
    square: float, linear: float, constant: float, discriminant: float
) -> tuple[Shape, str]:
    if square == 0 and linear != 0:
        side = "above" if linear > 0 else "below"
        return "half-line", f"every ratio {side} {constant / (2 * linear):.3g}"
    if square == 0 or discriminant <= 0:
        return "everything", "any ratio"
    reach = math.sqrt(discriminant)
    gap = sorted(((linear - reach) / square, (linear + reach) / square))
    return "all but a gap", f"any ratio but those between {gap[0]:.3g} and {gap[1]:.3g}"
