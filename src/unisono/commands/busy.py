"""A word of warning where others use the machine that is about to be measured."""

from __future__ import annotations

import os
import time
from pathlib import Path

from unisono.commands.console import err
from unisono.core.language import _

QUIET_LOAD = 0.5
"""Load average per CPU from which a warning is given."""
_QUIET_NOW = 0.2
"""Part of the CPUs' time from which the machine is in use now."""
_MOMENT = 0.3
"""Seconds over which that is looked at."""
_STAT = Path("/proc/stat")


def warn_where_busy(cpus: int) -> float:
    """Says so on stderr; the load average, or 0 where the machine is quiet. To be asked before anything is started.

    The load average remembers the last minute: after one command of ours the next one would be told of it. So it is
    believed only where CPUs are in use now.
    """
    busy, count = os.getloadavg()[0], max(cpus, 1)
    if busy <= QUIET_LOAD * count or _in_use() < _QUIET_NOW:
        return 0.0
    err().print(
        _(
            "Other programs are using this machine (load average {busy:.1f} on {count} CPUs), and their noise "
            "will hide small differences. Measure when the machine is quiet, if you can."
        ).format(busy=busy, count=count),
        style="yellow",
        markup=False,
    )
    return busy


def _in_use() -> float:
    """The part of all CPUs' time that is used now; 1 where the system does not say."""
    try:
        idle, total = _times()
        time.sleep(_MOMENT)
        later = _times()
    except (OSError, ValueError, IndexError):
        return 1.0
    passed = later[1] - total
    return 1 - (later[0] - idle) / passed if passed > 0 else 1.0


def _times() -> tuple[int, int]:
    """Idle ticks, waiting for devices included, and all ticks, of all CPUs since the start (proc(5))."""
    ticks = [int(word) for word in _STAT.read_text(encoding="ascii").split("\n", 1)[0].split()[1:9]]
    return ticks[3] + ticks[4], sum(ticks)
