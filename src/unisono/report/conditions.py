"""Under which conditions it was measured, what failed, and how to do it again: plain values for the template."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import unisono
from unisono.core import sums
from unisono.core.language import N_, _, listed, translated
from unisono.core.sizes import format_size
from unisono.core.vocabulary import DEFAULT, SIMULATED, Setting, as_measured
from unisono.decide.decision import Decision
from unisono.machine.description import Machine, Mpi
from unisono.report.text import count, format_duration, format_range, join, short_setting
from unisono.report.view import chosen_plans
from unisono.study.data import LaunchRow, StudyData

Pairs = list[tuple[str, str]]

_MOST_FAILURES = 60

_SYNC = {
    "clock": N_("an agreed start time on a common clock"),
    "barrier": N_("a barrier of our own"),
    "imported": N_("the other benchmark, in its own way"),
    SIMULATED: N_("the simulator, all at once"),
}


def mpi_name(mpi: Mpi | None) -> str:
    """ "Open MPI 5.0.11"; nothing without an MPI."""
    return f"{mpi.name} {mpi.version}" if mpi else ""


def at_a_glance(study: StudyData) -> Pairs:
    machine = study.machine
    seconds = format_duration(sum(row.seconds for row in study.launches))
    return _known(
        (_("machine"), _machine(machine)),
        ("MPI", mpi_name(machine.mpi)),
        ("UCX", machine.ucx.version if machine.ucx else ""),
        (_("ranks"), _shapes(study)),
        (
            _("simulated in") if study.method == SIMULATED else _("measured in"),
            listed([count(len(study.launches), "launch"), seconds]),
        ),
        (_("method"), study.method),
    )


def _machine(machine: Machine) -> str:
    if machine.source == SIMULATED:
        return _("{name}, simulated").format(name=machine.name)
    if not machine.is_described:
        return _("unknown")
    return listed([machine.name, *([machine.cpu_model] if machine.cpu_model else []), count(machine.cores, "core")])


def reproducible(study: StudyData) -> list[str]:
    """Which level of reproducible sums holds, what serves the study's reductions because of it, and what it leaves
    out; [] without a level."""
    level = study.reproducible
    if level is None:
        return []
    names = sorted({sample.case.collective for sample in study.samples})
    served: dict[str, list[str]] = defaultdict(list)
    for name in names:
        if sums.is_promised(name, level):
            served[sums.serving(name, level)].append(name)
    by = [f"{join(those)}: {translated(sentence)}" for sentence, those in served.items()]
    left = sums.not_covered(names, level)
    return [
        translated(sums.promise(level)),
        *by,
        translated(sums.baseline(level)),
        *([translated(left)] if left else []),
    ]


def warnings(study: StudyData, decision: Decision) -> list[str]:
    """What a reader must know before believing a number."""
    found = []
    if study.method == SIMULATED:
        found.append(
            _(
                "SIMULATED: nothing on this page was measured. It shows what SimGrid makes of the platform {name}."
            ).format(name=study.machine.name)
        )
    crowded = sum(1 for row in study.launches if row.oversubscribed)
    if crowded:
        found.append(
            _(
                "{crowded} of {launches} had more ranks than CPUs: the ranks took turns, and the times say little "
                "about a machine that has a CPU for each."
            ).format(crowded=crowded, launches=count(len(study.launches), "launch"))
        )
    wrong = sorted({short_setting(s.setting) for s in study.samples if s.correct is False})
    if wrong:
        found.append(_("Wrong results were computed with {settings}: disqualified.").format(settings=join(wrong)))
    if not decision.estimates:
        found.append(_("No measurement can be compared: see the failed launches below."))
    return found


def conditions(study: StudyData, decision: Decision) -> Pairs:
    kept = sum(s.repetitions for s in study.samples)
    lost = sum(s.discarded for s in study.samples)
    done = sum(1 for row in study.launches if row.status == "done")
    checked = [s.correct for s in study.samples if s.correct is not None]
    checks = (
        _("{checked:,} of {all:,} timings, {wrong:,} wrong")
        if False in checked
        else _("{checked:,} of {all:,} timings, none wrong")
    )
    return _known(
        (_("ranks"), _shapes(study)),
        (_("oversubscribed"), _oversubscribed(study)),
        (_("collectives"), join(sorted({s.case.collective for s in study.samples}))),
        (_("message sizes"), _sizes(study)),
        (
            _("settings"),
            _("{count}, over {launch_settings}").format(
                count=len({s.setting for s in study.samples}),
                launch_settings=count(len({row.setting for row in study.launches}), "launch setting"),
            ),
        ),
        (
            _("launches"),
            _("{count}, {done} of them done, {duration} in all").format(
                count=len(study.launches),
                done=done,
                duration=format_duration(sum(row.seconds for row in study.launches)),
            ),
        ),
        (
            _("repetitions"),
            _("{kept:,} kept, {lost:,} discarded: a rank came late ({share:.2%})").format(
                kept=kept, lost=lost, share=lost / max(1, kept + lost)
            ),
        ),
        (_("started by"), join(_(_SYNC.get(s, s)) for s in sorted({s.sync for s in study.samples}))),
        (
            _("results checked"),
            checks.format(checked=len(checked), all=len(study.samples), wrong=checked.count(False)),
        ),
        (
            _("compared"),
            _("the {statistic} of a launch; the launch is the random effect").format(statistic=_statistic(decision)),
        ),
        (
            _("decided by"),
            _("simulated times, which have no noise; the default is kept unless beaten by {margin:.0%}").format(
                margin=decision.margin
            )
            if decision.method == SIMULATED
            else _(
                "{method}; the default is kept unless beaten by {margin:.0%} with {confidence:.0%} confidence"
            ).format(method=decision.method, margin=decision.margin, confidence=decision.confidence),
        ),
        (_("weights"), ", ".join(f"{c} {w:.3g}" for c, w in sorted(decision.weights.items())) or _("all alike")),
    )


def _statistic(decision: Decision) -> str:
    """What a launch's repetitions come down to."""
    return _("mean") if decision.statistic == "mean" else _("median")


def _oversubscribed(study: StudyData) -> str:
    crowded = {row.oversubscribed for row in study.launches}
    if crowded == {True}:
        return _("yes: more ranks than CPUs, times are not those of a real run")
    return _("in some launches") if True in crowded else _("no")


def _known(*pairs: tuple[str, str]) -> Pairs:
    return [(name, value) for name, value in pairs if value]


def _shapes(study: StudyData) -> str:
    return join(f"{nodes} × {ppn}" for nodes, ppn in sorted({(s.case.nodes, s.case.ppn) for s in study.samples}))


def _sizes(study: StudyData) -> str:
    sizes = sorted({s.size for s in study.samples})
    if not sizes:
        return ""
    said = _("{count}, {first} to {last}")
    return said.format(count=len(sizes), first=format_size(sizes[0]), last=format_size(sizes[-1]))


def machine_facts(machine: Machine) -> Pairs:
    """(what, value) below the drawing; nothing that is not known."""
    mpi, ucx = machine.mpi, machine.ucx
    if not machine.is_described:
        return _known((_("processor"), _("unknown")), ("MPI", mpi_name(mpi)), (_("description from"), machine.source))
    cores = (
        _("{cores}, {threads} hardware threads each") if machine.smt > 1 else _("{cores}, one hardware thread each")
    ).format(cores=machine.cores, threads=machine.smt)
    components = sorted(mpi.components.items()) if mpi else []
    return _known(
        (_("processor"), machine.cpu_model),
        (_("sockets"), str(machine.sockets)),
        (_("NUMA nodes a socket (NPS)"), str(machine.numa_per_socket)),
        (_("cores"), cores),
        *((c.level, format_size(c.bytes) + _shared(c.shared_by)) for c in machine.caches),
        (_("memory"), f"{machine.memory_bytes / 2**30:.0f} GiB"),
        (_("governor"), machine.governor or _("not readable")),
        (_("kernel"), machine.kernel),
        (_("system"), machine.os),
        (_("virtual"), translated(machine.virtual or "")),
        (_("hosts"), ", ".join(f"{n.host} ({count(n.slots, 'slot')})" for n in machine.nodes)),
        ("MPI", mpi_name(mpi)),
        ("mpirun", mpi.mpirun if mpi else ""),
        *((framework, ", ".join(names)) for framework, names in components if framework in ("coll", "pml")),
        (_("switched inside a launch"), (", ".join(mpi.call_scope) or _("nothing")) if mpi else ""),
        ("UCX", ucx.version if ucx else ""),
        (_("UCX transports"), ", ".join(sorted(ucx.transports)) if ucx else ""),
        (
            _("network"),
            ", ".join(f"{d.name} ({d.kind}{f', {d.gbps:g} Gb/s' if d.gbps else ''})" for d in machine.devices),
        ),
        (_("scheduler"), machine.scheduler.name if machine.scheduler.name != "none" else ""),
        (_("your environment"), "; ".join(f"{k}={v}" for k, v in sorted(machine.environment.items()))),
        (_("run as root"), _("yes") if machine.root_user else ""),
        (_("description from"), machine.source if machine.source != "measured" else ""),
    )


def _shared(cores: int) -> str:
    return _(", shared by {cores} cores").format(cores=cores) if cores > 1 else ""


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
    listed = [
        Failure(r.id, short_setting(r.setting), r.status, translated(r.reason), r.command)
        for r in failed[:_MOST_FAILURES]
    ]
    return listed, len(failed) - len(listed)


def refusals(study: StudyData) -> list[dict[str, Any]]:
    """What was refused inside launches that worked, the same reasons together."""
    groups: dict[tuple[str, str], list[int]] = defaultdict(list)
    for refusal in study.refusals:
        groups[refusal.collective, refusal.reason].append(refusal.size)
    return [
        {
            "collective": collective,
            "sizes": format_range(min(sizes), max(sizes)),
            "count": len(sizes),
            "reason": translated(reason.removeprefix("use: ")),  # the benchmark's word for which command it refused
        }
        for (collective, reason), sizes in sorted(groups.items())
    ]


def commands(study: StudyData, decision: Decision) -> list[tuple[str, str]]:
    """(what it does, command): using the tuning written beside the report, then the study's own launches."""
    found = [
        (_("Run a program with this tuning:"), "unisono run --tuning tuning.toml -- mpirun -n RANKS ./program"),
        (
            _("Write it in the form Open MPI reads, and check that it is taken:"),
            "unisono export tuning.toml --format openmpi -o export --check",
        ),
        (
            _("Prove it with a program of yours:"),
            "unisono verify --tuning tuning.toml --metric 'Time in seconds = *([0-9.]+)' --runs 5 -- "
            "mpirun -n RANKS ./program",
        ),
    ]
    for (nodes, ppn), plan in chosen_plans(decision).items():
        launched = [
            (_("How the default was launched, {nodes} × {ppn} ranks (launch {number}):"), DEFAULT),
            (
                _("How the chosen setting was launched, {nodes} × {ppn} ranks (launch {number}):"),
                as_measured(plan.launch),
            ),
        ]
        for sentence, setting in launched if plan.launch else launched[:1]:
            row = _done(study.launches, nodes, ppn, setting)
            if row is not None:
                found.append((sentence.format(nodes=nodes, ppn=ppn, number=row.id), row.command))
    return found


def _done(rows: Sequence[LaunchRow], nodes: int, ppn: int, setting: Setting) -> LaunchRow | None:
    wanted = (nodes, ppn, setting, "done")
    return next((row for row in rows if (row.nodes, row.ppn, row.setting, row.status) == wanted), None)


def provenance(study: StudyData, decision: Decision) -> Pairs:
    return _known(
        (_("study"), f"{study.name}, {study.id}"),
        (_("created"), study.created),
        (_("method"), decision.method),
        (_("statistic"), _("{statistic} of a launch's repetitions").format(statistic=_statistic(decision))),
        ("Unisono", unisono.__version__),
    )
