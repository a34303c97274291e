"""Whether one way to recall is better than another on the same questions: a paired bootstrap. Pure."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from memfs.model.values import dataclass
from memfs.recall.evaluate import CaseResult

RESAMPLES = 2_000
_SEED = 7  # the same answer for the same results


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One figure under two settings, and the interval of 95 % of their difference."""

    figure: str
    first: float
    second: float
    low: float
    high: float

    @property
    def beyond_chance(self) -> bool:
        return self.low > 0 or self.high < 0


def compare(first: Sequence[CaseResult], second: Sequence[CaseResult]) -> list[Difference]:
    """Return hit and MRR of the same cases under two settings, ``second`` minus ``first``.

    Cases that expect nothing are left out. Questions are drawn again with their pairs of results, so what
    is hard for both settings makes no difference.
    """
    pairs = [(one, other) for one, other in zip(first, second, strict=True) if one.case.expect]
    figures: dict[str, Callable[[CaseResult], float]] = {
        "hit": lambda result: float(result.rank is not None),
        "MRR": lambda result: 1 / result.rank if result.rank else 0.0,
    }
    return [_difference(name, [(value(one), value(other)) for one, other in pairs]) for name, value in figures.items()]


def _difference(figure: str, pairs: Sequence[tuple[float, float]]) -> Difference:
    count = len(pairs) or 1
    steps = [other - one for one, other in pairs]
    draw = random.Random(_SEED)  # noqa: S311 - a resample, not a secret
    means = sorted(sum(draw.choices(steps, k=len(steps))) / count for _ in range(RESAMPLES)) if steps else [0.0]
    return Difference(
        figure=figure,
        first=sum(one for one, _ in pairs) / count,
        second=sum(other for _, other in pairs) / count,
        low=means[int(0.025 * (len(means) - 1))],
        high=means[round(0.975 * (len(means) - 1))],
    )
