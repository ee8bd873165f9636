"""How shares, times and amounts of data are written for people: in tables and sentences of the terminal, in stories."""

from __future__ import annotations

import math

from unisono.core.interval import Interval
from unisono.core.language import _

_NAMED = 0.0005
"""A share below this is more than nothing, and no figure says it."""


def percent(share: float) -> str:
    """0.398 -> "40 %", 0.064 -> "6.4 %", 0.07 -> "7 %", 0.0004 -> "<0.1 %"; NaN -> "?"."""
    if math.isnan(share):
        return "?"
    return "<0.1 %" if 0 < share < _NAMED else f"{_points(share)} %"


def signed_percent(share: float) -> str:
    """A change: "+5.1 %", "-12 %", "0 %"."""
    return f"{'+' if share >= _NAMED else ''}{_points(share)} %"


def percent_range(interval: Interval) -> str:
    """ "9.1 to 14 %"; of ends that read alike "0 %"."""
    low, high = _points(interval.low), _points(interval.high)
    return f"{low} %" if low == high else _("{low} to {high} %").format(low=low, high=high)


def _points(share: float) -> str:
    """Whole from 10 on, else with one decimal unless that is 0."""
    value = 100 * share
    return f"{value:.0f}" if abs(value) >= 9.95 else f"{round(value, 1) + 0:g}"


def seconds(value: float) -> str:
    """With a unit that leaves one to three digits before the point: "486 ns", "24.2 us", "32.41 s", "8,211 s"."""
    size = abs(value)
    if size == 0:
        return "0 s"
    for limit, factor, unit in ((1e-6, 1e9, "ns"), (1e-3, 1e6, "us"), (0.1, 1e3, "ms")):
        if size < limit:
            return f"{value * factor:.3g} {unit}" if size * factor < 999.5 else f"{value * factor:.0f} {unit}"
    return f"{value:.4g} s" if size < 999.95 else f"{value:,.0f} s"


def data_amount(count: int) -> str:
    """Bytes to three digits, in the units of message sizes: "800 GiB"; "?" below 0, which stands for unknown."""
    if count < 0:
        return "?"
    for power, unit in ((5, "PiB"), (4, "TiB"), (3, "GiB"), (2, "MiB"), (1, "KiB")):
        step = 1 << (10 * power)
        if count >= step:
            return f"{count / step:.3g} {unit}" if count < 1000 * step else f"{count / step:.0f} {unit}"
    return f"{count} B"
