"""In a word, whether one study is faster than another: in one case, and over all of them."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

from unisono.core.interval import Interval
from unisono.core.language import N_
from unisono.core.vocabulary import Case
from unisono.decide.sides import Row
from unisono.decide.table import size_weights

FASTER_AT_SOME, SLOWER_AT_SOME = N_("faster at some sizes"), N_("slower at some sizes")
"""Said where the mean over all message sizes does not show what is so at some."""

_WORDS = {
    "better": "faster",
    "worse": "slower",
    "mixed": "mixed",
    "not told": "not told",
    "no difference": "no difference",
}


def by_case(rows: Iterable[Row]) -> dict[Case, dict[tuple[str, str], list[Row]]]:
    """Case -> (other, kind) -> its rows by size."""
    found: dict[Case, dict[tuple[str, str], list[Row]]] = defaultdict(lambda: defaultdict(list))
    for row in sorted(rows, key=lambda r: (r.case, r.size)):
        found[row.case][row.other, row.kind].append(row)
    return dict(found)


def mean_gain(rows: Sequence[Row]) -> Interval:
    """Geometric mean over the sizes. Its ends are those of the sizes averaged: launches are common to all sizes."""
    weights = size_weights([row.size for row in rows])

    def over(values: Sequence[float]) -> float:
        if any(not 0 < value < math.inf for value in values):
            return 0.0 if min(values) <= 0 else math.inf
        return math.exp(math.fsum(w * math.log(v) for w, v in zip(weights, values, strict=True)))

    return Interval(
        over([r.gain.mid for r in rows]), over([r.gain.low for r in rows]), over([r.gain.high for r in rows])
    )


def of_case(kinds: Collection[str], rows: Sequence[Row]) -> str:
    """ "faster", "slower", "mixed", "no difference" or "not told", as findings of these kinds say it; FASTER_AT_SOME or
    SLOWER_AT_SOME where the mean over the `rows` does not show it."""
    if "mixed" in kinds or {"better", "worse"} <= set(kinds):
        return "mixed"
    verdict = next((word for kind, word in _WORDS.items() if kind in kinds), "no difference")
    if verdict not in ("faster", "slower") or not rows:
        return verdict
    gain = mean_gain(rows)
    if verdict == "faster" and gain.low <= 1:
        return FASTER_AT_SOME
    return SLOWER_AT_SOME if verdict == "slower" and gain.high >= 1 else verdict


def of_all(verdicts: Collection[str]) -> str:
    """The same over cases, of which each has one: what is faster in a case, and slower in none, is faster."""
    found = set(verdicts)
    if "mixed" in found or (found & {"faster", FASTER_AT_SOME} and found & {"slower", SLOWER_AT_SOME}):
        return "mixed"
    order = ("faster", "slower", FASTER_AT_SOME, SLOWER_AT_SOME, "not told")
    return next((verdict for verdict in order if verdict in found), "no difference")
