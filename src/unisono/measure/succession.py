"""Launches one after another, of which each ends while the next one starts."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from unisono.cmdline.command import Command
from unisono.machine.description import Machine
from unisono.measure.session import Session


class Succession:
    """Two ranks take 0.09 s to start and 0.07 s to end, on two quiet cores. Nothing is measured before the last
    launch has ended. One thread at a time may use it."""

    def __init__(self, machine: Machine) -> None:
        self._waits = machine.mpi is None or machine.mpi.starter.WAITS
        self._ending: threading.Thread | None = None

    @contextmanager
    def launch(self, line: Command, nodes: int) -> Iterator[Session]:
        """A launch on so many nodes. Over several the last one ends before it starts: network adapters have room for a
        number of processes, which it may need for itself. Raises LaunchError as Session does."""
        if nodes > 1 or self._waits:
            self._wait()
        try:
            session = Session(line.argv, line.env)
        finally:
            self._wait()
        try:
            yield session
        except BaseException:
            session.kill()
            raise
        self._ending = threading.Thread(target=session.close)
        self._ending.start()

    def _wait(self) -> None:
        if self._ending is not None:
            self._ending.join()
            self._ending = None
