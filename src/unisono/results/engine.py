"""Runs one launch of another benchmark for a study, and keeps what it printed: what study.engine does with ours."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from unisono.cmdline.command import Command
from unisono.core.errors import LaunchError, UserError
from unisono.core.language import N_, _, translated
from unisono.core.sizes import format_size
from unisono.core.vocabulary import DEFAULT, Sample, Setting
from unisono.launch.failure import explain
from unisono.launch.process import run
from unisono.machine.description import Machine
from unisono.machine.limits import over_quota
from unisono.profile.diagnose import library_of
from unisono.results.found import Found
from unisono.results.programs import BENCHMARKS, Benchmark, located, unknown
from unisono.results.study import statistics
from unisono.study.config import Measure, Study
from unisono.study.data import Refusal
from unisono.study.engine import STOPPED, Task, launch_command
from unisono.study.matrix import Matrix
from unisono.study.store import Store

_TRIES = 2
"""A setting whose launches fail this often for a collective is given up."""
_DOUBT = 3
"""Launches that fail before any has worked, after which the default is launched: if it fails, too, no setting is to
blame."""
_START = 60.0
"""Seconds a launch may take beside what it measures."""
_SAMPLE = 10.0
"""Seconds after which IMB ends a sample by itself (-time); OSU has no such end."""


@dataclass(frozen=True, slots=True)
class Foreign:
    """Which benchmark measures, and where its program is."""

    name: str
    program: Path


def line_of(machine: Machine, task: Task, foreign: Foreign, measure: Measure, crowded: bool, sizes: Path) -> Command:
    """The launch of a task; `sizes` is the file that names the message sizes where the benchmark reads one."""
    case = task.items[0].case
    words = BENCHMARKS[foreign.name].words(foreign.program, case, [item.size for item in task.items], measure, machine)
    return launch_command(machine, task, (), words.with_file(sizes), crowded)


def foreign(study: Study, machine: Machine, matrix: Matrix) -> Foreign | None:
    """The other benchmark that is to measure. Raises UserError where it is not here, is of another MPI, or does not
    measure a case."""
    name = study.measure.benchmark
    if name not in BENCHMARKS:
        return None
    if missing := unknown(name, study.cases.collectives):
        raise UserError(
            _("{label} does not measure {collectives}; take them out of the study").format(
                label=BENCHMARKS[name].label, collectives=", ".join(missing)
            )
        )
    _refuse_sizes(matrix, BENCHMARKS[name])
    place = located(name, study.measure.program, study.cases.collectives)
    _refuse_other_mpi(BENCHMARKS[name].file(place, study.cases.collectives[0]), machine)
    return Foreign(name, place)


def _refuse_sizes(matrix: Matrix, benchmark: Benchmark) -> None:
    """Raises UserError for message sizes that it would pass over."""
    for c in matrix.cases:
        if left := sorted(set(c.sizes) - set(benchmark.takes(c.sizes))):
            raise UserError(
                _(
                    "{label} begins at the smallest message size of {case}, {first}, and doubles it each time, "
                    "so it never measures {sizes}; take them out of the study, or measure without --benchmark"
                ).format(
                    label=benchmark.label,
                    case=translated(str(c.case)),
                    first=format_size(min(c.sizes)),
                    sizes=_some(left),
                )
            )


def _refuse_other_mpi(program: Path, machine: Machine) -> None:
    """Raises UserError for a program that this mpirun would start as so many programs of one rank, or not at all."""
    library = library_of(program)
    if machine.mpi is None or library is None or library[0] == machine.mpi.traits.LIBRARY:
        return
    number, file = library
    raise UserError(
        _("{program} uses {library}, which is not of {mpi}: build it with the compiler wrapper of this MPI").format(
            program=program, library=file if file.is_file() else f"libmpi.so.{number}", mpi=machine.mpi.name
        )
    )


def _some(sizes: Sequence[int], most: int = 4) -> str:
    said = [format_size(size) for size in sizes[:most]]
    return ", ".join(said if len(sizes) <= most else [*said, "..."])


class ForeignEngine:
    """A Runner (study.engine) for tasks of one collective under one setting, as the classic search makes them."""

    def __init__(
        self,
        store: Store,
        machine: Machine,
        foreign: Foreign,
        *,
        measure: Measure,
        oversubscribe: bool,
        budget: float | None,
        progress: Callable[[Task, int], None],
    ) -> None:
        self._store, self._machine, self._foreign = store, machine, foreign
        self._measure, self._oversubscribe, self._progress = measure, oversubscribe, progress
        self._start = time.monotonic()
        self._budget = math.inf if budget is None else max(budget, 1e-9)
        samples = store.samples()
        self._done = {(s.round, s.case, s.size, s.setting) for s in samples}
        ended = {launch.id for launch in store.launches() if launch.status == "done"}
        self._over = {(s.round, s.case, s.setting) for s in samples if s.launch in ended}
        """What a launch of an earlier run of the driver measured; what it left out, another would leave out, too."""
        self._failed: dict[tuple[str, int, int, Setting], int] = {}
        self._worked: set[tuple[int, int]] = set()
        self._barren: dict[tuple[int, int], int] = {}
        self._stopped: dict[tuple[int, int], str] = {}

    def exhausted(self) -> bool:
        return self.spent() > 1

    def spent(self) -> float:
        return (time.monotonic() - self._start) / self._budget

    @property
    def stopped(self) -> Mapping[tuple[int, int], str]:
        """(nodes, ppn) on which not even the default can be launched, and why."""
        return self._stopped

    def conclude(self) -> None:
        """What a reader must know about where the numbers come from."""
        for (nodes, ppn), reason in self._stopped.items():
            self._store.add_note(STOPPED.format(nodes=nodes, ppn=ppn, reason=reason))
        self._store.add_note(
            N_(
                "Measured with {label}, started by Unisono: results were not checked, ranks were started together and "
                "averaged in that benchmark's own way."
            ).format(label=BENCHMARKS[self._foreign.name].label)
        )

    def samples(self) -> list[Sample]:
        return self._store.samples()

    def given_up(self) -> set[tuple[str, Setting]]:
        return {(key[0], key[3]) for key, count in self._failed.items() if count >= _TRIES}

    def declined(self) -> list[Refusal]:
        return []

    def run(self, task: Task) -> None:
        """One launch; what fails is recorded, and the study goes on, unless the default does not work either."""
        ranks = task.nodes, task.ppn
        if ranks in self._stopped or not self._launch(task) or ranks in self._worked:
            return
        self._barren[ranks] = self._barren.get(ranks, 0) + 1
        if self._barren[ranks] >= _DOUBT and (reason := self._launch(replace(task, setting=DEFAULT))):
            self._stopped[ranks] = reason

    def _launch(self, task: Task) -> str:
        """Why it failed; "" where it did not, or where nothing is left to do."""
        todo = tuple(i for i in task.items if (task.round, i.case, i.size, task.setting) not in self._done)
        key = (task.items[0].case.collective, task.nodes, task.ppn, task.setting)
        over = (task.round, task.items[0].case, task.setting) in self._over
        if not todo or over or self._failed.get(key, 0) >= _TRIES:
            return ""
        task = replace(task, items=todo)
        sizes = self._store.path.parent / f"message-sizes-{key[0]}.txt"
        sizes.write_text("".join(f"{item.size}\n" for item in todo))
        line = line_of(self._machine, task, self._foreign, self._measure, self._oversubscribe, sizes)
        assert line.placement is not None  # launch_command places by the machine's description
        crowded = line.placement.oversubscribed or over_quota(self._machine, task.ppn)
        launch = self._store.begin_launch(task.setting, task.nodes, task.ppn, task.round, line.shell, crowded)
        began = time.monotonic()
        status, reason, stderr = "interrupted", "the driver stopped", ""
        try:
            done = run(line.argv, line.env, _START + (_SAMPLE + self._measure.timeout) * len(todo))
            stderr = done.stderr
            found: Found = BENCHMARKS[self._foreign.name].reader.read(done.stdout)
            self._keep(launch, task, found)
            if done.exit_code != 0:
                raise explain(done.exit_code, done.stderr)
            if len(self._missing(task)) == len(todo):
                raise LaunchError("protocol", self._silent(task, done.stdout))
            status, reason = "done", ""
            self._worked.add((task.nodes, task.ppn))
            self._note(task, found)
        except LaunchError as error:
            status, reason, stderr = error.status, error.reason, error.stderr or stderr
            self._failed[key] = self._failed.get(key, 0) + 1
        finally:
            sizes.unlink(missing_ok=True)
            self._store.end_launch(launch, status, reason, time.monotonic() - began, stderr)
        return reason

    def _keep(self, launch: int, task: Task, found: Found) -> None:
        wanted = {(item.case.collective, item.size): item for item in task.items}
        ranks = task.nodes * task.ppn
        with self._store.together():
            for row in found.rows:
                item = wanted.get((row.collective, row.size))
                if item is None or row.ranks not in (None, ranks):
                    continue
                self._store.add_sample(
                    launch, row.collective, row.size, task.setting, statistics(row.seconds, row.repetitions), b""
                )
                self._done.add((task.round, item.case, item.size, task.setting))
                self._progress(task, 1)

    def _missing(self, task: Task) -> list[int]:
        return [i.size for i in task.items if (task.round, i.case, i.size, task.setting) not in self._done]

    def _note(self, task: Task, found: Found) -> None:
        """What its numbers mean, and which of those that were asked for are not there."""
        for note in found.notes:
            self._store.add_note(note)
        if missing := self._missing(task):
            self._store.add_note(
                N_("{program} was asked for {case} at {sizes}, and printed no time of it.").format(
                    program=self._file(task).name, case=task.items[0].case, sizes=_some(missing)
                )
            )

    def _file(self, task: Task) -> Path:
        return BENCHMARKS[self._foreign.name].file(self._foreign.program, task.items[0].case.collective)

    def _silent(self, task: Task, said: str) -> str:
        first = next((line.strip() for line in said.splitlines() if line.strip()), "")
        return N_("{program} printed no table of {collective} with {ranks} ranks; it began with: {said}").format(
            program=self._file(task).name,
            collective=task.items[0].case.collective,
            ranks=task.nodes * task.ppn,
            said=first[:200] or N_("nothing"),
        )
