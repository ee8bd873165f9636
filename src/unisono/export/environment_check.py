"""Does the MPI take a plan that is handed over as environment variables?"""

from __future__ import annotations

from unisono.export.content import Content
from unisono.export.handed import Handed
from unisono.export.intel_check import check_intel
from unisono.export.mpich_check import check_mpich
from unisono.export.openmpi_check import check_handed
from unisono.export.seen import Item

_BY = {"verbosity": check_handed, "tripwires": check_mpich, "start": check_intel}


def check_environment(content: Content, files: Handed, deadline: float) -> tuple[list[Item], list[str]]:
    """What was seen, and every command line that was run. `deadline` is seconds a launch."""
    return _BY[content.mpi.traits.SHOWN_BY](content, files, deadline)
