"""env.sh: the setting as environment variables for a POSIX shell, and a way back."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence

from unisono.core.errors import UserError
from unisono.core.language import _

_EXPORT = re.compile(r"export ([A-Za-z_][A-Za-z0-9_]*)=(.*)")


def write(
    values: Mapping[str, str], comments: Sequence[str] = (), needs: Sequence[str] = (), name: str = "env.sh"
) -> str:
    """The script's text, for sh, bash, dash and zsh. `needs` are files whose absence it warns of when sourced.

    What a variable was is kept in a shell variable of its own, so that `unisono_off` tells empty from unset; sourcing
    the file again begins with undoing it.
    """
    use = (
        f"Use:    {f'. ./{name}':<18}then start MPI programs as ever",
        "Undo:   unisono_off       puts every variable back to what it was",
    )
    lines = [f"# {line}".rstrip() for line in (*comments, *use)]
    lines += ["", 'if [ -n "${_unisono_on-}" ]; then unisono_off; fi']
    for path in needs:
        lines += [
            f"if [ ! -r {shlex.quote(path)} ]; then",
            f"    echo {shlex.quote(f'unisono: {path} cannot be read; the MPI ignores that in silence, or ends')} >&2",
            "fi",
        ]
    for name in values:
        lines.append(f'if [ -n "${{{name}+set}}" ]; then _unisono_old_{name}=${name}; fi')
    lines += [f"export {name}={shlex.quote(value)}" for name, value in values.items()]
    lines += ["_unisono_on=1", "", "unisono_off() {"]
    for name in values:
        old = f"_unisono_old_{name}"
        lines.append(f'    if [ -n "${{{old}+set}}" ]; then export {name}="${old}"; unset {old}; else unset {name}; fi')
    lines += ["    unset _unisono_on", "    unset -f unisono_off", "}"]
    return "\n".join(lines) + "\n"


def read(text: str, where: str) -> dict[str, str]:
    """What sourcing the file exports. Raises UserError with the line of an `export` that is not one plain word."""
    values: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        match = _EXPORT.fullmatch(line)
        if match is None:
            continue
        try:
            words = shlex.split(match[2])
        except ValueError as error:
            raise UserError(
                _("{where}: line {number}: {error}").format(where=where, number=number, error=error)
            ) from error
        if len(words) > 1:
            raise UserError(
                _("{where}: line {number}: {match!r} is more than one word").format(
                    where=where, number=number, match=match[2]
                )
            )
        values[match[1]] = words[0] if words else ""
    return values
