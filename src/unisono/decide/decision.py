"""What a decision consists of. Ratios are always default time / this time: above 1 is faster than the default."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from unisono.vocabulary import Case, Setting

Basis = Literal["measured", "predicted"]
"""What a plan with its rules rests on: measurements of its own ranks, or those of other numbers of nodes."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A point estimate with its confidence interval."""

    mid: float
    low: float
    high: float


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
class Rule:
    """Message sizes first..last (inclusive, bytes; last None = no upper end): the call-scope setting to use."""

    case: Case
    first: int
    last: int | None
    call: Setting
    gain: Interval
    sizes: tuple[int, ...]
    """The measured sizes that support it; of a predicted rule, those it was predicted at."""
    launches: int
    sure: float | None = None
    """Of a predicted rule: the probability that nothing is faster by more than a little (unisono.extrapolate)."""


@dataclass(frozen=True, slots=True)
class Joint:
    """What a plan gains for several collectives together, judged by launch (unisono.decide.joint)."""

    weights: Mapping[str, float]
    """Collective -> how much it counts, any scale."""
    gain: Interval
    """Weighted geometric mean."""


@dataclass(frozen=True, slots=True)
class Plan:
    """One launch-scope setting with the best call-scope rules under it, for all cases of one (nodes, ppn)."""

    nodes: int
    ppn: int
    launch: Setting
    gain: Mapping[str, Interval]
    """Collective -> geometric mean over its sizes, rules applied."""
    rules: tuple[Rule, ...]
    joint: Joint | None = None
    """None: a single collective counts, or this plan was not measured for all that do."""
    basis: Basis = "measured"


@dataclass(frozen=True, slots=True)
class Finding:
    """One sentence of evidence, and the numbers it states (so that a test can hold them together)."""

    kind: str
    """"better", "worse", "mixed", "no difference", "singular point", "disqualified", "folded", "not told"."""
    case: Case | None
    parameter: str
    value: str
    text: str
    first: int | None = None
    last: int | None = None
    gain: Interval | None = None


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
