"""Under which conditions it was measured, what failed, and how to do it again: plain values for the template."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import unisono
from unisono.decide.model import Decision
from unisono.machine.model import Machine, Mpi
from unisono.model import DEFAULT, Setting, as_measured
from unisono.report.text import count, format_duration, format_range, join, short_setting
from unisono.report.view import chosen_plans
from unisono.sizes import format_size
from unisono.study.data import LaunchRow, StudyData

Pairs = list[tuple[str, str]]

_MOST_FAILURES = 60

_SYNC = {"clock": "an agreed start time on a common clock", "barrier": "a barrier of our own"}


def mpi_name(mpi: Mpi | None) -> str:
    """ "Open MPI 5.0.11"; nothing without an MPI."""
    return f"{mpi.name} {mpi.version}" if mpi else ""


def at_a_glance(study: StudyData) -> Pairs:
    machine = study.machine
    seconds = format_duration(sum(row.seconds for row in study.launches))
    return _known(
        ("machine", f"{machine.name}, {count(machine.cores, 'core')}"),
        ("MPI", mpi_name(machine.mpi)),
        ("UCX", machine.ucx.version if machine.ucx else ""),
        ("ranks", _shapes(study)),
        ("measured in", f"{count(len(study.launches), 'launch')}, {seconds}"),
        ("method", study.method),
    )


def warnings(study: StudyData, decision: Decision) -> list[str]:
    """What a reader must know before believing a number."""
    found = []
    crowded = sum(1 for row in study.launches if row.oversubscribed)
    if crowded:
        found.append(
            f"{crowded} of {count(len(study.launches), 'launch')} had more ranks than CPUs: the ranks took turns, "
            "and the times say little about a machine that has a CPU for each."
        )
    wrong = sorted({short_setting(s.setting) for s in study.samples if s.correct is False})
    if wrong:
        found.append(f"Wrong results were computed with {join(wrong)}: disqualified.")
    if not decision.estimates:
        found.append("Nothing was measured that could be compared: see the launches that failed, below.")
    return found


def conditions(study: StudyData, decision: Decision) -> Pairs:
    kept = sum(s.repetitions for s in study.samples)
    lost = sum(s.discarded for s in study.samples)
    done = sum(1 for row in study.launches if row.status == "done")
    checked = [s.correct for s in study.samples if s.correct is not None]
    wrong = f"{checked.count(False):,} wrong" if False in checked else "none wrong"
    return _known(
        ("ranks", _shapes(study)),
        ("oversubscribed", _oversubscribed(study)),
        ("collectives", join(sorted({s.case.collective for s in study.samples}))),
        ("message sizes", _sizes(study)),
        (
            "settings",
            f"{len({s.setting for s in study.samples})}, over "
            f"{count(len({row.setting for row in study.launches}), 'launch setting')}",
        ),
        (
            "launches",
            f"{len(study.launches)}, {done} of them done, "
            f"{format_duration(sum(row.seconds for row in study.launches))} in all",
        ),
        ("repetitions", f"{kept:,} kept, {lost:,} discarded: a rank came late ({lost / max(1, kept + lost):.2%})"),
        ("started by", join(_SYNC.get(s, s) for s in sorted({s.sync for s in study.samples}))),
        ("results checked", f"{len(checked):,} of {len(study.samples):,} timings, {wrong}"),
        ("compared", f"the {decision.statistic} of a launch; the launch is the random effect"),
        (
            "decided by",
            f"{decision.method}; the default is kept unless beaten by {decision.margin:.0%} "
            f"with {decision.confidence:.0%} confidence",
        ),
        ("weights", ", ".join(f"{c} {w:.3g}" for c, w in sorted(decision.weights.items())) or "all alike"),
    )


def _oversubscribed(study: StudyData) -> str:
    crowded = {row.oversubscribed for row in study.launches}
    if crowded == {True}:
        return "yes: more ranks than CPUs, times are not those of a real run"
    return "in some launches" if True in crowded else "no"


def _known(*pairs: tuple[str, str]) -> Pairs:
    return [(name, value) for name, value in pairs if value]


def _shapes(study: StudyData) -> str:
    return join(f"{nodes} × {ppn}" for nodes, ppn in sorted({(s.case.nodes, s.case.ppn) for s in study.samples}))


def _sizes(study: StudyData) -> str:
    sizes = sorted({s.size for s in study.samples})
    return f"{len(sizes)}, {format_size(sizes[0])} to {format_size(sizes[-1])}" if sizes else ""


def machine_facts(machine: Machine) -> Pairs:
    """(what, value) below the drawing; nothing that is not known."""
    mpi, ucx = machine.mpi, machine.ucx
    threads = f"{machine.smt} hardware threads each" if machine.smt > 1 else "one hardware thread each"
    components = sorted(mpi.components.items()) if mpi else []
    return _known(
        ("processor", machine.cpu_model),
        ("sockets", str(machine.sockets)),
        ("NUMA nodes a socket (NPS)", str(machine.numa_per_socket)),
        ("cores", f"{machine.cores}, {threads}"),
        *((c.level, format_size(c.bytes) + _shared(c.shared_by)) for c in machine.caches),
        ("memory", f"{machine.memory_bytes / 2**30:.0f} GiB"),
        ("governor", machine.governor or "not readable"),
        ("kernel", machine.kernel),
        ("system", machine.os),
        ("virtual", machine.virtual or ""),
        ("hosts", ", ".join(f"{n.host} ({count(n.slots, 'slot')})" for n in machine.nodes)),
        ("MPI", mpi_name(mpi)),
        ("mpirun", mpi.mpirun if mpi else ""),
        *((framework, ", ".join(names)) for framework, names in components if framework in ("coll", "pml")),
        ("switched inside a launch", (", ".join(mpi.call_scope) or "nothing") if mpi else ""),
        ("UCX", ucx.version if ucx else ""),
        ("UCX transports", ", ".join(sorted(ucx.transports)) if ucx else ""),
        ("network", ", ".join(f"{d.name} ({d.kind}{f', {d.gbps:g} Gb/s' if d.gbps else ''})" for d in machine.devices)),
        ("scheduler", machine.scheduler.name if machine.scheduler.name != "none" else ""),
        ("your environment", "; ".join(f"{k}={v}" for k, v in sorted(machine.environment.items()))),
        ("run as root", "yes" if machine.root_user else ""),
        ("description from", machine.source if machine.source != "measured" else ""),
    )


def _shared(cores: int) -> str:
    return f", shared by {cores} cores" if cores > 1 else ""


@dataclass(frozen=True, slots=True)
class Failure:
    """One failed launch as it is listed."""

    id: int
    setting: str
    status: str
    reason: str
    command: str


def failures(study: StudyData) -> tuple[list[Failure], int]:
    """Launches that did not deliver, and how many more there are than are listed."""
    failed = [row for row in study.launches if row.status not in ("done", "running")]
    listed = [Failure(r.id, short_setting(r.setting), r.status, r.reason, r.command) for r in failed[:_MOST_FAILURES]]
    return listed, len(failed) - len(listed)


def refusals(study: StudyData) -> list[dict[str, Any]]:
    """What was refused inside launches that worked, the same reasons together."""
    groups: dict[tuple[str, str], list[int]] = defaultdict(list)
    for refusal in study.refusals:
        groups[refusal.collective, refusal.reason].append(refusal.size)
    return [
        {"collective": collective, "sizes": format_range(min(sizes), max(sizes)), "count": len(sizes), "reason": reason}
        for (collective, reason), sizes in sorted(groups.items())
    ]


def commands(study: StudyData, decision: Decision) -> list[tuple[str, str]]:
    """(what it does, command): using the tuning written beside the report, then the study's own launches."""
    found = [
        ("Run a program with this tuning:", "unisono run --tuning tuning.toml -- mpirun -n RANKS ./program"),
        (
            "Write it in the form Open MPI reads, and check that it is taken:",
            "unisono export tuning.toml --format openmpi -o export --check",
        ),
        (
            "Prove it with a program of yours:",
            "unisono verify --tuning tuning.toml --metric 'Time in seconds = *([0-9.]+)' --runs 5 -- "
            "mpirun -n RANKS ./program",
        ),
    ]
    for (nodes, ppn), plan in chosen_plans(decision).items():
        launched = [("the default", DEFAULT), ("the chosen setting", as_measured(plan.launch))]
        for name, setting in launched if plan.launch else launched[:1]:
            row = _done(study.launches, nodes, ppn, setting)
            if row is not None:
                found.append((f"How {name} was launched, {nodes} × {ppn} ranks (launch {row.id}):", row.command))
    return found


def _done(rows: Sequence[LaunchRow], nodes: int, ppn: int, setting: Setting) -> LaunchRow | None:
    wanted = (nodes, ppn, setting, "done")
    return next((row for row in rows if (row.nodes, row.ppn, row.setting, row.status) == wanted), None)


def provenance(study: StudyData, decision: Decision) -> Pairs:
    return _known(
        ("study", f"{study.name}, {study.id}"),
        ("created", study.created),
        ("method", decision.method),
        ("statistic", f"{decision.statistic} of a launch's repetitions"),
        ("Unisono", unisono.__version__),
    )
