"""What every launch gets, the default setting included, and why: all comparisons are made with these words in place.

Nothing here ever replaces what the user has set in the environment, or the site in Open MPI's parameter files.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from unisono.language import N_
from unisono.launch.placement import Placement
from unisono.machine.model import Machine
from unisono.parameters.defaults import has_fast_network
from unisono.parameters.spelling import require_mpi
from unisono.version import at_least


@dataclass(frozen=True, slots=True)
class BaseWords:
    options: list[str] = field(default_factory=list)
    mca: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def base_words(machine: Machine, placement: Placement, taken: Collection[str] = ()) -> BaseWords:
    """`taken`: MCA parameters that the setting itself has, which are left alone."""
    words = BaseWords()
    if require_mpi(machine).is_hydra:
        return words
    if machine.root_user:
        words.options.append("--allow-run-as-root")
    wanted: list[tuple[str, str, str]] = []
    if _initialises_ofi_in_vain(machine):
        wanted.append(
            ("btl", "^ofi", N_("it adds a second to MPI_Init, and there is no network here that it could use"))
        )
    if placement.oversubscribed:
        # Both versions do this by themselves, but not when slots given with --host hide that CPUs are too few.
        wanted.append(
            ("mpi_yield_when_idle", "1", N_("there are more ranks than CPUs, so that waiting ranks give way"))
        )
    for name, value, reason in wanted:
        own = machine.environment.get(f"OMPI_MCA_{name}")
        in_files = require_mpi(machine).settings.get(name)
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


def _initialises_ofi_in_vain(machine: Machine) -> bool:
    """Open MPI 5.0: one second of every MPI_Init is libfabric looking for providers (measured on 5.0.11)."""
    mpi = require_mpi(machine)
    return at_least(mpi.version, "5") and "ofi" in mpi.components.get("btl", []) and not has_fast_network(machine)
