"""Runs one launch: starts it, checks where its ranks are, measures what the task asks, stores every sample at once.

What goes wrong is recorded and never stops the study. When a sample hangs or crashes the launch, its settings are
tried one by one in fresh launches until the guilty one is known; that one is not asked again.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from unisono.cmdline.command import Command, command
from unisono.cmdline.placement import check
from unisono.core.errors import LaunchError
from unisono.core.language import N_
from unisono.core.vocabulary import DEFAULT, USUAL, Case, Condition, Sample, Setting, call_part, launch_part
from unisono.launch.failure import is_lost, is_shared
from unisono.machine.description import Machine
from unisono.machine.limits import outside_sentence, over_quota
from unisono.measure.limits import bytes_a_core
from unisono.measure.protocol import parse_limits
from unisono.measure.session import Session, Timing
from unisono.measure.steady import Steady
from unisono.measure.succession import Succession
from unisono.parameters.spelling import call_as_launch, call_words, sweep_words
from unisono.study.config import Measure
from unisono.study.data import Refusal
from unisono.study.ours import Ours
from unisono.study.store import Statistics, Store

_LOSSES = 2
"""Launches in a row that lost a node while they measured, after which the node is taken to be gone."""
_LIMITS = (1 << 20, 4 << 20, 16 << 20)
"""Up to how many bytes at a time the speed of copying is measured: the first that the messages of a study reach. Longer
ones take as long as all else of a short study."""
_STARTUP_TRIES = 2
"""A launch setting that fails to start this often is given up: the first failure may be the system's."""


STOPPED = N_("Stopped on {nodes} x {ppn} ranks, where no setting can be launched: {reason}.")


@dataclass(frozen=True, slots=True)
class Item:
    """The settings to be compared for one (case, message size): measured in turn, in one go."""

    case: Case
    size: int
    settings: tuple[Setting, ...]
    condition: Condition = USUAL


@dataclass(frozen=True, slots=True)
class Task:
    """One launch: its launch-scope setting and what to measure in it."""

    setting: Setting
    nodes: int
    ppn: int
    round: int
    items: tuple[Item, ...]

    @property
    def samples(self) -> int:
        return sum(len(item.settings) for item in self.items)


class Runner(Protocol):
    """What a search needs: the real engine, or a replay of a recorded study."""

    def run(self, task: Task) -> None: ...

    def exhausted(self) -> bool:
        """Whether the budget of this run of the driver is spent."""
        ...

    def spent(self) -> float:
        """The share of that budget that is spent; 0 where there is none."""
        ...

    def samples(self) -> list[Sample]:
        """Everything measured so far, by this run of the driver and by those before."""
        ...

    def given_up(self) -> set[tuple[str, Setting]]:
        """(collective, setting) pairs that are not asked again: wrong, hung, crashed or declined."""
        ...

    def declined(self) -> list[Refusal]:
        """What does not apply to a message size: nothing to wait for where no other size was measured either."""
        ...


class _StoppedError(Exception):
    """A launch ended while `item` was measured (None: before anything was)."""

    def __init__(self, error: LaunchError, item: Item | None) -> None:
        super().__init__(str(error))
        self.error = error
        self.item = item


class Engine:
    """Launches the native benchmark for real and stores what it says."""

    def __init__(
        self,
        store: Store,
        machine: Machine,
        program: Path,
        *,
        scope: Sequence[str],
        measure: Measure,
        oversubscribe: bool,
        ours: Ours | None = None,
        budget: float | None = None,
        limits: bool = True,
        steady: Steady | None = None,
        progress: Callable[[Task, int], None] = lambda task, samples: None,
        waiting: Callable[[float, float], None] = lambda state, usual: None,
    ) -> None:
        """`ours` goes into every launch. `budget`: seconds after which no further sample is begun; `limits`: whether
        what the machine can do is measured, too; `steady`: how long to wait for its usual state. `progress` hears of
        every item as it is stored, `waiting` when the machine is not in its usual state (see measure.steady)."""
        self._store = store
        self._machine = machine
        self._program = program
        self._scope = tuple(scope)
        self._measure = measure
        self._oversubscribe = oversubscribe
        self._ours = ours
        self._progress = progress
        self._succession = Succession(machine)
        self._start = time.monotonic()
        self._budget = math.inf if budget is None else max(budget, 1e-9)
        self._steady = steady or Steady(waiting=waiting)
        self._limits_known = {shape: _most_copied(value) for shape, value in store.limits().items()}
        self._limits_wanted = limits
        samples = store.samples()
        self._done = {(s.round, s.case, s.size, s.setting, s.condition) for s in samples}
        self._guilty = {(s.case.collective, s.setting) for s in samples if s.correct is False}
        self._guilty |= {(r.collective, r.setting) for r in store.refusals() if not _only_here(r.reason)}
        self._failed_starts: dict[tuple[Setting, int, int], int] = {}
        self._worked = {(s.case.nodes, s.case.ppn) for s in samples}
        self._lost: Counter[tuple[int, int]] = Counter()
        self._unreachable: dict[tuple[int, int], str] = {}
        for launch in store.launches():
            if is_lost(launch.reason) or (launch.nodes, launch.ppn) not in self._worked:
                continue  # the nodes or the job may have been to blame, and may be others now
            if launch.status in ("refused", "wrong placement"):
                self._count_failed_start(launch.setting, launch.nodes, launch.ppn)

    def exhausted(self) -> bool:
        return self.spent() > 1

    def spent(self) -> float:
        return (time.monotonic() - self._start) / self._budget

    @property
    def stopped(self) -> Mapping[tuple[int, int], str]:
        """(nodes, ppn) of which no launch could succeed any more, whatever its setting, and why."""
        return self._unreachable

    def conclude(self) -> None:
        """Keep with the study what a reader must know about how the machine behaved."""
        for (nodes, ppn), reason in self._unreachable.items():
            self._store.add_note(STOPPED.format(nodes=nodes, ppn=ppn, reason=reason))
        said = self._steady.sentence()
        if said is not None:
            self._store.add_note(said)

    def samples(self) -> list[Sample]:
        return self._store.samples()

    def given_up(self) -> set[tuple[str, Setting]]:
        return set(self._guilty)

    def declined(self) -> list[Refusal]:
        return [refusal for refusal in self._store.refusals() if refusal.reason.startswith("use:")]

    def run(self, task: Task) -> None:
        """Measures all of the task that can be, in as many launches as its failures make necessary."""
        # An interrupted round is continued, not repeated.
        todo = [
            _without(item, lambda i, s: (task.round, i.case, i.size, s, i.condition) in self._done)
            for item in task.items
        ]
        while (todo := self._still_wanted(todo)) and not self.exhausted():
            starts = self._failed_starts.get((task.setting, task.nodes, task.ppn), 0)
            if starts >= _STARTUP_TRIES or (task.nodes, task.ppn) in self._unreachable:
                return
            try:
                self._launch(replace(task, items=tuple(todo)))
                return
            except _StoppedError as stop:
                todo = self._after(stop, task, todo)

    def _after(self, stop: _StoppedError, task: Task, todo: list[Item]) -> list[Item]:
        """What is left to do after a launch died: the items behind the fatal one, and that one setting by setting."""
        if self._blameless(stop.error.reason, task):
            self._lost[task.nodes, task.ppn] += 1
            if stop.item is None or self._lost[task.nodes, task.ppn] >= _LOSSES:
                self._unreachable[task.nodes, task.ppn] = stop.error.reason
            return todo
        if stop.item is None:
            failed = self._count_failed_start(task.setting, task.nodes, task.ppn)
            if task.setting == DEFAULT and failed >= _STARTUP_TRIES and (task.nodes, task.ppn) not in self._worked:
                # The program or the MPI is at fault, and other settings would be blamed for it, one after another.
                self._unreachable[task.nodes, task.ppn] = stop.error.reason
            return todo
        at = todo.index(stop.item)
        alone = [replace(stop.item, settings=(setting,)) for setting in stop.item.settings]
        return (alone if len(alone) > 1 else []) + todo[at + 1 :]

    def _blameless(self, reason: str, task: Task) -> bool:
        """Whether the nodes or the job are to blame for a launch that failed, and not its setting. Where launches have
        worked, only a lost node is beyond doubt."""
        return is_lost(reason) or (is_shared(reason) and (task.nodes, task.ppn) not in self._worked)

    def _still_wanted(self, items: Sequence[Item]) -> list[Item]:
        kept = (_without(item, lambda i, s: (i.case.collective, s) in self._guilty) for item in items)
        return [item for item in kept if item.settings]

    def _count_failed_start(self, setting: Setting, nodes: int, ppn: int) -> int:
        key = (setting, nodes, ppn)
        self._failed_starts[key] = self._failed_starts.get(key, 0) + 1
        return self._failed_starts[key]

    # -- one launch ----------------------------------------------------------------------------------------------

    def _launch(self, task: Task) -> None:
        line = launch_command(self._machine, task, self._scope, [str(self._program)], self._oversubscribe)
        line = self._ours.into(line, self._machine) if self._ours is not None else line
        assert line.placement is not None  # launch_command places by the machine's description
        crowded = line.placement.oversubscribed or over_quota(self._machine, task.ppn)
        launch = self._store.begin_launch(task.setting, task.nodes, task.ppn, task.round, line.shell, crowded)
        began = time.monotonic()
        status, reason, stderr, hello = "interrupted", "the driver stopped", "", None
        item: Item | None = None
        try:
            with self._succession.launch(line, task.nodes) as session:
                hello = session.hello.document
                wrong = check(line.placement, hello["where"])
                if wrong is not None:
                    used = {int(cpu) for where in hello["where"] for cpu in where["cpus"]}
                    advice = outside_sentence(self._machine, used)
                    raise LaunchError("wrong placement", f"{wrong}; {advice}" if advice else wrong)
                self._limits(session, task, launch)
                warm: set[str] = set()
                for item in task.items:
                    if self.exhausted():
                        break
                    if item.case.collective not in warm:
                        warm.add(item.case.collective)
                        self._warm_up(session, task, item.case.collective)
                    self._item(session, task, launch, item)
            status, reason = "done", ""
            self._worked.add((task.nodes, task.ppn))
            self._lost[task.nodes, task.ppn] = 0
        except LaunchError as error:
            status, reason, stderr = error.status, error.reason, error.stderr
            if item is not None and len(item.settings) == 1 and not self._blameless(reason, task):
                self._guilty.add((item.case.collective, item.settings[0]))
                self._store.add_refusal(launch, item.case.collective, item.size, item.settings[0], str(error))
            raise _StoppedError(error, item) from error
        finally:
            self._store.end_launch(launch, status, reason, time.monotonic() - began, stderr, hello)

    def _warm_up(self, session: Session, task: Task, collective: str) -> None:
        sizes = {item.size for item in task.items if item.case.collective == collective}
        session.warm_up(collective, sizes, deadline=self._measure.timeout)

    def _limits(self, session: Session, task: Task, launch: int) -> None:
        """The physical limits, once per (nodes, ppn) of a study, in one of its launches; again for longer messages."""
        shape = task.nodes, task.ppn
        copied = max((bytes_a_core(item.case.collective, task.ppn, item.size) for item in task.items), default=0)
        most = next((most for most in _LIMITS if most >= copied), _LIMITS[-1])
        if not self._limits_wanted or self._limits_known.get(shape, 0) >= most:
            return
        limits = session.limits(max_bytes=most)
        self._store.add_limits(task.nodes, task.ppn, launch, limits.document)
        self._limits_known[shape] = most

    def _item(self, session: Session, task: Task, launch: int, item: Item) -> None:
        ids: dict[int, Setting] = {}
        for setting in item.settings:
            words = call_words(call_part(setting, self._scope), item.case.collective, self._machine)
            # Of our own it is the collective's: another collective's "cells" is another setting.
            use = f"{item.case.collective}:{words.use}" if words.use else None
            try:
                ids[session.define(words.prefer, words.variables, use, words.held)] = setting
            except ValueError as error:
                self._guilty.add((item.case.collective, setting))
                reason = N_("use: {error}").format(error=error) if words.use else str(error)
                self._store.add_refusal(launch, item.case.collective, item.size, setting, reason)
        if not ids:
            return
        m = self._measure
        seconds, fewest, most = m.repetitions(item.size)

        def measure() -> list[Timing]:
            return session.measure(
                item.case.collective,
                item.size,
                list(ids),
                seconds=seconds,
                min_reps=fewest,
                max_reps=most,
                condition=item.condition,
                check=True,
                deadline=m.timeout + 4 * seconds * len(ids),
            )

        cores = (task.nodes, task.ppn, task.setting.get("placement"))
        timings, state = self._steady.measured(cores, session.state, measure)
        with self._store.together():
            for timing in timings:
                self._keep(launch, item, ids[timing.id], timing, state)
        self._done.update(
            (task.round, item.case, item.size, ids[t.id], item.condition) for t in timings if t.refused is None
        )
        self._progress(task, len(timings))

    def _keep(self, launch: int, item: Item, setting: Setting, timing: Timing, state: float | None) -> None:
        collective = item.case.collective
        if timing.refused is not None:
            self._store.add_refusal(launch, collective, item.size, setting, timing.refused)
            if not _only_here(timing.refused):
                self._guilty.add((collective, setting))
            return
        if timing.correct is False:
            self._guilty.add((collective, setting))
        self._store.add_sample(
            launch, collective, item.size, setting, _statistics(timing, item, state), timing.raw.tobytes()
        )


def _most_copied(limits: Mapping[str, Any]) -> int:
    """Bytes; 0: to be measured anew. What is unavailable would be again."""
    try:
        known = parse_limits(limits)
    except LaunchError:  # written by hand, or by a later version
        return 0
    return _LIMITS[-1] if known.unavailable else max((rate.bytes for rate in known.copy_rates), default=0)


def _only_here(reason: str) -> bool:
    """Whether a refusal concerns one message size or moment, so that the setting may still be measured elsewhere."""
    return reason.startswith(("memory:", "size:", "use:", "noise:", "deadline:"))


def launch_command(
    machine: Machine, task: Task, scope: Sequence[str], program: Sequence[str], oversubscribe: bool
) -> Command:
    """The mpirun line of a task. A setting's call-scope part is forced at launch when it is not swept inside."""
    if scope:
        # What this MPI does not switch inside a launch, such as the component before 5.0.4, is the launch's own.
        extra, setting = dict(sweep_words(machine)), launch_part(task.setting, scope)
    else:
        # Without sweeping, a task holds one collective under one setting, as in Oracle's guides.
        forced, setting = call_part(task.setting), launch_part(task.setting)
        extra = call_as_launch(forced, task.items[0].case.collective, machine) if forced else {}
    return command(machine, setting, task.nodes, task.ppn, program, oversubscribe=oversubscribe, extra_mca=extra)


def _without(item: Item, drop: Callable[[Item, Setting], bool]) -> Item:
    return replace(item, settings=tuple(s for s in item.settings if not drop(item, s)))


def _statistics(timing: Timing, item: Item, state: float | None) -> Statistics:
    return Statistics(
        repetitions=timing.repetitions,
        discarded=timing.discarded,
        sync=timing.sync,
        minimum=timing.minimum,
        q1=timing.q1,
        median=timing.median,
        q3=timing.q3,
        p95=timing.p95,
        mean=timing.mean,
        trimmed=timing.trimmed,
        correct=timing.correct,
        state=state,
        condition=item.condition.key,
        inside=timing.inside,
    )
