"""Measures a fabric: several launches of one rank a node, in each of which all pairs and all processors are timed.

Each launch draws anew what a launch has by luck (which route its connections take, which processor serves them), so
what is slow in all of them is slow for a reason. The nodes change their ranks from launch to launch: what rank 0 alone
does is no node's fault.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path

from unisono.cmdline.command import command
from unisono.core.errors import LaunchError, UserError
from unisono.core.language import _, translated
from unisono.core.vocabulary import Setting
from unisono.fabric.measured import Fabric, Launch
from unisono.fabric.rounds import Pair, rounds
from unisono.machine.description import Machine, mpi_name
from unisono.measure.protocol import Between
from unisono.measure.session import Session
from unisono.parameters.spelling import require_mpi

Row = tuple[float, float, float, float]

_EXCHANGES, _LARGE = 40, 4
_MESSAGE, _MESSAGE_LEAST, _MESSAGE_MOST = 256 << 10, 64 << 10, 4 << 20
_MESSAGE_SECONDS = 4e-3
"""A large message is as large as takes the quickest pair no longer than this."""
_ALONE_SHARE = 0.6
"""Of a launch's time that pairs one by one may take; else all pairs of a round are measured at once only."""
_TOGETHER = 1
"""Launches in which pairs are also measured all at once: by that none is judged that can be judged alone."""
_DEADLINE = 60.0
_FAILED_MOST = 2


def require_nodes(machine: Machine) -> None:
    """Raises UserError for one node only."""
    if len(machine.nodes) < 2:
        raise UserError(
            _(
                "--fabric compares nodes, and one is known here; name more with --hosts n0:1,n1:1,n2:1, or run inside "
                "of a job with several nodes"
            )
        )


class Campaign:
    """The launches of one fabric. `fabric` is what is there by now, also after Ctrl-C."""

    def __init__(
        self,
        machine: Machine,
        program: Path,
        budget: float,
        progress: Callable[[float, str], None] = lambda share, what: None,
    ) -> None:
        """`budget`: seconds for everything; `progress` hears which share of it is done, and what comes next."""
        self._machine = machine
        self._program = program
        self._budget = budget
        self._progress = progress
        self._began = time.monotonic()
        self._names: list[str] = []
        self._rounds = rounds(len(machine.nodes))
        self._message = 0
        self._alone = True
        self._shared = False
        self._launches: list[Launch] = []
        self._longest = 0.0
        self._created = datetime.now(timezone.utc).isoformat(timespec="seconds")
        self.failures: list[str] = []

    @property
    def fabric(self) -> Fabric | None:
        """None before the first launch has ended."""
        if not self._launches:
            return None
        mpi = require_mpi(self._machine)
        return Fabric(
            created=self._created,
            machine=self._machine.name,
            mpi=f"{mpi_name(mpi.family)} {mpi.version}",
            nodes=self._names,
            pairs=[pair for pairs in self._rounds for pair in pairs],
            message=self._message,
            shared_processors=self._shared,
            launches=self._launches,
        )

    def time_left(self) -> bool:
        """Whether another launch would end in time."""
        return time.monotonic() - self._began + self._longest <= self._budget

    def launch(self, number: int, wanted: int) -> bool:
        """One launch more, the one of that number of as many as are wanted; False when it failed and others had not.

        Raises UserError where none can succeed.
        """
        began = time.monotonic()
        self._share = (number, wanted)
        try:
            self._launches.append(self._measured(number))
        except LaunchError as error:
            self.failures.append(translated(error.reason))
            if not self._launches or len(self.failures) >= _FAILED_MOST:
                raise UserError(
                    _("the launch over {count} nodes failed: {reason}").format(
                        count=len(self._machine.nodes), reason=translated(error.reason)
                    )
                ) from error
            return False
        finally:
            self._longest = max(self._longest, time.monotonic() - began)
        return True

    def _measured(self, number: int) -> Launch:
        nodes = self._machine.nodes
        turn = number % len(nodes)
        machine = self._machine.model_copy(update={"nodes": nodes[turn:] + nodes[:turn]})
        made = command(machine, Setting({}), len(nodes), 1, [str(self._program)])
        self._say(0.0, _("starting"))
        with Session(made.argv, made.env) as session:
            order = self._order(session, turn)
            self._shared = session.hello.oversubscribed
            if not self._message:
                self._choose_message(session)
            self._say(0.1, _("processors"))
            compute = session.compute()
            alone = self._pairs(session, order, together=False) if self._alone else []
            together = self._pairs(session, order, together=True) if number < _TOGETHER or not self._alone else []
        return Launch(
            alone=alone,
            together=together,
            compute=[(c.shortest, c.median, c.processor) for c in (compute[order[i]] for i in range(len(nodes)))],
        )

    def _order(self, session: Session, turn: int) -> list[int]:
        """The number that each node, numbered as in the first launch, has in this one."""
        count = len(self._machine.nodes)
        if session.hello.nodes != count:
            raise UserError(
                _("{count} nodes were asked for, and the launch found {found}; is a host named twice?").format(
                    count=count, found=session.hello.nodes
                )
            )
        here = [""] * count
        for place in session.hello.where:
            here[place.node] = place.host
        if not self._names:
            self._names = here if len(set(here)) == count else [node.host for node in self._machine.nodes]
        if sorted(here) == sorted(self._names):
            return [here.index(name) for name in self._names]
        return [(i - turn) % count for i in range(count)]

    def _choose_message(self, session: Session) -> None:
        first = self._between(session, self._rounds[0], _MESSAGE, together=True)
        quickest = min(row.large for row in first)
        size = _MESSAGE
        while size < _MESSAGE_MOST and quickest * 2 * size / _MESSAGE <= _MESSAGE_SECONDS:
            size *= 2
        while size > _MESSAGE_LEAST and quickest * size / _MESSAGE > _MESSAGE_SECONDS:
            size //= 2
        self._message = size
        began = time.monotonic()
        some = self._rounds[0][: max(1, len(self._rounds[0]) // 8)]
        self._between(session, some, size, together=False)
        each = (time.monotonic() - began) / len(some)
        pairs = sum(len(pairs) for pairs in self._rounds)
        self._alone = each * pairs <= _ALONE_SHARE * self._budget / self._share[1]

    def _pairs(self, session: Session, order: list[int], *, together: bool) -> list[Row]:
        """The rows of all pairs. Rounds are measured in another order in each launch, so that none is always first."""
        rows: dict[Pair, Row] = {}
        for done, pairs in enumerate(random.Random(len(self._launches)).sample(self._rounds, len(self._rounds))):
            self._say((0.2 if not together else 0.7) + 0.3 * done / len(self._rounds), _said(together))
            here = [(order[a], order[b]) for a, b in pairs]
            found = self._between(session, here, self._message, together=together)
            for pair, row in zip(pairs, found, strict=True):
                rows[pair] = (row.latency, row.latency_median, row.large, row.large_median)
        return [rows[pair] for pairs in self._rounds for pair in pairs]

    @staticmethod
    def _between(session: Session, pairs: list[Pair], size: int, *, together: bool) -> list[Between]:
        return session.between(
            pairs, size=size, exchanges=_EXCHANGES, large=_LARGE, together=together, deadline=_DEADLINE
        )

    def _say(self, part: float, what: str) -> None:
        number, wanted = self._share
        self._progress(
            min((number + part) / wanted, 1.0),
            _("launch {number} of {wanted}: {what}").format(number=number + 1, wanted=wanted, what=what),
        )


def _said(together: bool) -> str:
    return _("all pairs at once") if together else _("pairs one by one")
