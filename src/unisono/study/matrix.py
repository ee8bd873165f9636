"""From a study file and a machine to what there is to measure: cases, message sizes, settings."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

from unisono.cmdline import left_out
from unisono.core import sums
from unisono.core.errors import UserError
from unisono.core.language import N_, _
from unisono.core.sizes import format_size
from unisono.core.vocabulary import (
    CALL_SCOPE,
    DEFAULT,
    INTEL,
    PERSISTENT,
    REDUCTIONS,
    UNISONO,
    USUAL,
    Case,
    Condition,
    Level,
    Setting,
    call_part,
    is_ours,
    launch_part,
    of_libnbc,
)
from unisono.machine.description import Machine, mpi_name
from unisono.measure.protocol import OwnAlgorithm
from unisono.parameters import catalogue
from unisono.parameters.availability import available_values
from unisono.parameters.defaults import default_component
from unisono.parameters.folding import fold
from unisono.parameters.known import require_known
from unisono.parameters.spelling import require_mpi, whose_algorithms
from unisono.parameters.values import require_value
from unisono.study.config import Study, ready_made_names
from unisono.study.memory import largest_size
from unisono.study.ours import PREFIX, Candidates, offered, offered_anywhere

_EVERYTHING = ("all", "available")
_COMBINATIONS_MOST = 200_000
"""Settings of a case. At a second each they would take two days."""


@dataclass(frozen=True, slots=True)
class CaseMatrix:
    """One case with its message sizes (ascending) and settings; the default setting is always the first."""

    case: Case
    sizes: tuple[int, ...]
    settings: tuple[Setting, ...]
    condition: Condition = USUAL

    def under(self, launch: Setting, scope: Sequence[str]) -> list[Setting]:
        """The settings measured in a launch with this launch-scope part."""
        return [setting for setting in self.settings if launch_part(setting, scope) == launch]


@dataclass(frozen=True, slots=True)
class Matrix:
    cases: tuple[CaseMatrix, ...]
    notes: tuple[str, ...]
    """What was folded or left out, and why: one sentence each."""
    scope: tuple[str, ...]
    """The call-scope parameters that are switched inside launches."""

    def groups(self) -> list[tuple[int, int]]:
        """The distinct (nodes, ppn), in the study's order: what one launch can serve."""
        return list(dict.fromkeys((c.case.nodes, c.case.ppn) for c in self.cases))

    def group(self, nodes: int, ppn: int) -> list[CaseMatrix]:
        return [c for c in self.cases if (c.case.nodes, c.case.ppn) == (nodes, ppn)]

    @property
    def combinations(self) -> int:
        """(case, message size, setting) triples."""
        return sum(len(c.sizes) * len(c.settings) for c in self.cases)


def expand(
    study: Study, machine: Machine, *, scope: Sequence[str] = CALL_SCOPE, ours: Candidates | None = None
) -> Matrix:
    """Everything the study asks for that has a distinct effect on this machine.

    `scope` is what may be switched inside a launch, () for one launch a setting. `ours` is what
    our own library offers on the study's ranks, None while it was not asked.
    Raises UserError for unknown parameters, more nodes than the machine has, or a ppn that does not fit.
    """
    notes: dict[str, None] = {}
    study = _of_this_mpi(study, machine, notes)
    collectives = _measurable(study.cases.collectives, machine, notes)
    notes.update(dict.fromkeys(left_out.notes(machine)))
    if study.method.reproducible is not None:
        notes.update(dict.fromkeys(_reproducible(study.method.reproducible, study.cases.collectives)))
    _check_parameters(study, machine)
    candidates = ours or {}
    if scope:
        _check_ours(study, candidates if ours else None)
        notes.update(dict.fromkeys(_unbound(study, machine) if ours else ()))
    cases = []
    for nodes, words in itertools.product(study.cases.nodes, study.cases.ppn):
        ppn = machine.cores if words == "cores" else words
        _check_fits(study, machine, nodes, ppn)
        for collective in collectives:
            if nodes * ppn < 2:
                raise UserError(_("one rank has nobody to communicate with: ask for a ppn of 2 or more, or more nodes"))
            case = Case(collective, nodes, ppn)
            listed = offered_anywhere(candidates, case) if scope else []
            wanted = [s for s in _combinations(study, machine, collective, listed) if not _excluded(study, case, s)]
            settings, said = fold([DEFAULT, *wanted], machine, nodes, ppn, collective)
            notes.update(dict.fromkeys(said))
            settings = [s for s in dict.fromkeys(settings) if not is_ours(s) or _can_serve(s, case, candidates)]
            settings = [s for s in settings if _keeps_order(s, study, collective)]
            cases.append(
                CaseMatrix(case, _sizes(study, machine, case, notes), tuple(settings), study.measure.condition)
            )
    return Matrix(tuple(cases), tuple(notes), _switched(scope, machine, cases))


def _measurable(collectives: Sequence[str], machine: Machine, notes: dict[str, None]) -> Sequence[str]:
    """Without persistent ones where this MPI has none that can be used. Raises UserError where no other is left."""
    mpi = machine.mpi
    named = [name for name in collectives if name in PERSISTENT]
    if not named or mpi is None or mpi.has_persistent:
        return collectives
    kept = [name for name in collectives if name not in named]
    if not kept:
        sentence = _("{name} {version} has no persistent collectives that can be measured; {name} {first} has them")
        raise UserError(sentence.format(name=mpi.name, version=mpi.version, first=mpi.traits.PERSISTENT_FROM))
    said = N_(
        "{name} {version} has no persistent collectives that can be measured ({name} {first} has them), so these are "
        "left out: {names}."
    )
    first = mpi.traits.PERSISTENT_FROM
    notes[said.format(name=mpi.name, version=mpi.version, first=first, names=", ".join(named))] = None
    return kept


def _reproducible(level: Level, collectives: Sequence[str]) -> list[str]:
    said = N_(
        "Our library keeps reductions reproducible ({level}) in every launch. Gains of the reductions that it serves "
        "are over what it chooses by itself; the proof compares with the MPI without it, which shows the price."
    )
    if level == "runs":
        said = N_(
            "Our library is in every launch and chooses by rules alone, so that reductions are reproducible ({level})."
        )
    return [said.format(level=level), *filter(None, [sums.not_covered(collectives, level)])]


def _switched(scope: Sequence[str], machine: Machine, cases: Sequence[CaseMatrix]) -> tuple[str, ...]:
    """What of `scope` this MPI switches inside a launch.

    Before Open MPI 5.0.4 that is not the component. But coll=tuned, which comes with every algorithm, needs no
    switching where coll/tuned serves by itself: its algorithms are then swept in launches that prefer nothing.
    """
    if machine.mpi is None:
        return tuple(scope)
    inside = set(machine.mpi.call_scope)
    if "algorithm" in inside and all(_tuned_serves(setting, machine, c.case) for c in cases for setting in c.settings):
        inside.add("coll")
    return tuple(name for name in scope if name in inside)


def _tuned_serves(setting: Setting, machine: Machine, case: Case) -> bool:
    """Whether what the setting says of the component is what happens without saying it."""
    if "coll" not in setting or is_ours(setting) or of_libnbc(setting):
        return True
    return setting["coll"] == "tuned" == default_component(machine, case.nodes, case.ppn, launch_part(setting))


def _unbound(study: Study, machine: Machine) -> list[str]:
    """What to write for our algorithms that need ranks bound within domains, where nothing binds any."""
    mpi = machine.mpi
    if mpi is None or mpi.binds or not machine.has_domains or "placement" in study.parameters:
        return []
    return [
        N_(
            "This node has several domains (sockets, NUMA domains, caches), but {name} by itself does not bind "
            'ranks within one. unisono/domains is therefore compared only with placement = ["block"] in the '
            "study."
        ).format(name=mpi.name)
    ]


def _of_this_mpi(study: Study, machine: Machine, notes: dict[str, None]) -> Study:
    """Without the parameters that only other MPIs have. Studies that come with Unisono have some for every MPI, which
    needs no word."""
    mpi = machine.mpi
    if mpi is None or mpi.family not in catalogue.FAMILIES:
        return study
    here = catalogue.load(mpi.family)
    foreign: list[str] = []
    for family in catalogue.FAMILIES:
        there = catalogue.load(family)
        theirs = [name for name in study.parameters if name not in [*here, *foreign] and name in there]
        sentence = N_("{names} is a parameter of {family}; it is left out with {mpi}.")
        if len(theirs) > 1:
            sentence = N_("{names} are parameters of {family}; they are left out with {mpi}.")
        if theirs and study.study.name not in ready_made_names():
            notes[sentence.format(names=", ".join(theirs), family=mpi_name(family), mpi=mpi.name)] = None
        foreign += theirs
    kept = {name: values for name, values in study.parameters.items() if name not in foreign}
    return study.model_copy(update={"parameters": kept})


def _check_parameters(study: Study, machine: Machine) -> None:
    for name, values in study.parameters.items():
        parameter = require_known(name, machine)
        for value in values:
            if value not in _EVERYTHING:
                require_value(parameter, value)
    for name in itertools.chain(*study.exclude):
        if name not in ("collective", "nodes", "ppn"):
            require_known(name, machine)


def _check_fits(study: Study, machine: Machine, nodes: int, ppn: int) -> None:
    if nodes > len(machine.nodes):
        raise UserError(
            _(
                "the study needs {nodes} nodes, and the number of nodes known here is {count}; run inside a job with "
                "enough nodes, or name them with --hosts"
            ).format(nodes=nodes, count=len(machine.nodes))
        )
    if ppn > len(machine.cpus) and not study.cases.oversubscribe:
        raise UserError(
            _(
                "ppn = {ppn} does not fit on {count} CPUs a node; lower it (--ppn), or allow it with --oversubscribe "
                "(oversubscribe = true under [cases] of a study file)"
            ).format(ppn=ppn, count=len(machine.cpus))
        )


def _sizes(study: Study, machine: Machine, case: Case, notes: dict[str, None]) -> tuple[int, ...]:
    sizes = study.sizes.of(case.collective, case.ppn)
    most = largest_size(case, machine, study.measure.memory)
    kept = [size for size in sizes if size <= most]
    if not kept:
        raise UserError(
            _(
                "{case}: no message size fits in memory: {sizes} is the smallest asked for, {most} the "
                "largest that fits"
            ).format(case=case, sizes=format_size(sizes[0]), most=format_size(most))
        )
    if len(kept) < len(sizes):
        notes[
            f"{case}: sizes above {format_size(kept[-1])} are left out, the node's memory would not hold the buffers."
        ] = None
    return tuple(kept)


def _combinations(study: Study, machine: Machine, collective: str, ours: Sequence[OwnAlgorithm]) -> Iterator[Setting]:
    """Every launch-scope combination, alone and with every component and every algorithm."""
    at_launch = {name: values for name, values in study.parameters.items() if name not in CALL_SCOPE}
    listed = {name: _values(name, values, machine, collective) for name, values in at_launch.items()}
    # "all" of a parameter that cannot be varied here is nothing, and must not take everything else with it.
    known = {name: require_known(name, machine).serves for name in listed}
    chosen = {
        name: values for name, values in listed.items() if values and collective in (known[name] or (collective,))
    }
    inside = [*_call_settings(study, machine, collective), *_own_settings(study, ours)]
    together = len(inside) * prod(map(len, chosen.values()))
    if together > _COMBINATIONS_MOST:
        raise UserError(
            _(
                "parameters: {chosen} together have {together:,} combinations for {collective}; "
                "{combinations_most:,} are the most: take fewer values"
            ).format(
                chosen=", ".join(chosen), together=together, collective=collective, combinations_most=_COMBINATIONS_MOST
            )
        )
    race = study.method.name == "race"
    for values in itertools.product(*chosen.values()):
        launch = Setting(dict(zip(chosen, values, strict=True)))
        for call in inside:
            # What takes a launch for each value is raced under nothing else, or it would take all the time there is.
            if not (race and launch and call.get("coll") == INTEL):
                yield launch | call
    if chosen:
        # What is switched inside a launch is also tried with nothing else changed.
        yield from inside


def _call_settings(study: Study, machine: Machine, collective: str) -> Iterator[Setting]:
    yield DEFAULT
    wanted = study.parameters
    components = _values("coll", wanted.get("coll", []), machine, collective)
    yield from (Setting({"coll": component}) for component in components if component != UNISONO)
    whose = whose_algorithms(collective, require_mpi(machine))
    segments = wanted.get("segment", []) if whose == "tuned" else []
    for algorithm in _values("algorithm", wanted.get("algorithm", []), machine, collective):
        if algorithm.startswith(PREFIX):
            continue
        forced = Setting({"coll": whose or "tuned", "algorithm": algorithm})
        yield forced
        yield from (forced | {"segment": segment} for segment in segments if segment != "0")


def _own_settings(study: Study, ours: Sequence[OwnAlgorithm]) -> Iterator[Setting]:
    """Our own algorithms: all with coll = "unisono" or "all", else those the study names; with the study's segments
    where they have any."""
    named = {name.removeprefix(PREFIX) for name in study.parameters.get("algorithm", ()) if name.startswith(PREFIX)}
    every = any(value in (*_EVERYTHING, UNISONO) for value in study.parameters.get("coll", ()))
    for one in ours:
        if every or one.name in named:
            use = Setting({"coll": UNISONO, "algorithm": one.name})
            yield use
            segments = study.parameters.get("segment", ()) if one.segment else ()
            yield from (use | {"segment": each} for each in segments if each not in ("0", str(one.segment)))


def _can_serve(setting: Setting, case: Case, candidates: Candidates) -> bool:
    """Whether one of our algorithms was offered where the setting puts the ranks."""
    return any(one.name == setting["algorithm"] for one in offered(candidates, case, setting))


def _keeps_order(setting: Setting, study: Study, collective: str) -> bool:
    """Whether a setting may serve where reductions are to be reproducible: ours that keep the order, which are all that
    the library offers then; components and algorithms of the MPI only where one launch is as the other."""
    level, call = study.method.reproducible, setting.only(*CALL_SCOPE)
    if level is None or collective not in REDUCTIONS or not call or is_ours(call):
        return True
    return level == "runs" and call.get("coll") != "adapt"


def _check_ours(study: Study, candidates: Candidates | None) -> None:
    """Raises UserError for one of our algorithms that nobody knows."""
    wanted = [name for name in study.parameters.get("algorithm", ()) if name.startswith(PREFIX)]
    if not wanted or candidates is None:
        return
    known = {one.name for group in candidates.values() for listed in group.values() for one in listed}
    for name in wanted:
        if name.removeprefix(PREFIX) not in known:
            raise UserError(
                _("algorithm: our library has no {name!r} that can serve these ranks; it has {known}").format(
                    name=name, known=", ".join(PREFIX + each for each in sorted(known)) or "none"
                )
            )


def _values(name: str, values: Sequence[str], machine: Machine, collective: str) -> list[str]:
    out: dict[str, None] = {}
    for value in values:
        if value in _EVERYTHING:
            out.update(dict.fromkeys(available_values(name, machine, collective)))
        else:
            out[value] = None
    return list(out)


def _excluded(study: Study, case: Case, setting: Setting) -> bool:
    has = {**setting, "collective": case.collective, "nodes": str(case.nodes), "ppn": str(case.ppn)}
    return any(all(has.get(name) in values for name, values in rule.items()) for rule in study.exclude)


def split(setting: Setting, scope: Sequence[str]) -> tuple[Setting, Setting]:
    """(launch-scope part, call-scope part)."""
    return launch_part(setting, scope), call_part(setting, scope)
