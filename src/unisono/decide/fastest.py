"""Which of several studies is the fastest, case by case and size by size, as far as the launches tell."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from unisono.core.interval import Interval
from unisono.core.sizes import format_size
from unisono.core.vocabulary import Case
from unisono.decide.sides import KINDS, Pair, Row, Side


@dataclass(frozen=True, slots=True)
class Fastest:
    """Message sizes of a case with one answer."""

    case: Case
    kind: str
    """ "default": as each is without tuning; "best": each at what it would choose."""
    first: int
    last: int
    """Bytes, both measured."""
    labels: tuple[str, ...]
    """The study that is faster than every other; several where the launches do not tell them apart, the one with the
    shortest time first."""
    over_next: Interval | None
    """Time of the next study / time of the fastest, at the size where it is the least; None for several."""

    @property
    def sizes(self) -> str:
        """ "8 B to 4 KiB"."""
        first, last = format_size(self.first), format_size(self.last)
        return first if self.first == self.last else f"{first} – {last}"


def fastest(labels: Sequence[str], sides: Sequence[Side], margin: float, confidence: float) -> tuple[Fastest, ...]:
    """For every case that all studies measured.

    A study is the fastest where it beats each of the others beyond the margin, all pairs of studies considered.
    """
    cases = sorted(set.intersection(*({*side.tables} for side in sides)))
    pairs = list(itertools.combinations(range(len(sides)), 2))
    found: list[Fastest] = []
    for case, kind in itertools.product(cases, KINDS):
        rows: dict[int, dict[tuple[int, int], Row]] = {}
        for a, b in pairs:
            pair = Pair(case, kind, labels[a], labels[b], sides[a], sides[b])
            for row in pair.rows(pair.verdict(2 * len(pairs), margin, confidence), confidence) if pair.sizes else ():
                rows.setdefault(row.size, {})[a, b] = row
        complete = [(size, rows[size]) for size in sorted(rows) if len(rows[size]) == len(pairs)]
        answers = [(size, *_answer(labels, these)) for size, these in complete]
        for _, group in itertools.groupby(answers, key=lambda answer: frozenset(answer[1])):
            stretch = list(group)
            names = list(dict.fromkeys(name for _, these, _ in stretch for name in these))
            leads = [lead for _, _, lead in stretch if lead is not None]
            found.append(
                Fastest(
                    case,
                    kind,
                    stretch[0][0],
                    stretch[-1][0],
                    tuple(names),
                    min(leads, key=lambda lead: lead.mid) if leads else None,
                )
            )
    return tuple(found)


def _answer(labels: Sequence[str], rows: dict[tuple[int, int], Row]) -> tuple[tuple[str, ...], Interval | None]:
    """Which studies no other beats at one size, and how far one that is alone is ahead of the next."""
    times: dict[int, float] = {}
    beaten: set[int] = set()
    for (a, b), row in rows.items():
        times[a], times[b] = row.reference_time, row.time
        if row.significant:
            beaten.add(a if row.gain.mid > 1 else b)
    order = sorted(times, key=lambda index: times[index])
    unbeaten = [index for index in order if index not in beaten] or order
    if len(unbeaten) > 1 or order[0] != unbeaten[0]:
        return tuple(labels[index] for index in unbeaten), None
    first, next_ = unbeaten[0], order[1]
    row = rows[min(first, next_), max(first, next_)]
    gain = row.gain
    if first > next_:  # the row's ratio is the next one's time over this one's
        lead = gain
    else:
        lead = Interval(1 / gain.mid, 1 / gain.high if gain.high else math.inf, 1 / gain.low if gain.low else math.inf)
    return (labels[first],), lead
