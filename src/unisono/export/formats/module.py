"""A modulefile, in Lua and in Tcl, that sets the plan's variables where the MPI is the one that was measured."""

from __future__ import annotations

import shlex

from unisono.core.errors import UserError
from unisono.core.language import N_, _
from unisono.core.reading import read_text
from unisono.export.carried import CARRIED_FILES, by_environment, carried
from unisono.export.content import Content
from unisono.export.environment_check import check_environment
from unisono.export.modulefile import read_lua, read_tcl, write_lua, write_tcl
from unisono.export.placement_words import placement_comment
from unisono.export.seen import Item
from unisono.mpi.family import Family

NAME = "module"
LABEL = N_("a modulefile for Lmod (Lua) and Environment Modules (Tcl), which refuses another version of the MPI")
LUA = "unisono-tuning.lua"
TCL = "unisono-tuning"
FILES: tuple[str, ...] = (*CARRIED_FILES, LUA, TCL)
BY_TUNE = False
TAKES_LIBRARY = False


def read_by(family: Family) -> bool:
    return True


def expresses(content: Content) -> bool:
    return bool(carried(content).variables)


def write(content: Content) -> dict[str, str]:
    found = carried(content)
    folder = shlex.quote(str(content.directory))
    use = f"Use, after the MPI's own module:    module use {folder}; module load unisono-tuning"
    comments = [*content.head, *found.notes, *placement_comment(content), use]
    needs = found.paths(content.directory)
    return {
        **found.files,
        LUA: write_lua(found.variables, content.mpi, comments, needs),
        TCL: write_tcl(found.variables, content.mpi, comments, needs),
    }


def check(content: Content, deadline: float) -> tuple[list[Item], list[str]]:
    lua, tcl = content.directory / LUA, content.directory / TCL
    values = read_lua(read_text(lua), str(lua))
    if values != read_tcl(read_text(tcl), str(tcl)):
        raise UserError(_("{lua} and {tcl} set different variables").format(lua=lua, tcl=tcl))
    return check_environment(content, by_environment(values), deadline)
