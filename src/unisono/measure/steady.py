"""Measures while the machine is in its usual state, and waits or repeats when it is not.

The host of a virtual machine moves its processors about: for seconds, two cores that reached each other in 50 ns need
250 ns, and every collective takes up to four times as long. Settings measured on either side of such a move differ by
more than any tuning can give. So the time of an exchange by flags, which no MPI has a part in, is taken before and
after every measurement; one that was not made in the usual state is made again. On a machine that stands still this
costs a millisecond a measurement and changes nothing.
"""

from __future__ import annotations

import time
from collections import defaultdict, deque
from collections.abc import Callable, Hashable
from typing import TypeVar

from unisono.core.language import N_

T = TypeVar("T")
Probe = Callable[[], float | None]

_TOLERANCE = 1.8
"""States within this factor are one: probes of one state differ by up to 1.5, of two by 4 (seen on a 2-core VM)."""
_FIRST_PROBES = 40
_FIRST_PAUSE = 0.005
"""Seconds between these probes, a quarter of a second all together: longer than what interrupts a core for a moment."""
_PAUSE = 0.1
_USUAL = 0.25
"""The usual state: this quantile of all probes. Below the median, since a hindrance slows, yet no rare lucky state."""
_REMEMBERED = 400
_FRESH = 0.02
"""Seconds for which the state found after one measurement is also the state before the next."""


class Steady:
    """Knows the usual state for every `key` (nodes, ppn and placement: which cores exchange).

    Waiting is bounded: `patience` seconds for one measurement, and over all measurements `share` of the time spent
    otherwise since this object was made, but at least twice `patience`. What is measured after that is measured in
    whatever state there is. `waiting` hears the state and the usual one, in ns, whenever a wait begins.
    """

    def __init__(
        self,
        *,
        patience: float = 45.0,
        share: float = 1.0,
        waiting: Callable[[float, float], None] = lambda state, usual: None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._patience = patience
        self._share = share
        self._waiting = waiting
        self._clock = clock
        self._sleep = sleep
        self._began = clock()
        self._seen: dict[Hashable, deque[float]] = defaultdict(lambda: deque(maxlen=_REMEMBERED))
        self._last: tuple[Hashable, float, float] | None = None
        """Key, time and state of the latest probe."""
        self.waited = 0.0
        """Seconds spent waiting and on measurements that were thrown away."""
        self.unsteady = 0
        """Measurements that were kept although the machine was not in its usual state."""
        self.measurements = 0
        self._kept: dict[Hashable, tuple[float, float]] = {}
        """The least and the greatest state that counted as usual while something was kept."""

    def measured(self, key: Hashable, probe: Probe, work: Callable[[], T]) -> tuple[T, float | None]:
        """What `work` returns, done in the usual state if that can be had, and the state it was done in (None when the
        probe knows none)."""
        before = self._fresh(key)
        if before is None and (before := self._probed(key, probe)) is None:
            return work(), None
        if len(self._seen[key]) < _FIRST_PROBES:
            self._acquaint(key, probe)
        self.measurements += 1
        start = self._clock()
        while True:
            before = self._waited_for(key, probe, start)
            began = self._clock()
            result = work()
            after = self._probed(key, probe)
            state = max(before, after if after is not None else before)
            if self._usual(key, state):
                least, greatest = self._kept.get(key, (state, state))
                self._kept[key] = min(least, state), max(greatest, state)
                return result, state
            if self._out_of_patience(start):
                self.unsteady += 1
                return result, state
            self.waited += self._clock() - began

    def _waited_for(self, key: Hashable, probe: Probe, start: float) -> float:
        """The state once it is the usual one, or when patience ends."""
        first = self._clock()
        said = False
        while True:
            state = self._fresh(key)
            state = self._probed(key, probe) if state is None else state
            assert state is not None  # it was known a moment ago, and the ranks are the same
            if self._usual(key, state) or self._out_of_patience(start):
                self.waited += self._clock() - first if said else 0.0
                return state
            if not said:
                self._waiting(state, self.usual(key))
                said = True
            self._sleep(_PAUSE)

    def _out_of_patience(self, start: float) -> bool:
        now = self._clock()
        otherwise = now - self._began - self.waited
        return now - start > self._patience or self.waited > max(2 * self._patience, self._share * otherwise)

    def _probed(self, key: Hashable, probe: Probe) -> float | None:
        state = probe()
        self._last = None
        if state is not None:
            self._seen[key].append(state)
            self._last = key, self._clock(), state
        return state

    def _fresh(self, key: Hashable) -> float | None:
        """The state as probed a moment ago; None when that was longer ago, or of other cores."""
        if self._last is None or self._last[0] != key or self._clock() - self._last[1] > _FRESH:
            return None
        return self._last[2]

    def _acquaint(self, key: Hashable, probe: Probe) -> None:
        while len(self._seen[key]) < _FIRST_PROBES and self._probed(key, probe) is not None:
            self._sleep(_FIRST_PAUSE)

    def _usual(self, key: Hashable, state: float) -> bool:
        usual = self.usual(key)
        return usual / _TOLERANCE <= state <= usual * _TOLERANCE

    def usual(self, key: Hashable) -> float:
        """Nanoseconds of the state that counts as usual now, from what was seen so far."""
        ordered = sorted(self._seen[key])
        return ordered[int(_USUAL * (len(ordered) - 1))]

    def _moved(self) -> tuple[float, float] | None:
        """Between which states the usual one itself moved, where it moved most; None where it stayed as it was."""
        least, greatest = max(self._kept.values(), key=lambda kept: kept[1] / kept[0], default=(1.0, 1.0))
        return (least, greatest) if greatest > least * _TOLERANCE**2 else None

    def sentence(self) -> str | None:
        """What a reader must know about the machine's moods; None when there were none."""
        moved = self._moved()
        if not self.unsteady and self.waited < 1 and moved is None:
            return None
        said = N_(
            "The machine changed while it was measured: at times its cores took several times as long to reach each "
            "other, as happens when a virtual machine's host moves its processors. {waited:.0f} s went into waiting "
            "for its usual state and repeating; no measurement was kept from another state."
        )
        if self.unsteady:
            said = N_(
                "The machine changed while it was measured: at times its cores took several times as long to reach "
                "each other, as happens when a virtual machine's host moves its processors. {waited:.0f} s went into "
                "waiting for its usual state and repeating; {unsteady} of {measurements} measurements were kept from "
                "another state."
            )
        least, greatest = moved or (0.0, 0.0)
        if moved:
            said = N_(
                "The machine changed while it was measured: at times its cores took several times as long to reach "
                "each other, as happens when a virtual machine's host moves its processors. {waited:.0f} s went into "
                "waiting for its usual state and repeating; {unsteady} of {measurements} measurements were kept from "
                "another state. The usual state itself moved, between {least:.0f} and {greatest:.0f} ns for two cores "
                "to reach each other: settings are compared within a launch or a round, but times of different rounds "
                "are not alike."
            )
        return said.format(
            waited=self.waited,
            unsteady=self.unsteady,
            measurements=self.measurements,
            least=least,
            greatest=greatest,
        )
