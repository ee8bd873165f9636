"""Modulefiles that set environment variables: for Lmod (Lua) and Environment Modules (Tcl), written and read."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from unisono.core.errors import UserError
from unisono.core.language import _
from unisono.export.version_words import asking, measured_with
from unisono.machine.description import Mpi

_LUA_SET = re.compile(r'pushenv\("((?:[^"\\]|\\.)*)", "((?:[^"\\]|\\.)*)"\)')
_TCL_SET = re.compile(r'setenv ([A-Za-z_][A-Za-z0-9_]*) "((?:[^"\\]|\\.)*)"')
_LOADS = 'if mode() == "load" then'


def write_lua(values: Mapping[str, str], mpi: Mpi, comments: Sequence[str], needs: Sequence[str]) -> str:
    """For Lmod. Loading it fails with one line where mpirun is another version, or a file of `needs` is missing."""
    ask, wanted = asking(mpi), measured_with(mpi)
    lines = [f"-- {line}".rstrip() for line in comments]
    lines += [
        f"help({_quoted(chr(10).join(comments))})",
        f"whatis({_quoted(f'Description: tuning of {wanted} by Unisono')})",
        'family("unisono_tuning")',
        _LOADS,
        f"    local said = capture({_quoted(f'{ask.program} --version 2>&1')}) or {_quoted('')}",
        f"    local found = string.match(said, {_quoted(ask.lua)})",
        f"    if found ~= {_quoted(mpi.version)} then",
        f"        LmodError({_quoted(_refusal(ask.program, wanted))} .. (found or {_quoted('not known')}))",
        "    end",
    ]
    for path in needs:
        lines += [
            f"    if not isFile({_quoted(path)}) then",
            f"        LmodError({_quoted(_missing(path))})",
            "    end",
        ]
    lines.append("end")
    lines += [f"pushenv({_quoted(name)}, {_quoted(value)})" for name, value in values.items()]
    return "\n".join(lines) + "\n"


def write_tcl(values: Mapping[str, str], mpi: Mpi, comments: Sequence[str], needs: Sequence[str]) -> str:
    """The same for Environment Modules, and for Lmod where it reads Tcl."""
    ask, wanted = asking(mpi), measured_with(mpi)
    # A backslash at its end would make the next line part of the comment.
    lines = ["#%Module", *(f"# {line}".rstrip(" \\") for line in comments)]
    lines += [
        f"module-whatis {_quoted(f'tuning of {wanted} by Unisono', tcl=True)}",
        "conflict unisono-tuning",
        "if { [module-info mode load] } {",
        "    set said {}",
        f"    catch {{ exec {ask.program} --version 2>@1 }} said",
        "    set found {not known}",
        f"    regexp {{{ask.regexp}}} $said whole found",
        f"    if {{ $found ne {_quoted(mpi.version, tcl=True)} }} {{",
        f'        puts stderr {_quoted(_refusal(ask.program, wanted), tcl=True)[:-1]}$found"',
        "        break",
        "    }",
    ]
    for path in needs:
        lines += [
            f"    if {{ ![file readable {_quoted(path, tcl=True)}] }} {{",
            f"        puts stderr {_quoted(_missing(path), tcl=True)}",
            "        break",
            "    }",
        ]
    lines.append("}")
    lines += [f"setenv {name} {_quoted(value, tcl=True)}" for name, value in values.items()]
    return "\n".join(lines) + "\n"


def _refusal(program: str, wanted: str) -> str:
    return f"unisono: this tuning is of {wanted}; load that MPI first: {program} is of version "


def _missing(path: str) -> str:
    return f"unisono: {path} cannot be read; the MPI would run without it"


def _quoted(text: str, *, tcl: bool = False) -> str:
    """In double quotes, as both languages read them; Tcl would also look for variables, commands and lists."""
    special = r'(["\\$\[\]{}])' if tcl else r'(["\\])'
    return '"' + re.sub(special, r"\\\1", text).replace("\n", "\\n") + '"'


def read_lua(text: str, where: str) -> dict[str, str]:
    """What loading sets. Raises UserError with the line of a pushenv that is not two plain strings."""
    return _read(text, where, "pushenv(", _LUA_SET)


def read_tcl(text: str, where: str) -> dict[str, str]:
    """What loading sets. Raises UserError with the line of a setenv that is not a name and one string."""
    return _read(text, where, "setenv ", _TCL_SET)


def _read(text: str, where: str, begins: str, pattern: re.Pattern[str]) -> dict[str, str]:
    values: dict[str, str] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip().startswith(begins):
            continue
        match = pattern.fullmatch(line.strip())
        if match is None:
            raise UserError(
                _('{where}: line {number}: {line!r} does not set one variable to one text in "quotes"').format(
                    where=where, number=number, line=line.strip()
                )
            )
        values[match[1]] = re.sub(r"\\(.)", lambda found: "\n" if found[1] == "n" else found[1], match[2])
    return values
