"""The live view of a study: how far, how long still, and what is being measured."""

from __future__ import annotations

import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Column

from unisono.commands.interrupted import end_where_asked
from unisono.core.language import _, translated
from unisono.study.engine import Task

_QUIET_STEP = 15.0
"""Seconds between two lines where there is no terminal to draw a bar on."""

_WIDE = 100
"""From so many columns on there is room for a long bar beside the words."""


def bar_column(console: Console) -> BarColumn:
    """Short where the terminal is narrow: how long still says more than a bar."""
    return BarColumn(bar_width=24 if console.width >= _WIDE else 10)


def words_column(text: str) -> TextColumn:
    """What the other columns leave, cut at its end. Of a Progress with `expand`, in which those keep their width: rich
    takes from all of them alike where a line is too long, and then the times are the first that nobody can read."""
    return TextColumn(text, table_column=Column(ratio=1, no_wrap=True))


class StudyProgress:
    """A bar with time left on a terminal; a line now and then elsewhere. Use as a context manager.

    The bar follows what is known best: the share of the expected samples, or of the budget when that ends sooner.
    """

    def __init__(self, console: Console, *, samples: int | None, budget: float | None) -> None:
        """`samples`: as many as are expected, where that is known; `budget`: seconds after which measuring ends."""
        self._console = console
        self._samples = samples
        self._budget = budget
        self._measured = 0
        self._start = time.monotonic()
        self._said = self._start
        self._bar = Progress(
            TextColumn("[bold]{task.description}"),
            bar_column(console),
            TaskProgressColumn(),
            TimeElapsedColumn(),
            TextColumn(_("left")),
            TimeRemainingColumn(),
            words_column("[dim]{task.fields[what]}"),
            console=console,
            expand=True,
            disable=not console.is_terminal,
            transient=False,
        )
        self._task = self._bar.add_task(_("Measuring"), total=1.0, what="")

    def plan(self, samples: int) -> None:
        """The search knows by now of so many samples, and may want more."""
        self._samples = max(samples, self._samples or 0)

    def show(self, what: str) -> None:
        """What is being measured now. Raises KeyboardInterrupt where an end was asked for."""
        end_where_asked()
        self._bar.update(self._task, completed=self.share, what=what)

    def add(self, samples: int) -> None:
        """So many more are measured. Raises KeyboardInterrupt where an end was asked for."""
        end_where_asked()
        self._measured += samples
        self._bar.update(self._task, completed=self.share)

    def measured(self, task: Task, samples: int) -> None:
        """Called by the engine after every item."""
        self.add(samples)
        what = _("round {round}: {setting}, {nodes} x {ppn} ranks").format(
            round=task.round, setting=translated(str(task.setting)), nodes=task.nodes, ppn=task.ppn
        )
        self.show(what)
        share = self.share
        now = time.monotonic()
        if not self._console.is_terminal and now - self._said >= _QUIET_STEP:
            self._said = now
            self._console.print(f"{share:4.0%}  {now - self._start:5.0f} s  {what}", markup=False)

    def waiting(self, state: float, usual: float) -> None:
        """The machine is not in its usual state. Raises KeyboardInterrupt where an end was asked for."""
        end_where_asked()
        what = _(
            "waiting for the machine: two cores reach each other in {state:.0f} ns now, usually in {usual:.0f} ns"
        ).format(state=state, usual=usual)
        self._bar.update(self._task, what=what)

    @property
    def share(self) -> float:
        by_samples = self._measured / self._samples if self._samples else 0.0
        by_time = (time.monotonic() - self._start) / self._budget if self._budget else 0.0
        return min(max(by_samples, by_time), 0.99)

    def __enter__(self) -> StudyProgress:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is None:
            self._bar.update(self._task, completed=1.0, what=_("done"))
        self._bar.stop()
