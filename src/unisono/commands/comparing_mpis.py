"""`unisono compare --mpis`: every MPI of this machine measured in turns, and which is the fastest where."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from unisono.commands import comparing
from unisono.commands.console import err
from unisono.commands.interrupted import terminated_like_interrupted
from unisono.commands.leftovers import remove_leftovers
from unisono.commands.tune import measured, study_asked
from unisono.core.errors import UserError
from unisono.core.language import _
from unisono.inventory.installed import installed
from unisono.machine.description import Mpi, mpi_name
from unisono.study.asked import budget as budget_of
from unisono.study.config import Study
from unisono.study.data import StudyData
from unisono.study.files import Outputs
from unisono.study.store import Store
from unisono.study.wishes import Wishes

TURNS = 3
"""Of every MPI: what else the machine does then reaches all of them alike, instead of the last one."""
_ALL = "all"
_OUT = Path("unisono-mpis")
_PAGE = "comparison.html"


@dataclass(frozen=True, slots=True)
class _Entrant:
    name: str
    """ "Open MPI 4.1.4"."""
    wishes: Wishes


def compare_mpis(mpis: str, asked: comparing.Wishes) -> int:
    """Studies of the MPIs given by their launchers, or of all that are installed, in a directory each, measured in
    turns within the budget; then compared. Exit status 0; raises UserError."""
    directory = asked.output or _OUT
    wishes = _tuning(asked, directory)
    study = study_asked(wishes)  # what is wrong with it is wrong for every MPI
    entrants = _entrants([] if mpis == _ALL else _launchers(mpis), wishes)
    if asked.resume:
        remove_leftovers()
    with terminated_like_interrupted():
        done = _measure(entrants, _budget(study, asked.budget, len(entrants)))
    if len(done) < 2:
        raise UserError(_("fewer than two MPIs could be measured, so there is nothing to compare"))
    comparison = comparing.compare_studies([_data(each) for each in done], output=directory / _PAGE, json=asked.json)
    untold = sum(found.over_next is None for found in comparison.fastest)
    if untold and not asked.json:
        err().print(
            _(
                "{count} of the {all} rows above show no difference between the MPIs; more launches may show "
                "one: repeat the same command with --resume and another --budget"
            ).format(count=untold, all=len(comparison.fastest)),
            markup=False,
        )
    return 0


def _data(entrant: _Entrant) -> StudyData:
    with Store.open(Outputs(entrant.wishes.output).study) as store:
        return store.data()


def _budget(study: Study, said: str | None, mpis: int) -> float | None:
    """Seconds for all MPIs together: what was said, else what the study takes for each."""
    if said is not None:
        return budget_of(study, said)
    return None if study.method.budget is None else study.method.budget * mpis


def _launchers(words: str) -> list[str]:
    launchers = [word.strip() for word in words.split(",") if word.strip()]
    if len(launchers) < 2:
        raise UserError(
            _("--mpis {given!r}: name two launchers or more, as in A/mpirun,B/mpiexec, or all").format(given=words[:80])
        )
    return launchers


def _tuning(asked: comparing.Wishes, directory: Path) -> Wishes:
    """What every MPI's study shares."""
    return Wishes(
        study=asked.study,
        output=directory,
        budget=asked.budget,
        method=None,
        resume=asked.resume,
        force=False,
        dry_run=False,
        machine=None,
        collectives=asked.collectives,
        nodes=None,
        ppn=asked.ppn,
        sizes=asked.sizes,
        oversubscribe=False,
        verify=False,
        json=False,
        mpirun=None,
        mpicc=None,
        hosts=asked.hosts,
    )


def _entrants(given: Sequence[str], wishes: Wishes) -> list[_Entrant]:
    found = installed(given)
    for refused in found.refused:
        err().print(_("Left out: {reason}").format(reason=refused), style="yellow", markup=False)
    if len(found.mpis) < 2:
        raise UserError(
            _(
                "{count} MPI found on PATH that can be measured: name the launchers, as in --mpis A/mpirun,B/mpiexec"
            ).format(count=len(found.mpis))
        )
    names = [f"{mpi_name(mpi.family)} {mpi.version}" for mpi in found.mpis]
    return [
        _Entrant(
            name,
            replace(
                wishes,
                mpirun=mpi.mpirun,
                mpicc=mpi.mpicc,
                output=wishes.output / _folder(name, mpi, names.count(name) > 1),
            ),
        )
        for name, mpi in zip(names, found.mpis, strict=True)
    ]


def _folder(name: str, mpi: Mpi, ambiguous: bool) -> str:
    """ "open-mpi-4.1.4", with the installation's place where two have one version."""
    whole = f"{name} {mpi.root or mpi.mpirun}" if ambiguous else name
    return re.sub(r"[^a-z0-9.]+", "-", whole.lower()).strip("-")


def _measure(entrants: Sequence[_Entrant], budget: float | None) -> list[_Entrant]:
    """Measures all in turns; those whose search has come to its end leave their time to the others. Returns those that
    have a tuning; why another has none is said."""
    racing, done = list(entrants), []
    left = budget
    turns = 1 if budget is None else TURNS
    for turn in range(turns):
        last = turn + 1 == turns
        waiting = list(racing)
        while waiting:
            share = None if left is None else left / (len(waiting) + len(racing) * (turns - turn - 1))
            entrant = waiting.pop(0)
            err().print(
                _("{mpi}, turn {turn} of {turns}").format(mpi=entrant.name, turn=turn + 1, turns=turns), style="bold"
            )
            begun = time.monotonic()
            try:
                settled = _turn(entrant, share, begins=turn == 0, ends=last)
            except UserError as error:
                err().print(_("Left out: {reason}").format(reason=error), style="yellow", markup=False)
                racing.remove(entrant)
                continue
            if left is not None and share is not None:
                left -= min(share, time.monotonic() - begun)
            if settled or last:
                done.append(entrant)
                racing.remove(entrant)
    return [entrant for entrant in entrants if entrant in done]


def _turn(entrant: _Entrant, seconds: float | None, *, begins: bool, ends: bool) -> bool:
    """Whether the search has come to its end. What was decided is written then, and in the last turn."""
    wishes = replace(entrant.wishes, budget=None if seconds is None else f"{max(seconds, 1.0):.0f}s")
    if not begins:
        wishes = replace(wishes, resume=True, study=None, method=None, nodes=None, ppn=None, collectives=[], sizes=[])
    with measured(wishes, silent=not begins) as found:
        if found.settled or ends:
            found.finish(verify=False)
        return found.settled
