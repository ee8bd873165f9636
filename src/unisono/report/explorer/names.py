"""Names as they may stand on a page: whatever a symbol table or a foreign file holds, made plain and finite."""

from __future__ import annotations

import unicodedata
from typing import Any

LONGEST = 4000
"""Characters; what is longer keeps its beginning and its end."""


def clean(text: str) -> str:
    """Control characters, direction overrides and lone surrogates spelled as escapes, and cut in the middle when long.

    Escaping for HTML is not done here: the page sets names as text.
    """
    if len(text) > LONGEST:
        text = f"{text[: LONGEST * 3 // 4]} … {text[-LONGEST // 4 :]}"
    if text.isascii() and text.isprintable():
        return text
    return "".join(char if _plain(char) else _escaped(char) for char in text)


def _plain(char: str) -> bool:
    """Neither control (Cc), format (Cf: direction overrides among them), surrogate (Cs) nor line separator."""
    return unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Zl", "Zp")


def _escaped(char: str) -> str:
    code = ord(char)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def cleaned(value: Any) -> Any:
    """All texts in nested lists, tuples and dictionaries made clean."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {name: cleaned(content) for name, content in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(cleaned(content) for content in value)
    return value
