"""Hybrid studies of the same program against each other: two machines' ratio by layout and number of cores.

As Nakajima (2009) compares T2K with the Cray XT4: the same model, here the same number of threads a process, on as
many cores in all, whatever a node has. Launches of different studies share nothing, so they are compared unpaired.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from unisono.core.errors import UserError
from unisono.core.interval import Interval
from unisono.core.language import N_, _
from unisono.core.vocabulary import Setting
from unisono.decide.labels import label
from unisono.decide.statistics import compare as compare_settings
from unisono.hybrid.decide import Rank
from unisono.hybrid.steady import DRIFT
from unisono.hybrid.study import HybridStudy
from unisono.hybrid.variants import Variant, links_words
from unisono.machine.fingerprint import differences

Model = tuple[int, str, Setting]
"""Threads a process, packing, links."""

BEST = N_("the best of each")


@dataclass(frozen=True, slots=True)
class Row:
    """One layout on so many cores in two studies. `gain`: time in the reference study / time in `other`."""

    other: str
    cores: int
    model: str
    """ "flat MPI", "4 threads a process, packed by threads", or BEST."""
    threads: int | None
    """None: the best of each."""
    reference_name: str
    name: str
    reference_seconds: float
    seconds: float
    reference_gflops: float | None
    gflops: float | None
    gain: Interval


@dataclass(frozen=True, slots=True)
class Comparison:
    program: str
    reference: str
    """Label of the first study."""
    others: tuple[str, ...]
    differences: tuple[tuple[str, ...], ...]
    """Of each other study's machine from the reference's."""
    rows: tuple[Row, ...]
    notes: tuple[str, ...]
    confidence: float

    @property
    def sentences(self) -> list[str]:
        """One for each other study: between what its ratios lie."""
        found = []
        for other in self.others:
            rows = [row for row in self.rows if row.other == other and row.threads is not None]
            low, high = min(row.gain.mid for row in rows), max(row.gain.mid for row in rows)
            faster = sum(row.gain.low > 1 for row in rows)
            slower = sum(row.gain.high < 1 for row in rows)
            same = len(rows) - faster - slower
            ratio = f"{low:.2f}" if round(low, 2) == round(high, 2) else f"{low:.2f}–{high:.2f}"
            said = [N_("faster in {faster}").format(faster=faster)] if faster else []
            said += [N_("slower in {slower}").format(slower=slower)] if slower else []
            said += [N_("no difference shown in {same}").format(same=same)] if same else []
            sentence = N_(
                "{other} is {ratio} times as fast as {reference}: {said} of {count} comparisons, each of the "
                "same layout on as many cores"
            )
            if len(rows) == 1:
                sentence = N_(
                    "{other} is {ratio} times as fast as {reference}: {said} of {count} comparison, of the same "
                    "layout on as many cores"
                )
            found.append(
                sentence.format(
                    other=other, ratio=ratio, reference=self.reference, said=", ".join(said), count=len(rows)
                )
            )
        return found

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON; ends of intervals that are not known are null."""
        return {
            "program": self.program,
            "reference": self.reference,
            "others": list(self.others),
            "differences": {name: list(these) for name, these in zip(self.others, self.differences, strict=True)},
            "confidence": self.confidence,
            "sentences": self.sentences,
            "notes": list(self.notes),
            "rows": [
                {
                    "other": row.other,
                    "cores": row.cores,
                    "model": row.model,
                    "threads": row.threads,
                    "reference_layout": row.reference_name,
                    "layout": row.name,
                    "reference_seconds": row.reference_seconds,
                    "seconds": row.seconds,
                    "reference_gflops": row.reference_gflops,
                    "gflops": row.gflops,
                    "gain": [row.gain.mid, row.gain.low, row.gain.high if row.gain.high < float("inf") else None],
                }
                for row in self.rows
            ],
        }


def compare(studies: Sequence[HybridStudy]) -> Comparison:
    """The first study is the reference. Raises UserError when the programs differ, or nothing can be compared."""
    first = studies[0]
    for study in studies[1:]:
        if (study.program, study.metric) != (first.program, first.metric):
            raise UserError(
                _("{name} and {name2} did not run the same: {program!r} by {metric}, {program2!r} by {metric2}").format(
                    name=study.data.name,
                    name2=first.data.name,
                    program=study.program,
                    metric=study.metric,
                    program2=first.program,
                    metric2=first.metric,
                )
            )
    labels = label([study.data for study in studies])
    notes = [
        N_(
            "{name}: too few rounds of this study had a memory bandwidth within a factor of {drift}, so its "
            "ratios say little."
        ).format(name=name, drift=DRIFT)
        for name, study in zip(labels, studies, strict=True)
        if not study.decision.concluded
    ]
    rows: list[Row] = []
    for other, study in zip(labels[1:], studies[1:], strict=True):
        found = _rows(first, study, other)
        if not found:
            raise UserError(
                _("{labels} and {other} have no layout on the same number of cores").format(
                    labels=labels[0], other=other
                )
            )
        rows += found
    return Comparison(
        first.program,
        labels[0],
        tuple(labels[1:]),
        tuple(tuple(differences(first.data.machine, study.data.machine)) for study in studies[1:]),
        tuple(rows),
        tuple(notes),
        first.data.confidence,
    )


def _rows(first: HybridStudy, study: HybridStudy, other: str) -> list[Row]:
    a, b = _fastest(first), _fastest(study)
    pairs: list[tuple[int, str, int | None, Rank, Rank]] = [
        (cores, _words(model), model[0], a[cores, model], b[cores, model])
        for cores, model in sorted(a.keys() & b.keys(), key=_order)
    ]
    for cores in sorted({cores for cores, *_rest in pairs}):
        best = [min((r for (c, _), r in side.items() if c == cores), key=lambda r: r.seconds) for side in (a, b)]
        pairs.append((cores, BEST, None, best[0], best[1]))
    return [
        Row(
            other,
            cores,
            model,
            threads,
            here.name,
            there.name,
            here.seconds,
            there.seconds,
            here.gflops,
            there.gflops,
            _gain(_times(first, here.variant), _times(study, there.variant), first.data.confidence, len(pairs)),
        )
        for cores, model, threads, here, there in pairs
    ]


def _fastest(study: HybridStudy) -> dict[tuple[int, Model], Rank]:
    """Of what differs only in where memory comes from, or in how cores are spread over nodes."""
    found: dict[tuple[int, Model], Rank] = {}
    for rank in study.decision.ranks:
        variant = rank.variant
        key = (variant.cores, (variant.layout.threads, variant.packing, variant.links))
        if key not in found or rank.seconds < found[key].seconds:
            found[key] = rank
    return found


def _order(key: tuple[int, Model]) -> tuple[object, ...]:
    cores, (threads, packing, links) = key
    return (cores, threads, packing, len(links), links.key)


def _words(model: Model) -> str:
    threads, packing, links = model
    words = [N_("flat MPI") if threads == 1 else N_("{threads} threads a process").format(threads=threads)]
    words += [N_("packed by threads")] if packing == "threads" else []
    return ", ".join([*words, *links_words(links)])


def _times(study: HybridStudy, variant: Variant) -> list[float]:
    return [r.seconds for r in study.decision.used(study.results) if r.variant == variant and r.seconds is not None]


def _gain(a: Sequence[float], b: Sequence[float], confidence: float, comparisons: int) -> Interval:
    """a / b; all `comparisons` intervals hold together with this confidence."""
    one, two = Setting({"study": "1"}), Setting({"study": "2"})
    numbers = range(len(a) + len(b))
    cell = {one: dict(zip(numbers, a, strict=False)), two: dict(zip(numbers[len(a) :], b, strict=True))}
    found: Interval = compare_settings(cell, one, {n: n for n in numbers}, confidence ** (1 / comparisons))[two]
    return found
