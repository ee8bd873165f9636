"""Numbers as people write them into command lines and files."""

from __future__ import annotations

from unisono.errors import UserError


def whole_number(text: str, where: str, least: int = 1, most: int = (1 << 31) - 1) -> int:
    """The number in a text of decimal digits. Raises UserError naming `where` for anything else, and outside of
    `least` to `most`."""
    digits = text.strip()
    # Python itself refuses to read thousands of digits, and takes those of other scripts for digits, too.
    if not (digits.isascii() and digits.isdigit()) or len(digits) > 20 or int(digits) < least:
        raise UserError(f"{where}: {text[:40]!r} is not a number of at least {least}")
    if int(digits) > most:
        raise UserError(f"{where}: {digits} is too many; {most:,} at the most")
    return int(digits)
