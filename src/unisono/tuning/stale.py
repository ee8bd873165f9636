"""Does a tuning still belong to the machine it is used on?"""

from __future__ import annotations

from unisono.core.language import N_
from unisono.machine.description import Machine
from unisono.machine.fingerprint import fingerprint, shown
from unisono.tuning.contents import Tuning

_OF_THE_MPI = ("MPI", "collective components", "UCX", "settings in files")
"""What follows from which MPI it is, and needs no sentence beside that."""


def stale(tuning: Tuning, machine: Machine) -> list[str]:
    """One sentence for each thing that is not as it was when the tuning was measured; empty: it still fits.

    What either side does not know is not a difference.
    """
    then, now = tuning.machine, fingerprint(machine)
    changed = [label for label in then if label in now and then[label] != now[label]]
    if "MPI" not in changed:
        return [_of_label(label, then[label], now[label]) for label in changed]
    rest = [label for label in changed if label not in _OF_THE_MPI]
    return [
        N_("it was measured with {then}, but you use {now}").format(
            then=shown("MPI", then["MPI"]), now=shown("MPI", now["MPI"])
        ),
        *(_of_label(label, then[label], now[label]) for label in rest),
    ]


def _of_label(label: str, then: str, now: str) -> str:
    return N_("it was measured with {label} {then}, but here it is {now}").format(label=label, then=then, now=now)


def stale_notes(tuning: Tuning, machine: Machine) -> list[str]:
    """The same as notes where the tuning is applied."""
    return [
        N_("the tuning may not fit this machine: {difference}").format(difference=each)
        for each in stale(tuning, machine)
    ]
