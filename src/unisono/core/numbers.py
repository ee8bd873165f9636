"""Numbers as people write them into command lines and files."""

from __future__ import annotations

from unisono.core.errors import UserError
from unisono.core.language import _


def whole_number(text: str, where: str, least: int = 1, most: int = (1 << 31) - 1) -> int:
    """The number in a text of decimal digits. Raises UserError naming `where` for anything else, and outside of
    `least` to `most`."""
    digits = text.strip()
    # Python itself refuses to read thousands of digits, and takes those of other scripts for digits, too.
    if not (digits.isascii() and digits.isdigit()) or len(digits) > 20 or int(digits) < least:
        raise UserError(
            _("{where}: {text!r} is not a number of at least {least}").format(where=where, text=text[:40], least=least)
        )
    if int(digits) > most:
        raise UserError(
            _("{where}: {digits} is too many; the most is {most:,}").format(where=where, digits=digits, most=most)
        )
    return int(digits)
