"""Does a tuning still belong to the machine it is used on?"""

from __future__ import annotations

from unisono.machine.fingerprint import differences
from unisono.machine.model import Machine
from unisono.tuning.model import Tuning


def stale(tuning: Tuning, machine: Machine) -> list[str]:
    """One sentence for each thing that is not as it was when the tuning was measured; empty: it still fits.

    What either side does not know is not a difference.
    """
    return differences(tuning.machine, machine)
