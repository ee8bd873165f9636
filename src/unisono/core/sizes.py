"""Message sizes as people write them.

Binary multiples throughout, as UCX, IMB and the OSU benchmarks mean them: 1 KB = 1 KiB = 1k = 1024 bytes.
"""

from __future__ import annotations

import re

from unisono.core.errors import UserError
from unisono.core.language import _

_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_SIZE = re.compile(r"\s*(\d{1,30}(?:\.\d{1,30})?)\s*([kmgt]?)(?:i?b)?\s*", re.IGNORECASE | re.ASCII)
MOST = (1 << 63) - 1
"""Bytes: what a count of MPI's, and our library's rules, can hold."""


def parse_size(text: str | int, where: str = "size") -> int:
    """Bytes of "8", "16kb", "1 MiB", "1.5M". Raises UserError naming `where` for anything else."""
    if isinstance(text, bool):
        raise UserError(
            _("{where}: {text!r} is not a size; write for example 8, 16K or 1M").format(where=where, text=text)
        )
    if isinstance(text, int):
        if text < 0:
            raise UserError(
                _("{where}: {text} is negative; a size counts bytes, 0 or more").format(where=where, text=_shown(text))
            )
        return _bounded(text, _shown(text), where)
    match = _SIZE.fullmatch(text)
    if match is None:
        raise UserError(
            _("{where}: {text!r} is not a size; write for example 8, 16K or 1M").format(where=where, text=text[:80])
        )
    whole, _point, decimals = match[1].partition(".")
    size, rest = divmod(int(whole + decimals) * _UNITS[match[2].lower()], 10 ** len(decimals))
    if rest:
        raise UserError(_("{where}: {text!r} is not a whole number of bytes").format(where=where, text=text))
    return _bounded(size, repr(text), where)


def _bounded(size: int, text: str, where: str) -> int:
    if size > MOST:
        raise UserError(
            _("{where}: {text} is more than any message has; {most} bytes are the most").format(
                where=where, text=text, most=MOST
            )
        )
    return size


def _shown(number: int) -> str:
    """A number too long to be read, and for Python to write, in a word."""
    return str(number) if abs(number) < 10**30 else _("a number of more than 30 digits")


def format_size(size: int) -> str:
    """ "512 B", "16 KiB", "1.5 MiB": the shortest exact form, else bytes."""
    for power, unit in ((3, "GiB"), (2, "MiB"), (1, "KiB")):
        step = 1 << (10 * power)
        if size >= step and size % (step // 4) == 0:
            return f"{size / step:.15g} {unit}"
    return f"{size} B"
