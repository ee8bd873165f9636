"""From what readers found to a study, with nothing in it that the outputs or the user did not say."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from unisono.core.errors import UserError
from unisono.core.language import N_, _, translated
from unisono.core.quantiles import quantiles
from unisono.core.vocabulary import CALL_SCOPE, DEFAULT, IMPORTED, Case, Setting, launch_part
from unisono.machine.description import Machine, Mpi, Scheduler
from unisono.results.found import Found, Row, Seconds
from unisono.study.config import About, Cases, Method, Study
from unisono.study.store import Statistics, Store

_TRIM = 0.1


@dataclass(frozen=True, slots=True)
class Source:
    """One file, and what the user said of it."""

    path: Path
    found: Found
    setting: Setting = DEFAULT
    """What the file was measured with; none: the default."""


def unknown_machine(mpi: tuple[str, str] | None) -> Machine:
    """A machine of which nothing is known but perhaps its MPI."""
    return Machine(
        name="unknown",
        source=IMPORTED,
        cpu_model="",
        architecture="",
        cpus=[],
        sockets=0,
        numa_per_socket=0,
        smt=0,
        memory_bytes=0,
        memory_available_bytes=0,
        nodes=[],
        mpi=Mpi(family=mpi[0], version=mpi[1], mpirun="") if mpi else None,
        scheduler=Scheduler(name="none"),
    )


def make_study(
    path: Path, sources: Sequence[Source], *, machine: Machine | None, nodes: int | None, ppn: int | None, name: str
) -> Store:
    """A new study file with everything the sources hold.

    `nodes` and `ppn` say where the ranks were, for outputs that do not. Raises UserError where neither does, where the
    sources name several MPIs or hold times that cannot be compared, and as `Store.create` does.
    """
    placed = [(source, row, _case(source.path, row, nodes, ppn)) for source in sources for row in source.found.rows]
    _refuse_several_kinds(placed)
    versions = {source.found.mpi for source in sources if source.found.mpi}
    if len(versions) > 1:
        known = ", ".join(" ".join(version) for version in sorted(versions))
        raise UserError(_("the files are of several MPIs ({known}); make one study of each").format(known=known))
    cases = [case for _source, _row, case in placed]
    study = Study(
        study=About(name=name, source=IMPORTED),
        cases=Cases(
            collectives=sorted({case.collective for case in cases}),
            nodes=sorted({case.nodes for case in cases}),
            ppn=sorted({case.ppn for case in cases}),
        ),
        method=Method(name="race"),
    )
    store = Store.create(
        path,
        name=name,
        config=study.model_dump_json(by_alias=True),
        method=IMPORTED,
        machine=machine or unknown_machine(next(iter(versions), None)),
        meta={
            "margin": study.method.margin,
            "confidence": study.method.confidence,
            "weights": {},
            "scope": list(CALL_SCOPE),
            "imported": [str(source.path) for source in sources],
        },
    )
    try:
        with store.together():
            _fill(store, placed)
            for note in _notes(sources, machine):
                store.add_note(note)
    except BaseException:
        store.close()
        raise
    return store


def _refuse_several_kinds(placed: Sequence[tuple[Source, Row, Case]]) -> None:
    """Raises UserError where times of one case are of different things: the faster one would only look faster."""
    first: dict[Case, tuple[Path, str]] = {}
    for source, row, case in placed:
        path, kind = first.setdefault(case, (source.path, row.kind))
        if row.kind and kind and row.kind != kind:
            raise UserError(
                _(
                    "{case}: {path} has {kind}, but {other} has {another}, and these cannot be compared; import "
                    "outputs that were made with the same options (OSU: -f, -T, -d)"
                ).format(case=translated(str(case)), path=path, kind=kind, other=source.path, another=row.kind)
            )


def _case(path: Path, row: Row, nodes: int | None, ppn: int | None) -> Case:
    ranks = row.ranks
    nodes = row.nodes or nodes
    if nodes and ranks and ranks % nodes == 0 and (not ppn or row.nodes or nodes * ppn == ranks):
        return Case(row.collective, nodes, ranks // nodes)
    if ppn and ranks and not nodes and ranks % ppn == 0:
        return Case(row.collective, ranks // ppn, ppn)
    if nodes and ppn and not ranks:
        return Case(row.collective, nodes, ppn)
    if ranks and (nodes or ppn):
        raise UserError(
            _("{path}: has {ranks} ranks, but --nodes and --ppn give another number; correct them").format(
                path=path, ranks=ranks
            )
        )
    if ranks:
        raise UserError(
            _("{path}: has {ranks} ranks, but does not say on how many nodes; add --nodes N").format(
                path=path, ranks=ranks
            )
        )
    raise UserError(
        _("{path}: does not say how many ranks it was measured with; add --nodes N --ppn N").format(path=path)
    )


def _fill(store: Store, placed: Sequence[tuple[Source, Row, Case]]) -> None:
    """One launch for the ranks of each run of a file; a row that is there twice is of another launch."""
    launches: dict[tuple[int, str, int, int, int, Setting], int] = {}
    seen: dict[tuple[int, str, Case, int, Setting], int] = defaultdict(int)
    rounds: dict[tuple[int, int, Setting], int] = defaultdict(int)
    for source, row, case in placed:
        setting = source.setting | row.setting
        part = launch_part(setting)
        again = seen[id(source), row.run, case, row.size, setting]
        seen[id(source), row.run, case, row.size, setting] += 1
        # Files differ in their setting, jobs hold many: only a file's own setting makes it another launch.
        key = (id(source), row.run, case.nodes, case.ppn, again, part)
        if key not in launches:
            rounds[case.nodes, case.ppn, source.setting] += 1
            launches[key] = store.begin_launch(
                part,
                case.nodes,
                case.ppn,
                rounds[case.nodes, case.ppn, source.setting],
                f"{source.found.reader}: {source.path}",
                False,
            )
            store.end_launch(launches[key], "done", "", 0.0)
        store.add_sample(
            launches[key],
            case.collective,
            row.size,
            setting,
            statistics(row.seconds, row.repetitions),
            np.rint(row.seconds * 1e9).astype("<i8").tobytes() if len(row.seconds) > 1 else b"",
        )


def statistics(seconds: Seconds, repetitions: int) -> Statistics:
    """Of every repetition, or of their one average."""
    ordered = np.sort(seconds)
    cut = int(len(ordered) * _TRIM)
    q1, median, q3, p95 = quantiles(ordered, (0.25, 0.5, 0.75, 0.95))
    return Statistics(
        repetitions=repetitions,
        discarded=0,
        sync=IMPORTED,
        minimum=float(ordered[0]),
        q1=q1,
        median=median,
        q3=q3,
        p95=p95,
        mean=float(ordered.mean()),
        trimmed=float(ordered[cut : len(ordered) - cut].mean()),
        correct=None,
    )


def _notes(sources: Sequence[Source], machine: Machine | None) -> list[str]:
    notes = [
        N_(
            "Imported from other benchmarks, not measured by Unisono: results were not checked. How the ranks started "
            "together, how long launches took and whether each rank had a CPU of its own is not known."
        )
    ]
    if machine is None:
        notes.append(N_("The machine is unknown: the files do not describe it, and --machine did not name one."))
    if any(not source.setting and source.found.reader != "pico" for source in sources):
        notes.append(N_("Files without a setting were taken as measured with the default setting."))
    return [*notes, *dict.fromkeys(note for source in sources for note in source.found.notes)]
