"""What a tuning holds. Gains are default time / tuned time: above 1 is faster."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, field_validator, model_validator

from unisono.cmdline.layouts import Layout
from unisono.core.fields import Collective, Count, Part, SettingField
from unisono.core.language import _, ngettext
from unisono.core.vocabulary import (
    IMPORTED,
    SIMULATED,
    Level,
    Setting,
)
from unisono.machine.description import Machine, mpi_name
from unisono.tuning.finding import WrittenFinding
from unisono.tuning.names import check_value_names
from unisono.tuning.plans import CheckedPlan, Gain, Plan

FORMAT: Literal["unisono-tuning"] = "unisono-tuning"
VERSION: Literal[1] = 1


class LayoutModel(Part):
    """How to run a program on `nodes` nodes: processes and their threads, and where their memory comes from."""

    program: str
    """What it was measured with: a command line with {ranks} and {threads}, or "solver 64"."""
    metric: str = "wall time"
    nodes: Count
    threads: Count
    """Of a process."""
    processes: Count
    """Of a node."""
    numa: Literal["none", "local", "socket-local", "socket-interleave"] = "none"
    """hybrid.policies says what each is."""
    packing: Literal["single", "threads"] = "single"
    """Who packs the halo; for programs that let one choose, as unisono-solver does."""
    links: SettingField = Setting()
    """Over how many links a message may go; empty: as UCX decides."""
    reference: str
    """The layout it is compared with, in words."""
    gain: Gain
    """Time of the reference / time of this."""
    proven: bool
    """False: nothing was proven faster than the reference, which this then is."""
    launches: Annotated[int, Field(ge=0)] = 0
    study: str
    """Id of the study."""

    @field_validator("links")
    @classmethod
    def _known(cls, links: Setting) -> Setting:
        check_value_names(links)
        return links

    @property
    def shape(self) -> Layout:
        return Layout(self.threads, self.processes)

    @property
    def words(self) -> str:
        """ "2 processes of 8 threads a node, socket-local, packed by threads"."""
        processes = ngettext("{count} process", "{count} processes", self.processes).format(count=self.processes)
        threads = ngettext("{count} thread", "{count} threads", self.threads).format(count=self.threads)
        first = _("{processes} of {threads} a node").format(processes=processes, threads=threads)
        rest: list[str] = [self.numa] if self.numa != "none" else []
        rest += [_("packed by threads")] if self.packing == "threads" else []
        return ", ".join([first, *rest, *(f"{name}={value}" for name, value in self.links.items())])


class MpiPart(Part):
    """The MPI it was measured with: the one to use it with, where a command line does not say which."""

    family: str
    version: str
    mpirun: str
    """Absolute path; empty: not known (results of another benchmark)."""
    mpicc: str | None = None
    """Absolute path; None: there was none beside mpirun."""

    @classmethod
    def of(cls, machine: Machine) -> MpiPart | None:
        """What a tuning remembers of the MPI it was measured with."""
        mpi = machine.mpi
        if mpi is None:
            return None
        return cls(family=mpi.family, version=mpi.version, mpirun=mpi.mpirun, mpicc=mpi.mpicc)

    @property
    def words(self) -> str:
        """ "Open MPI 5.0.11 (/opt/openmpi/bin/mpirun)"."""
        where = f" ({self.mpirun})" if self.mpirun else ""
        return f"{mpi_name(self.family)} {self.version}{where}"


class StudyPart(Part):
    """Where it comes from."""

    id: str
    name: str
    method: str
    margin: Annotated[float, Field(ge=0)]
    """The default is kept unless beaten by more than this."""
    confidence: Annotated[float, Field(gt=0, lt=1)]
    statistic: str = "median"
    reproducible: Level | None = None
    """What the results of reductions do not depend on with this tuning, by our library (vocabulary.REPRODUCIBLE)."""


class Conditions(Part):
    """Under which it was measured."""

    oversubscribed: bool = False
    """More ranks than CPUs: the figures hold for that only."""
    launches: Annotated[int, Field(ge=0)] = 0
    ranks: tuple[Count, ...] = ()
    notes: tuple[str, ...] = ()


class Costs(Part):
    """What our cost model reckons with where no rule says what to use; in seconds, measured with the study."""

    node_latency: Annotated[float, Field(gt=0)] | None = None
    """One way between two ranks of a node."""
    node_byte: Annotated[float, Field(gt=0)] | None = None
    """A byte copied within a node, by every rank at once."""
    fabric_latency: Annotated[float, Field(gt=0)] | None = None
    """Half a round trip between two nodes."""
    fabric_byte: Annotated[float, Field(gt=0)] | None = None
    """A byte between two nodes, by one pair of ranks."""
    fabric_message: Annotated[float, Field(gt=0)] | None = None
    """Each short message more that a rank sends and receives at once, between two nodes."""

    def items(self) -> list[tuple[str, float]]:
        """Those that are known."""
        return [(name, value) for name, value in self.model_dump().items() if value is not None]


class ProofModel(Part):
    """Default against tuned on fresh launches, for one collective."""

    collective: Collective
    nodes: Count
    ppn: Count
    gain: Gain
    launches: Annotated[int, Field(ge=0)]
    """Of each side; 0: both are the same."""
    verdict: str


class Tuning(Part):
    """The whole document. What deciding made of it is checked when it is put together."""

    model_config = ConfigDict(revalidate_instances="always")

    format: Literal["unisono-tuning"]
    version: Literal[1]
    name: str
    created: str
    """ISO 8601, UTC."""
    made_by: str
    study: StudyPart
    conditions: Conditions = Conditions()
    machine: dict[str, str] = Field(default_factory=dict)
    """The fingerprint of the machine it was measured on."""
    mpi: MpiPart | None = None
    """None: of a document written before this was kept."""
    costs: Costs = Costs()
    weights: dict[Collective, Annotated[float, Field(ge=0)]] = Field(default_factory=dict)
    """Collective -> how much it counts when one launch setting is chosen for all."""
    plan: tuple[CheckedPlan, ...] = ()
    """Best first within one (nodes, ppn); the default launch setting is among them."""
    layout: tuple[LayoutModel, ...] = ()
    """One for each program and number of nodes they were compared on."""
    proof: tuple[ProofModel, ...] = ()
    """Of these plans as they stand; empty: none was made, or none is kept."""
    finding: tuple[WrittenFinding, ...] = ()

    @property
    def made(self) -> str:
        """`created` as people read it: "2026-11-27 19:58 UTC"."""
        return self.created[:16].replace("T", " ") + " UTC"

    @model_validator(mode="after")
    def _consistent(self) -> Tuning:
        if not self.plan and not self.layout:
            raise ValueError(_("plan: the tuning has neither a plan nor a layout; it needs at least one of them"))
        kinds = [(layout.program, layout.nodes) for layout in self.layout]
        for program, nodes in kinds:
            if kinds.count((program, nodes)) > 1:
                raise ValueError(
                    _("layout: {program!r} has two layouts on {nodes} nodes; keep one of them").format(
                        program=program, nodes=nodes
                    )
                )
        seen: set[tuple[int, int, Setting]] = set()
        for plan in self.plan:
            key = (plan.nodes, plan.ppn, plan.launch)
            if key in seen:
                raise ValueError(_("plan: {plan} appears twice; keep one of them").format(plan=plan))
            seen.add(key)
        known = {collective for plan in self.plan for collective in plan.gain}
        for name in self.weights:
            if name not in known:
                raise ValueError(_("weights.{name}: no plan has a gain for {name}").format(name=name))
        return self

    @property
    def simulated(self) -> bool:
        """Whether nothing of it was measured (unisono simulate tune)."""
        return self.study.method == SIMULATED

    @property
    def imported(self) -> bool:
        """Whether other benchmarks measured it (unisono import-results)."""
        return self.study.method == IMPORTED

    def cases(self) -> list[tuple[int, int]]:
        """The (nodes, ppn) it has plans for, in order."""
        return list(dict.fromkeys((plan.nodes, plan.ppn) for plan in self.plan))

    def measured_cases(self) -> list[tuple[int, int]]:
        """Those of them that were measured."""
        return list(dict.fromkeys((plan.nodes, plan.ppn) for plan in self.plan if not plan.predicted))

    def plans_for(self, nodes: int, ppn: int) -> Iterator[Plan]:
        return (plan for plan in self.plan if (plan.nodes, plan.ppn) == (nodes, ppn))

    def collectives(self) -> list[str]:
        return list(dict.fromkeys(name for plan in self.plan for name in plan.gain))
