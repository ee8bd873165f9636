"""What a search asks for, and of whom: launches, and what is measured in each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from unisono.cmdline.command import Command, command
from unisono.core.vocabulary import USUAL, Case, Condition, Sample, Setting, call_part, launch_part
from unisono.machine.description import Machine
from unisono.parameters.spelling import call_as_launch, sweep_words
from unisono.study.data import Refusal


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

    def expect(self, tasks: Sequence[Task]) -> None:
        """These are run next, in this order, unless they turn out not to be wanted; none: nothing more is."""
        ...

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
