"""A word of warning where others use the machine that is about to be measured."""

from __future__ import annotations

import os

from unisono.commands.console import err
from unisono.core.language import _

QUIET_LOAD = 0.5
"""Load average per CPU from which a warning is given."""


def warn_where_busy(cpus: int) -> float:
    """Says so on stderr; the load average, or 0 where the machine is quiet. To be asked before anything is started."""
    busy, count = os.getloadavg()[0], max(cpus, 1)
    if busy <= QUIET_LOAD * count:
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
