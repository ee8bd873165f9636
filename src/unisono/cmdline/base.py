"""What every launch gets, the default setting included, and why: all comparisons are made with these words in place.

Nothing here ever replaces what the user has set in the environment, or the site in Open MPI's parameter files.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from unisono.cmdline.placement import Placement
from unisono.core.language import N_
from unisono.machine.description import Machine
from unisono.mpi.family import Place
from unisono.parameters.defaults import has_fast_network
from unisono.parameters.spelling import require_mpi


@dataclass(frozen=True, slots=True)
class BaseWords:
    options: list[str] = field(default_factory=list)
    mca: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def base_words(machine: Machine, placement: Placement, taken: Collection[str] = ()) -> BaseWords:
    """`taken`: MCA parameters that the setting itself has, which are left alone."""
    words = BaseWords()
    mpi = require_mpi(machine)
    if machine.root_user:
        words.options.extend(mpi.traits.AS_ROOT)
    where = Place(has_fast_network(machine), placement.oversubscribed)
    for name, value, reason in mpi.traits.for_every_launch(mpi.version, mpi.components, where):
        own = machine.environment.get(f"OMPI_MCA_{name}")
        in_files = mpi.settings.get(name)
        if own is not None:
            words.notes.append(N_("OMPI_MCA_{name}={own} of your environment is kept").format(name=name, own=own))
        elif in_files is not None:
            words.notes.append(
                N_("{name}={in_files} of a parameter file of Open MPI is kept").format(name=name, in_files=in_files)
            )
        elif name not in taken:
            words.mca[name] = value
            words.notes.append(
                N_("{name}={value} in every launch: {reason}").format(name=name, value=value, reason=reason)
            )
    return words
