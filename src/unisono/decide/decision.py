"""What a decision consists of. Ratios are always default time / this time: above 1 is faster than the default."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from unisono.core.interval import Interval
from unisono.core.vocabulary import Case, Setting
from unisono.tuning.finding import Finding
from unisono.tuning.plans import Plan


@dataclass(frozen=True, slots=True)
class Estimate:
    """How long a setting takes for one (case, message size), over all its launches."""

    case: Case
    size: int
    setting: Setting
    launches: int
    time: Interval
    """Seconds."""
    gain: Interval
    """default / this."""
    significant: bool
    """Beats, or loses to, the default by more than the margin with the stated confidence (corrected for how many
    settings were compared)."""


@dataclass(frozen=True, slots=True)
class Decision:
    method: str
    margin: float
    confidence: float
    statistic: str
    """What of a launch is compared: "median" or "mean"."""
    estimates: tuple[Estimate, ...]
    plans: tuple[Plan, ...]
    """Per (nodes, ppn), best first under the study's weights; the default launch setting is always there."""
    findings: tuple[Finding, ...]
    weights: Mapping[str, float] = field(default_factory=dict)
    steps: tuple[Step, ...] = ()
    possible: Mapping[tuple[int, int], tuple[Setting, ...]] = field(default_factory=dict)
    """(nodes, ppn) -> the launch parts that plans there may have, worth it or not."""
    never: tuple[str, ...] = ()
    """Launch settings that were to be compared and had no time for even one launch."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the selection in Oracle's guides: what was compared, with what fixed, and what was chosen."""

    case: Case
    number: int
    compared: str
    """The parameter, e.g. "UCX_RNDV_THRESH"."""
    fixed: Setting
    chosen: str
    significant: bool
    curves: Mapping[str, Mapping[int, float]]
    """Value -> message size -> seconds: the figure of this step."""
