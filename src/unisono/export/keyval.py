"""The two files of `name = value` lines: openmpi-mca-params.conf and ucx.conf."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from unisono.core.errors import UserError
from unisono.core.language import _

_LINE = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*?)\s*")


def write_mca(values: Mapping[str, str], comments: Sequence[str] = ()) -> str:
    """Open MPI's parameter file. A value reaches to the end of its line, as it stands: quotes would be part of it."""
    return _write(values, comments, " = ")


def write_ucx(values: Mapping[str, str], comments: Sequence[str] = ()) -> str:
    """UCX's configuration file."""
    return _write(values, comments, "=")


def _write(values: Mapping[str, str], comments: Sequence[str], sign: str) -> str:
    lines = [f"# {line}".rstrip() for line in comments]
    lines += [f"{name}{sign}{value}" for name, value in values.items()]
    return "\n".join(lines) + "\n"


def read(text: str, where: str) -> dict[str, str]:
    """The values of either file. Raises UserError with the line of anything that is neither comment nor `name = value`,
    and of a name that is there twice (the MPI would take one of them without a word)."""
    values: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            raise UserError(
                _("{where}: line {number}: {line!r} is not `name = value`").format(
                    where=where, number=number, line=line.strip()
                )
            )
        if match[1] in values:
            raise UserError(
                _("{where}: line {number}: {match} is there twice").format(where=where, number=number, match=match[1])
            )
        values[match[1]] = match[2]
    return values
