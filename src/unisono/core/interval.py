"""An estimate with its confidence interval."""

from __future__ import annotations

from dataclasses import dataclass

_UNKNOWN = 100
"""An end so many times the estimate says no more than infinity does."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A point estimate with its confidence interval, in whatever unit it estimates. Gains are default time / this
    time: above 1 is faster than the default."""

    mid: float
    low: float
    high: float

    @property
    def exact(self) -> bool:
        """Whether there is no interval: the default compared with itself, or a simulation."""
        return self.low == self.mid == self.high

    @property
    def known(self) -> bool:
        """Whether the ends of a gain tell anything: of two launches that differ, they may be a million times apart."""
        return self.high < _UNKNOWN * self.mid
