"""Launches that start together and are measured one after another.

Most of what a launch of a few ranks costs is its start and its end, and most of that is waiting (mpirun and its daemon
for each other; two ranks of Open MPI 5 on two cores: 0.47 s alone, 0.2 s each where four start at once). Nothing is
measured meanwhile: once all have begun, they sleep until their turn comes, and what was measured sleeps until the next
ones start.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from unisono.cmdline.command import Command
from unisono.core.errors import LaunchError
from unisono.launch.process import Process
from unisono.measure.session import Session
from unisono.mpi.launchers import hydra, srun
from unisono.mpi.launchers.launcher import Launcher

_TOGETHER = 4
"""Launches at once. (More of them gain little: 0.15 to 0.19 s each where six start.)"""
_RANKS = 64
"""Of all of them together: the start of many ranks keeps the processors busy by itself, and each takes memory."""


_IN_A_JOB = ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_ENCLOSING_ID", "PJM_JOBID")
"""Variables that batch systems set in their jobs."""


def together(starter: Launcher, nodes: int, ranks: int, environment: Mapping[str, str] = os.environ) -> int:
    """How many launches of so many ranks may exist at once.

    One over several nodes: network adapters have room for a number of processes, which a launch may need for itself.
    One where the batch system starts the ranks, by srun or for Hydra in its jobs: it may let a launch wait for another.
    """
    by_batch_system = starter.KIND == srun.KIND or (
        starter.KIND == hydra.KIND and any(name in environment for name in _IN_A_JOB)
    )
    return 1 if nodes > 1 or by_batch_system else max(1, min(_TOGETHER, _RANKS // ranks))


class Ahead:
    """Starts launches before their turn. `close` ends all that are left."""

    def __init__(self) -> None:
        self._ready: list[tuple[Command, Session]] = []
        self._measured: list[Session] = []
        self._possible = True

    @contextmanager
    def launch(self, line: Command, next_lines: Sequence[Command]) -> Iterator[Session]:
        """The launch of a command line. Where it does not run yet it starts, and with it those that come next; it ends
        with the next start, or at once where none comes next.

        Raises LaunchError as Session does. Nobody is blamed for a start beside others: it is tried again alone, and
        where that works launches start alone from then on.
        """
        beside = next_lines if self._possible else ()
        session = self._take(line) or self._start(line, beside)
        try:
            yield session
        except BaseException:
            session.kill()
            raise
        if self._ready or (beside and self._possible):
            self._measured.append(session)
        else:
            session.close()

    def close(self) -> None:
        """Ends every launch that is left, whether it was measured or not."""
        sessions = self._left()
        self._measured, self._ready = [], []
        for session in sessions:
            session.leave()
        for session in sessions:
            session.close()

    def _take(self, line: Command) -> Session | None:
        for number, (ready, session) in enumerate(self._ready):
            if ready == line:
                del self._ready[number]
                return session
        return None

    def _start(self, line: Command, beside: Sequence[Command]) -> Session:
        ending = self._left()
        for session in ending:
            session.leave()
        starting: list[tuple[Command, Process]] = []
        try:
            for one in (line, *beside):
                starting.append((one, Process(one.argv, one.env)))
            self.close()
            while starting:
                one, process = starting.pop(0)
                try:
                    self._ready.append((one, Session(one.argv, one.env, process=process)))
                except LaunchError:
                    if not (beside or ending):
                        raise
        except BaseException:
            for _, process in starting:
                process.kill()
            self._kill()
            raise
        started = self._take(line)
        if started is None:
            self.close()
            started = Session(line.argv, line.env)
            self._possible = False
        return started

    def _left(self) -> list[Session]:
        return [*self._measured, *(session for _, session in self._ready)]

    def _kill(self) -> None:
        for session in self._left():
            session.kill()
        self._measured, self._ready = [], []
