"""`unisono tune`: from a bare machine to a proven tuning, in one command."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from unisono.cmdline.hosts import parse_hosts
from unisono.commands import planning
from unisono.commands.as_it_is import described
from unisono.commands.busy import warn_where_busy
from unisono.commands.console import err, out, print_json
from unisono.commands.finish import Outcome, finish
from unisono.commands.interrupted import terminated_like_interrupted
from unisono.commands.leftovers import remove_leftovers
from unisono.commands.progress import StudyProgress
from unisono.commands.remembered import compiler, launcher, started
from unisono.core.errors import UserError
from unisono.core.language import _, translated
from unisono.inventory.describe import load
from unisono.inventory.scheduler import seconds_left
from unisono.library.native import bench_program
from unisono.machine.description import Machine
from unisono.machine.limits import quota_sentence
from unisono.mpi.launchers import step
from unisono.results.engine import ForeignEngine
from unisono.results.engine import foreign as foreign_of
from unisono.search.planned import estimate as estimate_of
from unisono.search.planned import within_job
from unisono.search.search import Hooks, search, searched
from unisono.study.asked import budget as budget_of
from unisono.study.asked import find, narrowed, scope
from unisono.study.begin import begin, refuse_another, refuse_unmeasured, resume, stored_candidates, stored_study
from unisono.study.config import Study
from unisono.study.data import ENDED
from unisono.study.files import Outputs
from unisono.study.matrix import Matrix, expand
from unisono.study.ours import Ours, prepare
from unisono.study.store import Store
from unisono.study.wishes import Wishes, node_counts
from unisono.tuning.asked import level_of


def tune(wishes: Wishes) -> int:
    """Exit status 0; UserError and KeyboardInterrupt are left to the caller."""
    if wishes.machine is not None and not wishes.dry_run:
        raise UserError(_("--machine plans for another machine; add --dry-run, or leave it out to measure this one"))
    for option, value in (
        ("--mpirun", wishes.mpirun),
        ("--mpicc", wishes.mpicc),
        ("--hosts", wishes.hosts),
        ("--launcher", wishes.launcher),
    ):
        if wishes.machine is not None and value is not None:
            raise UserError(
                _("{option} {value!r}: is not used with --machine, whose file describes the MPI and the nodes").format(
                    option=option, value=value[:80]
                )
            )
    if wishes.submit is not None:
        from unisono.commands.submitting import submit

        return submit(wishes)
    if wishes.submit_options is not None:
        raise UserError(
            _("--submit-options needs --submit with the name of the batch system, for example --submit slurm")
        )
    if wishes.time is not None:
        raise UserError(
            _("--time limits the time of each submitted job, so it needs --submit, for example --submit slurm")
        )
    if wishes.dry_run:
        machine = _machine(wishes, _continued(wishes))
        study = _study(wishes, _continued(wishes) is not None)
        return planning.show(study or _stored(Outputs(wishes.output).study), machine, json=wishes.json)
    if wishes.resume:
        remove_leftovers()
    with terminated_like_interrupted(), measured(wishes) as found:
        outcome = found.finish(verify=wishes.verify)
    if wishes.json:
        print_json(outcome.as_dict())
    else:
        outcome.print(out(), said=found.said)
    return 0


@dataclass(frozen=True, slots=True)
class Measured:
    """A study in which what there was time for is measured; its file is open."""

    store: Store
    study: Study
    machine: Machine
    program: Path
    """unisono-bench."""
    files: Outputs
    settled: bool
    """Whether the search came to its end; False when the budget ended it first."""
    said: tuple[str, ...] = ()
    """Notes of the study that were printed before measuring."""

    def finish(self, *, verify: bool) -> Outcome:
        """Decides, writes the tuning in every form, and proves it if asked to."""
        return finish(
            self.store, self.study, self.machine, self.program, self.files, settled=self.settled, verify=verify
        )


@contextmanager
def measured(wishes: Wishes, *, silent: bool = False) -> Iterator[Measured]:
    """Begins the study, or continues it with `wishes.resume`, and measures. Raises UserError where that cannot be."""
    files = Outputs(wishes.output)
    continued = _continued(wishes)
    machine = _machine(wishes, continued)
    study = _study(wishes, continued is not None)
    held = _held(files.study) if continued else None
    asked = study or (held[0] if held else None)
    assert asked is not None  # either the command line or the file holds one
    # What is wrong with it is said before anything is built.
    if continued is not None:
        refuse_another(continued, machine, asked=study, force=wishes.force)
    foreign_of(asked, machine, expand(asked, machine, scope=scope(asked)))
    program = _program(machine)
    begun_without = held is not None and held[1] is None
    ours = None if begun_without else _ours(asked, machine, program, held[1] if held else None)
    with _opened(files.study, study, machine, wishes, continued is not None, ours) as store:
        asked = stored_study(store)
        matrix = _matrix(asked, store.machine, ours)
        if not silent:
            _say(err(), store, asked, matrix, continued is not None)
        said = () if silent else tuple(matrix.notes)
        budget = _budget(study or asked, wishes)
        settled = _measure(budget, store, asked, machine, matrix, program, ours)
        yield Measured(store, asked, machine, program, files, settled, said)


def _budget(study: Study, wishes: Wishes) -> float | None:
    asked = budget_of(study, wishes.budget)
    left = seconds_left(os.environ)
    budget = within_job(asked, left, proof=wishes.verify)
    if left is not None and budget is not None and budget != asked:
        err().print(
            _("This job ends in {left:.0f} s: measuring for {budget:.0f} s").format(left=left, budget=budget),
            markup=False,
        )
    return budget


def _continued(wishes: Wishes) -> Path | None:
    """The study's file, if there is one to continue."""
    path = Outputs(wishes.output).study
    return path if wishes.resume and path.exists() else None


def _machine(wishes: Wishes, continued: Path | None) -> Machine:
    """A study is continued with the MPI it began with, unless another is named."""
    if wishes.machine is not None:
        return load(wishes.machine)
    kept = None
    if continued is not None:
        with Store.open(continued) as store:
            refuse_unmeasured(continued, store)
            kept = store.machine.mpi
    mpirun = launcher(wishes.mpirun, kept)
    mpicc = compiler(wishes.mpicc, mpirun, kept)
    hosts = parse_hosts(wishes.hosts) if wishes.hosts is not None else None
    machine = described(mpirun, mpicc, hosts)
    if wishes.launcher is not None:
        return started(machine, step.parse(wishes.launcher))
    return started(machine, kept.launcher if kept is not None else [])


def _study(wishes: Wishes, continuing: bool) -> Study | None:
    """What the command line asks for; None when it names nothing and there is a study to continue."""
    given = (wishes.study, wishes.method, wishes.nodes, wishes.ppn, wishes.benchmark, wishes.benchmark_program)
    named = any(word is not None for word in (*given, wishes.reproducible)) or bool(wishes.collectives or wishes.sizes)
    return None if continuing and not named else study_asked(wishes)


def study_asked(wishes: Wishes) -> Study:
    """The study that the command line names, narrowed to what its options say. Raises UserError."""
    return narrowed(
        find("quick" if wishes.study is None else wishes.study),
        method=wishes.method,
        budget=wishes.budget,
        collectives=wishes.collectives,
        nodes=node_counts(wishes.nodes),
        ppn=wishes.ppn,
        sizes=wishes.sizes,
        oversubscribe=wishes.oversubscribe,
        benchmark=wishes.benchmark,
        program=wishes.benchmark_program,
        reproducible=None if wishes.reproducible is None else level_of(wishes.reproducible),
    )


def _stored(path: Path) -> Study:
    return _held(path)[0]


def _held(path: Path) -> tuple[Study, str | None]:
    """The study in a file, and what our library offered when it began."""
    with Store.open(path) as store:
        return stored_study(store), stored_candidates(store)


def _ours(study: Study, machine: Machine, program: Path, stored: str | None) -> Ours | None:
    """Our library with what it offers; a study can do without, unless it began with it."""
    try:
        return prepare(study, machine, program, stored=stored, progress=_build_progress)
    except UserError as error:
        if stored is not None:
            raise
        err().print(
            _("Our own collectives are left out of this study: {error}").format(error=error),
            style="yellow",
            markup=False,
        )
        return None


def _matrix(study: Study, machine: Machine, ours: Ours | None) -> Matrix:
    return expand(study, machine, scope=scope(study), ours=ours.candidates if ours else None)


def _opened(
    path: Path, study: Study | None, machine: Machine, wishes: Wishes, continuing: bool, ours: Ours | None
) -> Store:
    if continuing:
        return resume(path, machine, asked=study, force=wishes.force)
    assert study is not None
    return begin(path, study, machine, _matrix(study, machine, ours), ours)


def _say(console: Console, store: Store, study: Study, matrix: Matrix, continuing: bool) -> None:
    machine = store.machine
    mpi = machine.mpi
    console.print(
        (
            _("Continuing {study} on {machine}: {cpu}, {cores} cores, {mpi}")
            if continuing
            else _("Study {study} on {machine}: {cpu}, {cores} cores, {mpi}")
        ).format(
            study=f"[bold]{study.study.name}[/bold]",
            machine=machine.name,
            cpu=machine.cpu_model,
            cores=machine.cores,
            mpi=f"{mpi.name} {mpi.version}" if mpi else _("no MPI"),
        )
    )
    if mpi is not None:
        said = _("  its mpirun is {mpirun}").format(mpirun=mpi.mpirun)
        if mpi.launcher:
            said += _("; ranks are started by {launcher}").format(launcher=shlex.join(mpi.launcher))
        console.print(said, style="dim", markup=False, soft_wrap=True)
    for note in matrix.notes:
        console.print(f"  {translated(note)}", style="dim", markup=False)
    if (quota := quota_sentence(machine)) is not None:
        console.print(_("CPU quota: {quota}.").format(quota=quota), style="yellow", markup=False)
    warn_where_busy(len(machine.cpus))


def _program(machine: Machine) -> Path:
    mpi = machine.mpi
    if mpi is None or mpi.mpicc is None:
        raise UserError(
            _("there is no mpicc beside this mpirun; name one with --mpicc, so that the benchmark can be built")
        )
    return bench_program(mpi.mpicc, _build_progress)


def _build_progress(sentence: str) -> None:
    err().print(sentence, markup=False)


def _measure(
    budget: float | None,
    store: Store,
    study: Study,
    machine: Machine,
    matrix: Matrix,
    program: Path,
    ours: Ours | None,
) -> bool:
    """Whether the search came to its end; False when the budget ended it first."""
    estimate = estimate_of(study, matrix)
    foreign = foreign_of(study, machine, matrix)
    with StudyProgress(err(), samples=estimate.samples, budget=budget) as progress:
        if foreign is not None:
            engine = ForeignEngine(
                store,
                machine,
                foreign,
                measure=study.measure,
                oversubscribe=study.cases.oversubscribe,
                budget=budget,
                progress=progress.measured,
            )
            settled = searched(engine, study, matrix, Hooks())
            store.set_meta(ENDED, settled or not (engine.exhausted() or engine.stopped))
            engine.conclude()
            return settled
        hooks = Hooks(progress.measured, progress.plan, progress.waiting)
        return search(store, study, matrix, machine, program, budget, hooks, ours)
