"""mpirun.txt: the setting as words for an mpirun command line."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from unisono.core.errors import UserError
from unisono.core.language import _


def words(mca: Mapping[str, str], env: Mapping[str, str], placement: Sequence[str] = ()) -> list[str]:
    """The same words `unisono run` adds, in one order: placement, MCA parameters, environment."""
    out = list(placement)
    for name, value in mca.items():
        out += ["--mca", name, value]
    for name, value in env.items():
        out += ["-x", f"{name}={value}"]
    return out


def write(arguments: Sequence[str], comments: Sequence[str] = ()) -> str:
    """Comment lines and one line of shell words."""
    return "\n".join([*(f"# {line}".rstrip() for line in comments), shlex.join(arguments)]) + "\n"


def read(text: str, where: str) -> list[str]:
    """The words. Raises UserError when there is more than one line of them, or a quote is left open."""
    lines = [
        (number, line)
        for number, line in enumerate(text.splitlines(), start=1)
        if line.strip() and not line.startswith("#")
    ]
    if len(lines) > 1:
        raise UserError(
            _("{where}: line {lines}: there is one line of arguments, this is a second").format(
                where=where, lines=lines[1][0]
            )
        )
    try:
        return shlex.split(lines[0][1]) if lines else []
    except ValueError as error:
        raise UserError(
            _("{where}: line {lines}: {error}").format(where=where, lines=lines[0][0], error=error)
        ) from error
