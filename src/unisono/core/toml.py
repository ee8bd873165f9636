"""Reading TOML with errors that name the file."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from unisono.core.errors import UserError
from unisono.core.language import N_, _, translated
from unisono.core.reading import read_text

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_DEEPEST = 32
"""Brackets within brackets, and parts of a dotted key: the parser's time grows with the square of these, its stack with
the first. No document of ours has more than five."""

_TOKEN = re.compile(
    r'''"""[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*"{3,5}|'''
    r"'''[^']*(?:'(?!'')[^']*)*'{3,5}|"
    r"""(?P<unended>\"{3}|'{3})|"""
    r"""(?P<part>"[^"\\\n]*(?:\\.[^"\\\n]*)*"|'[^'\n]*'|[A-Za-z0-9_-]+)|"""
    r"(?P<dot>\.)|(?P<open>[\[{])|(?P<close>[\]}])|(?P<blank>[ \t]+)|#[^\n]*|[^\s\w\"'.\[\]{}#-]+|\s|.",
    re.DOTALL,
)
"""What the depth of a document hangs on: the brackets and dots in strings and comments do not count."""


PYDANTIC = (
    N_("Field required"),
    N_("Extra inputs are not permitted"),
    N_("Input should be a valid string"),
    N_("Input should be a valid integer"),
    N_("Input should be a valid number"),
    N_("Input should be a valid boolean"),
    N_("Input should be a valid list"),
    N_("Input should be a valid dictionary"),
    N_("Input should be greater than {bound}"),
    N_("Input should be greater than or equal to {bound}"),
    N_("Input should be less than or equal to {bound}"),
    N_("Input should be {choices}"),
)
"""What the library says that checks documents, as finished texts."""


def read_toml(path: Path) -> dict[str, Any]:
    """The document as a dictionary. Raises UserError when it cannot be read or is not TOML (with the line)."""
    return parse_toml(read_text(path), str(path))


def parse_toml(text: str, where: str) -> dict[str, Any]:
    """The same from a text; `where` names it in errors."""
    if not text.strip():
        raise UserError(_("{where}: is empty").format(where=where))
    _check_depth(text, where)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UserError(_("{where}: is not valid TOML: {error}").format(where=where, error=error)) from error
    except (ValueError, RecursionError) as error:
        raise UserError(
            _("{where}: holds a value that cannot be read, such as a number with thousands of digits").format(
                where=where
            )
        ) from error


def _check_depth(text: str, where: str) -> None:
    depth = parts = 0
    goes_on = False
    for token in _TOKEN.finditer(text):
        kind = token.lastgroup
        if kind == "unended":
            return  # no document, as the parser will say
        if kind == "part":
            parts = parts + 1 if goes_on else 1
        depth += (kind == "open") - (kind == "close")
        goes_on = kind == "dot" or (goes_on and kind == "blank")
        if kind not in ("part", "dot", "blank"):
            parts = 0
        if depth > _DEEPEST or parts > _DEEPEST:
            line = text.count("\n", 0, token.start()) + 1
            what = _("brackets") if depth > _DEEPEST else _("parts of a key")
            raise UserError(
                _("{where}: line {line}: more than {deepest} {what} are nested in one another").format(
                    where=where, line=line, deepest=_DEEPEST, what=what
                )
            )


def key_words(parts: Iterable[int | str]) -> str:
    """Where in a document something is, in one line whatever the keys are: "cases.ppn"."""
    return ".".join(str(part) if str(part).isprintable() else repr(part) for part in parts)


def explain_validation(path: Path | str, error: Any) -> str:
    """One line out of a pydantic ValidationError: the first key that is wrong, what it holds, how many more."""
    first, *others = error.errors()
    key = key_words(first["loc"]) or "document"
    message = first["msg"].removeprefix("Value error, ")
    message = translated(message)
    more = _(" (and {count} more)").format(count=len(others)) if others else ""
    return f"{path}: {key}: {message}{more}"
