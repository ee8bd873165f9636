"""Reading TOML with errors that name the file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from unisono.errors import UserError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def read_toml(path: Path) -> dict[str, Any]:
    """The document as a dictionary. Raises UserError when it cannot be read or is not TOML (with the line)."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from error
    return parse_toml(text, str(path))


def parse_toml(text: str, where: str) -> dict[str, Any]:
    """The same from a text; `where` names it in errors."""
    if not text.strip():
        raise UserError(f"{where}: is empty")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{where}: is not valid TOML: {error}") from error


def explain_validation(path: Path | str, error: Any) -> str:
    """One line out of a pydantic ValidationError: the first key that is wrong, what it holds, how many more."""
    first, *others = error.errors()
    key = ".".join(str(part) for part in first["loc"]) or "document"
    message = first["msg"].removeprefix("Value error, ")
    more = f" (and {len(others)} more)" if others else ""
    return f"{path}: {key}: {message}{more}"
