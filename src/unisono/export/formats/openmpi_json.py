"""The same as `openmpi` with rules in JSON, asked for by name: refused where this Open MPI would not read them."""

from __future__ import annotations

from unisono.core.errors import UserError
from unisono.core.language import N_, _
from unisono.core.version import at_least
from unisono.export import tuned_rules_json as rules_json
from unisono.export.carried import JSON_RULES
from unisono.export.content import Content
from unisono.export.formats import openmpi
from unisono.export.seen import Item

NAME = "openmpi-json"
LABEL = N_("Open MPI's parameter file, and rules in JSON (Open MPI 6 and newer)")
FILES: tuple[str, ...] = (JSON_RULES, openmpi.MCA)
BY_TUNE = False
TAKES_LIBRARY = False

read_by = openmpi.read_by


def expresses(content: Content) -> bool:
    if not openmpi.expresses(content):
        return False
    _refuse_old(content)
    return True


def write(content: Content) -> dict[str, str]:
    _refuse_old(content)
    return openmpi.write(content)


def check(content: Content, deadline: float) -> tuple[list[Item], list[str]]:
    _refuse_old(content)
    return openmpi.check(content, deadline)


def _refuse_old(content: Content) -> None:
    if not at_least(content.mpi.version, rules_json.SINCE):
        raise UserError(
            _(
                "format {format}: Open MPI reads rules in JSON from {since}, this is {version}: use --format openmpi"
            ).format(format=NAME, since=rules_json.SINCE, version=content.mpi.version)
        )
