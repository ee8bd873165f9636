"""Parameters the catalogue does not have: any MCA parameter and any UCX variable this installation knows by name."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from unisono.core.errors import UserError
from unisono.core.language import N_, _
from unisono.core.names import close_names
from unisono.inventory import ucx
from unisono.machine.description import Machine, Ucx
from unisono.mpi.family import Parameter as Listed
from unisono.parameters import catalogue
from unisono.parameters.parameter import Parameter
from unisono.parameters.spelling import ENVIRONMENT

_MCA_NAME = re.compile(r"[a-z][a-z0-9_]*", re.ASCII)
_VARIABLE_NAME = re.compile(r"[A-Z][A-Z0-9_]*", re.ASCII)


def require_known(name: str, machine: Machine) -> Parameter:
    """The parameter of this name that a study may vary.

    From the catalogue, or one that this MPI or UCX itself lists. UserError with names that look like it otherwise,
    and for boot parameters, which are recorded and never set.
    """
    listed = catalogue.load(machine.family)
    if name in listed:
        if listed[name].scope == "boot":
            raise UserError(
                _(
                    "{name}: is a boot setting, which no launch can change: name it under [boot], measure "
                    "one study for each value and bring them together with: unisono compare A.db B.db"
                ).format(name=name)
            )
        return listed[name]
    found = _variable(name, machine) if name.startswith(ENVIRONMENT) else _mca(name, machine)
    if found is None:
        raise UserError(_unknown(name, machine))
    return found


def _variable(name: str, machine: Machine) -> Parameter | None:
    if not _VARIABLE_NAME.fullmatch(name):
        return None
    known = _ucx_variables(machine.ucx)
    plain = name.removeprefix("MPI_")
    if plain.startswith("UCX_") and known and plain not in known:
        return None
    if not known and close_names(name, catalogue.load(machine.family)):
        return None  # nothing to check it against: better ask about UCX_RNDV_TRESH than measure it in vain
    return Parameter(
        name=name,
        kind="env",
        scope="launch",
        meaning=N_("An environment variable that is not in the catalogue."),
        source="listed by this UCX" if plain in known else "given by name; could not be checked here",
        default=known.get(plain),
        needs=("ucx",) if plain.startswith("UCX_") else (),
    )


def _mca(name: str, machine: Machine) -> Parameter | None:
    if not _MCA_NAME.fullmatch(name) or machine.mpi is None:
        return None
    there = machine.traits.parameters(machine.mpi.mpirun) if machine.source == "measured" else None
    if there is not None:
        known = there.get(name)
        if known is None:
            return None
        return Parameter(
            name=name,
            kind="mca",
            scope="launch",
            meaning=known.help or N_("An MCA parameter that is not in the catalogue."),
            source=f"listed by ompi_info of Open MPI {machine.mpi.version}",
            default=known.value or None,
            needs=_needs(known),
        )
    for framework, components in machine.mpi.components.items():
        if any(name.startswith(f"{framework}_{component}_") for component in components) or name == framework:
            return Parameter(
                name=name,
                kind="mca",
                scope="launch",
                meaning=N_("An MCA parameter that is not in the catalogue."),
                source="given by name; its component is described, the parameter could not be checked here",
            )
    return None


def _needs(known: Listed) -> tuple[str, ...]:
    if known.framework == "btl":
        return ("pml:ob1",)
    return (f"pml:{known.component}",) if known.framework == "pml" and known.component in ("ob1", "cm", "ucx") else ()


@cache
def _variables_of(library: str, version: str) -> dict[str, str]:
    return ucx.variables(Ucx(version=version, library=library))


def _ucx_variables(described: Ucx | None) -> dict[str, str]:
    if described is None or not Path(described.library).exists():
        return {}
    return _variables_of(described.library, described.version)


def _unknown(name: str, machine: Machine) -> str:
    measured = machine.mpi if machine.source == "measured" else None
    more = list(measured.traits.parameters(measured.mpirun) or ()) if measured else []
    more += list(_ucx_variables(machine.ucx))
    close = close_names(name, catalogue.load(machine.family)) or close_names(name, more)
    if close:
        return _("{name}: is not a parameter known here; did you mean {close}?").format(
            name=name, close=" or ".join(close)
        )
    return _(
        "{name}: is not a parameter known here; unisono doctor lists them, and ompi_info --all every MCA parameter"
    ).format(name=name)
