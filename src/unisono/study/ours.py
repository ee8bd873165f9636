"""Our own algorithms as candidates of a study: which there are is asked of the library itself, on the study's ranks."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from pydantic import ValidationError

from unisono.cmdline.command import Command, command
from unisono.cmdline.preload import launcher_for, launcher_of, with_variables
from unisono.core.errors import LaunchError, UserError
from unisono.core.language import _
from unisono.core.toml import explain_validation
from unisono.core.vocabulary import DEFAULT, REPRODUCIBLE_VARIABLE, UNISONO, Case, Setting
from unisono.library.recorder import recorder
from unisono.machine.description import Machine
from unisono.measure.session import OwnAlgorithm, Session
from unisono.parameters.availability import available_values
from unisono.parameters.folding import fold
from unisono.parameters.spelling import require_mpi, sweep_words
from unisono.study.config import Study
from unisono.study.rows import CANDIDATES

Ranks = tuple[int, int, str | None]
"""Nodes, ranks a node, and where they are: a `placement`, DEFAULT_PLACES, or None where that does not matter."""

Candidates = Mapping[Ranks, Mapping[str, tuple[OwnAlgorithm, ...]]]
"""Collective -> what can serve it on these ranks."""

DEFAULT_PLACES = ""
"""Where mpirun puts ranks by itself."""

PREFIX = f"{UNISONO}/"
"""Begins the name of one of ours among a study's algorithms."""

_OFF = {"UNISONO_RULES": "", "UNISONO_FORCE": "", "UNISONO_PROFILE": "", REPRODUCIBLE_VARIABLE: ""}
"""What the user may have set for programs, and must not change what is measured."""


@dataclass(frozen=True, slots=True)
class Ours:
    """The library that goes into every launch of a study, and what it offers."""

    library: Path
    candidates: Candidates
    reproducible: str | None = None
    """One of REPRODUCIBLE, for every launch."""

    def into(self, line: Command, machine: Machine) -> Command:
        """The launch with the library in its ranks, which leaves every call to the MPI until it is told otherwise; but
        for reductions that are to be reproducible."""
        return preloaded(line, self.library, machine, self.reproducible)


def preloaded(line: Command, library: Path, machine: Machine | None = None, reproducible: str | None = None) -> Command:
    """mpirun's command line with a library in the ranks."""
    variables = {name: value for name, value in _OFF.items() if os.environ.get(name)}
    variables |= {REPRODUCIBLE_VARIABLE: reproducible} if reproducible else {}
    launcher = launcher_for(require_mpi(machine)) if machine is not None else launcher_of(line.argv)
    added = with_variables(line.argv, launcher, library, variables, {**os.environ, **line.env})
    return replace(line, argv=added.argv, env={**line.env, **added.env})


def wants_library(study: Study) -> bool:
    """Whether a study compares what only our library can switch call by call: components and our own algorithms. Or
    asks of it that reductions are reproducible.

    The classic procedure, which switches nothing inside a launch, never compares such.
    """
    if study.method.reproducible:
        return True
    if study.method.name == "classic":
        return False
    return bool(study.parameters.get("coll")) or any(
        name.startswith(PREFIX) for name in study.parameters.get("algorithm", ())
    )


def prepare(
    study: Study,
    machine: Machine,
    program: Path,
    *,
    stored: str | None = None,
    progress: Callable[[str], None] | None = None,
) -> Ours | None:
    """The library for a study and what it offers; None for a study without. `stored` is `as_text` of the study when it
    began: a study that is continued keeps its candidates.

    Raises UserError when the library cannot be built or asked.
    """
    if not wants_library(study):
        return None
    library = recorder(require_mpi(machine).mpicc, progress)
    candidates = from_text(stored) if stored is not None else ask(study, machine, program, library)
    return Ours(library, candidates, study.method.reproducible)


def ask(study: Study, machine: Machine, program: Path, library: Path) -> Candidates:
    """One launch for every (nodes, ppn), on machines with several domains for every place of the ranks in the study.
    Ranks that cannot be launched offer nothing: the study will say why. Raises UserError when none can be."""
    found: dict[Ranks, Mapping[str, tuple[OwnAlgorithm, ...]]] = {}
    failed: LaunchError | UserError | None = None
    for nodes, ppn, places in groups(study, machine):
        try:
            line = command(
                machine,
                Setting({"placement": places}) if places else DEFAULT,
                nodes,
                ppn,
                [str(program)],
                oversubscribe=study.cases.oversubscribe,
                extra_mca=sweep_words(machine),
            )
            line = preloaded(line, library, machine, study.method.reproducible)
            with Session(line.argv, line.env) as session:
                found[nodes, ppn, places] = by_collective(session.algorithms())
        except (LaunchError, UserError) as error:
            failed = error
    if failed is not None and not found:
        raise UserError(_("the library could not be asked what it offers: {failed}").format(failed=failed)) from failed
    return found


def groups(study: Study, machine: Machine) -> list[Ranks]:
    """The ranks of a study that this machine can have and that may be offered different algorithms."""
    all_of_them = (
        (nodes, machine.cores if ppn == "cores" else ppn) for nodes in study.cases.nodes for ppn in study.cases.ppn
    )
    fits = len(machine.cpus) if not study.cases.oversubscribe else 1 << 30
    return [
        (n, p, places)
        for n, p in dict.fromkeys(all_of_them)
        if n <= len(machine.nodes) and p <= fits and n * p > 1
        for places in _places(study, machine, n, p)
    ]


def _places(study: Study, machine: Machine, nodes: int, ppn: int) -> list[str | None]:
    """Which domains the library sees depends on where ranks are bound, where a node has several."""
    values = study.parameters.get("placement", [])
    if not machine.has_domains or not values:
        return [None]
    if "all" in values or "available" in values:
        values = [*values, *available_values("placement", machine, None)]
    asked = [Setting({"placement": value}) for value in values if value not in ("all", "available")]
    kept, _ = fold([DEFAULT, *asked], machine, nodes, ppn)
    return [setting.get("placement", DEFAULT_PLACES) for setting in kept]


def offered(candidates: Candidates, case: Case, setting: Setting) -> tuple[OwnAlgorithm, ...]:
    """What can serve a case where a setting puts its ranks."""
    for places in (setting.get("placement", DEFAULT_PLACES), None):
        if (listed := candidates.get((case.nodes, case.ppn, places))) is not None:
            return listed.get(case.collective, ())
    return ()


def offered_anywhere(candidates: Candidates, case: Case) -> list[OwnAlgorithm]:
    """What can serve a case, wherever its ranks are."""
    found = {
        one.name: one
        for (nodes, ppn, _), listed in candidates.items()
        if (nodes, ppn) == (case.nodes, case.ppn)
        for one in listed.get(case.collective, ())
    }
    return list(found.values())


def by_collective(found: Iterable[OwnAlgorithm]) -> dict[str, tuple[OwnAlgorithm, ...]]:
    listed: dict[str, list[OwnAlgorithm]] = {}
    for one in found:
        listed.setdefault(one.collective, []).append(one)
    return {collective: tuple(these) for collective, these in listed.items()}


def as_text(candidates: Candidates) -> str:
    """For keeping with the study."""
    rows = [
        {"nodes": nodes, "ppn": ppn, **({"places": places} if places is not None else {}), **asdict(one)}
        for (nodes, ppn, places), listed in candidates.items()
        for these in listed.values()
        for one in these
    ]
    return json.dumps(rows)


def from_text(text: str) -> Candidates:
    """Raises UserError for a text that `as_text` does not write."""
    found: dict[Ranks, list[OwnAlgorithm]] = {}
    try:
        rows = CANDIDATES.validate_json(text)
    except ValidationError as error:
        raise UserError(explain_validation(_("the study's list of our algorithms is damaged"), error)) from error
    for row in rows:
        one = OwnAlgorithm(row.collective, row.name, row.segment, row.meaning, row.reference)
        found.setdefault((row.nodes, row.ppn, row.places), []).append(one)
    return {ranks: by_collective(these) for ranks, these in found.items()}
