"""Was the machine quiet? How the same work took longer or shorter from launch to launch."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from unisono.core.language import _
from unisono.core.vocabulary import Case, Sample, Setting
from unisono.report.text import count
from unisono.study.data import StudyData

_FAR = 1.2
"""A launch farther than this from the usual time is no noise of a quiet machine."""


@dataclass(frozen=True, slots=True)
class Drift:
    """Of one launch: its time over the usual time of the same work, geometric mean over (case, size, setting)."""

    launch: int
    ratio: float
    cells: int


def drift(study: StudyData, statistic: str, *, default_only: bool) -> list[Drift]:
    """Per launch, in order. "Usual" is the median over all launches of the same (case, size, setting), of which there
    must be at least two; with `default_only`, only the default setting's samples count."""
    cells: dict[tuple[Case, int, Setting], list[Sample]] = defaultdict(list)
    for sample in study.samples:
        if sample.setting.is_default or not default_only:
            cells[sample.case, sample.size, sample.setting].append(sample)
    logs: dict[int, list[float]] = defaultdict(list)
    for samples in cells.values():
        times = [(s.launch, s.mean if statistic == "mean" else s.median) for s in samples]
        known = [(launch, time) for launch, time in times if time > 0]
        if len(known) < 2:
            continue
        usual = statistics.median(time for _, time in known)
        for launch, time in known:
            logs[launch].append(math.log(time / usual))
    return [Drift(launch, math.exp(statistics.fmean(values)), len(values)) for launch, values in sorted(logs.items())]


def sentence(default: Sequence[Drift]) -> str:
    """What the drift of the default's launches says, in words."""
    if len(default) < 2:
        return _("The default ran in too few launches to tell how quiet the machine was.")
    ratios = [d.ratio for d in default]
    inner = statistics.median(abs(r - 1) for r in ratios)
    worst = max(default, key=lambda d: abs(math.log(d.ratio)))
    if max(abs(r - 1) for r in ratios) < 0.05:
        said = _(
            "The machine was quiet: over {launches} of the default its time moved by {inner:.1%} (median), at most by "
            "{worst:+.1%} (launch {number})."
        )
    elif inner < 0.05 and abs(math.log(worst.ratio)) > math.log(_FAR):
        said = _(
            "The machine was not the same all the time: over {launches} of the default its time moved by {inner:.1%} "
            "(median), but by {worst:+.1%} in launch {number}."
        )
    elif inner < 0.05:
        said = _(
            "The machine was fairly quiet: over {launches} of the default its time moved by {inner:.1%} (median), at "
            "most by {worst:+.1%} (launch {number})."
        )
    else:
        said = _(
            "The machine was noisy: over {launches} of the default its time moved by {inner:.1%} (median), at most by "
            "{worst:+.1%} (launch {number})."
        )
    launches = count(len(default), "launch")
    return said.format(launches=launches, inner=inner, worst=worst.ratio - 1, number=worst.launch)
