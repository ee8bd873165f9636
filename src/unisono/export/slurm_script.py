"""Lines by which the tasks of a Slurm job get environment variables: for a batch script, and as a TaskProlog."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from unisono.core.errors import UserError
from unisono.core.language import _
from unisono.export import shell
from unisono.export.version_words import asking, measured_with
from unisono.machine.description import Mpi


def write_snippet(
    values: Mapping[str, str],
    mpi: Mpi,
    comments: Sequence[str],
    needs: Sequence[str],
    ranks: Sequence[str] = (),
    more: Sequence[str] = (),
) -> str:
    """To be sourced in a batch script before srun. It sets nothing, and says why, where the MPI on PATH is another
    version or a file of `needs` cannot be read; with no launcher on PATH (srun alone) it takes the user's word.
    `ranks`: NAME=VALUE that the tasks get and the script does not, with what a shell expands between double quotes;
    `more`: lines that stand where the variables are set."""
    ask, wanted = asking(mpi), measured_with(mpi)
    pattern = f"s/{ask.sed}/\\1/p"
    lines = [f"# {line}".rstrip() for line in comments]
    lines += [
        f"_unisono_found=$({ask.program} --version 2>/dev/null | sed -n {shlex.quote(pattern)} | head -n 1)",
        f'if [ "${{_unisono_found:-{mpi.version}}}" != {shlex.quote(mpi.version)} ]; then',
        f'    echo {shlex.quote(f"unisono: this tuning is of {wanted}: nothing is set for")} "$_unisono_found" >&2',
    ]
    for path in needs:
        lines += [
            f"elif [ ! -r {shlex.quote(path)} ]; then",
            f"    echo {shlex.quote(f'unisono: {path} cannot be read: nothing is set')} >&2",
        ]
    lines.append("else")
    lines += [f"export {name}={shlex.quote(value)}" for name, value in values.items()]
    lines += more
    theirs, names = ",".join(ranks), ",".join([*values, *ranks])
    lines += [
        "# srun hands everything over, unless the job was submitted with --export=NONE or a list:",
        'case "${SLURM_EXPORT_ENV-ALL}" in',
        f'    ALL | ALL,*) export SLURM_EXPORT_ENV="${{SLURM_EXPORT_ENV-ALL}},{theirs}" ;;'
        if theirs
        else "    ALL | ALL,*) ;;",
        f'    NONE | NIL) export SLURM_EXPORT_ENV="{names}" ;;',
        f'    *) export SLURM_EXPORT_ENV="$SLURM_EXPORT_ENV,{names}" ;;',
        "esac",
        "fi",
        "unset _unisono_found",
    ]
    return "\n".join(lines) + "\n"


read_snippet = shell.read


def write_prolog(values: Mapping[str, str], comments: Sequence[str]) -> str:
    """A TaskProlog: slurmd runs it before every task and takes `export NAME=VALUE` from its output, to the end of the
    line and without quotes."""
    lines = ["#!/bin/sh", *(f"# {line}".rstrip() for line in comments)]
    lines += [f"printf '%s\\n' {shlex.quote(f'export {name}={value}')}" for name, value in values.items()]
    return "\n".join(lines) + "\n"


def read_prolog(text: str, where: str) -> dict[str, str]:
    """What slurmd takes from it. Raises UserError with the line of a `printf` of anything else."""
    values: dict[str, str] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.startswith("printf "):
            continue
        try:
            words = shlex.split(line)[2:]
        except ValueError as error:
            raise UserError(
                _("{where}: line {number}: {error}").format(where=where, number=number, error=error)
            ) from error
        name, is_, value = "".join(words).removeprefix("export ").partition("=")
        if len(words) != 1 or not words[0].startswith("export ") or not is_:
            raise UserError(
                _("{where}: line {number}: {line!r} does not print one export NAME=VALUE").format(
                    where=where, number=number, line=line
                )
            )
        values[name] = value
    return values
