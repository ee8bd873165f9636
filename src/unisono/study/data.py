"""Everything a study holds, read-only: what deciding, comparing and reporting work on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from unisono.core.vocabulary import Level, Sample, Setting
from unisono.machine.description import Machine

if TYPE_CHECKING:  # it takes numpy, which takes as long to load as a short command
    from unisono.fabric.measured import Fabric

ENDED = "search ended"
"""Kept with a study: whether nothing is left to measure, be it settled or not; else its time did not suffice."""
NEVER = "never launched"
"""Kept with a study: see StudyData.never."""


@dataclass(frozen=True, slots=True)
class LaunchRow:
    """One mpirun: what was asked, and how it ended.

    `status` is "done", or "refused", "crashed", "hung", "wrong placement", "protocol", "interrupted", "running".
    """

    id: int
    setting: Setting
    """The launch-scope part."""
    nodes: int
    ppn: int
    round: int
    status: str
    reason: str
    seconds: float
    command: str
    oversubscribed: bool


@dataclass(frozen=True, slots=True)
class Refusal:
    """A (collective, size, setting) that was not measured in a launch that worked: no memory, unsupported."""

    launch: int
    collective: str
    size: int
    setting: Setting
    reason: str


@dataclass(frozen=True, slots=True)
class StudyData:
    id: str
    """Unique; tunings name it."""
    name: str
    created: str
    """ISO 8601, UTC."""
    method: str
    margin: float
    confidence: float
    weights: Mapping[str, float]
    machine: Machine
    samples: tuple[Sample, ...]
    launches: tuple[LaunchRow, ...]
    limits: Mapping[tuple[int, int], Mapping[str, Any]]
    """(nodes, ppn) -> what the benchmark answered to `limits` (the JSON object, last one of the study)."""
    refusals: tuple[Refusal, ...] = ()
    notes: tuple[str, ...] = ()
    """Sentences: what was folded, left out, changed for every launch alike."""
    scope: tuple[str, ...] = field(default_factory=tuple)
    """Which call-scope parameters were switched inside launches."""
    reproducible: Level | None = None
    """What the results of reductions did not depend on: one of REPRODUCIBLE."""
    never: tuple[str, ...] = ()
    """Launch settings that were to be compared and had no time for even one launch."""
    ended: bool | None = None
    """Whether the search came to its end, or its budget ended it first; None: not known."""
    fabric: Fabric | None = None
    """As `unisono doctor --fabric` measured it on these nodes, where that is known; a report's limits rest on it."""
    nodes_share_cpus: bool = False
    """Whether ranks of different nodes waited for one another's CPUs, as on a virtual cluster."""
