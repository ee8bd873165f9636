"""Bring the catalogues of translations up to date with the sources, and name what has no translation yet.

    python tools/catalogue.py

Texts are marked in the sources as unisono.core.language says. New ones are added to the end of what stands there
without a translation, those that are gone are removed, and nothing is guessed (no "fuzzy" entries).
"""

from __future__ import annotations

import sys
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_file
from babel.messages.pofile import read_po, write_po

from unisono.cli import app
from unisono.cli_language import texts_of
from unisono.core.language import CATALOGUES, LANGUAGES
from unisono.parameters import catalogue as parameters

SOURCES = CATALOGUES.parent
KEYWORDS = {"_": None, "N_": None, "ngettext": (1, 2)}
KEPT, KEPT_KEYWORDS = "kept", {"N_": None, "ngettext": (1, 2)}
"""How a text is marked that stays English where it is stored; unisono.core.language finds it again by its form."""
TEMPLATES = {"*.html.j2": "jinja2.ext:babel_extract", "templates/*.js": "javascript"}
"""Pages and their scripts, and how Babel reads them."""


def marked() -> Catalog:
    """Every text of the sources, with the files it is in: marked ones, the command line's, and the parameters'."""
    found = Catalog()
    for path in sorted(SOURCES.rglob("*.py")):
        name = str(path.relative_to(SOURCES))
        for _line, text, _comments, _context in extract_from_file("python", str(path), keywords=KEYWORDS):
            _add(found, text, name)
        for _line, text, _comments, _context in extract_from_file("python", str(path), keywords=KEPT_KEYWORDS):
            _add(found, text, name, kept=True)
    for pattern, method in TEMPLATES.items():
        for path in sorted(SOURCES.rglob(pattern)):
            name = str(path.relative_to(SOURCES))
            for _line, text, _comments, _context in extract_from_file(method, str(path), keywords=KEYWORDS):
                _add(found, text, name)
    for text in texts_of(app):
        _add(found, text, "cli.py")
    for text in parameters.texts():
        _add(found, text, "parameters/*.toml")
    return found


def _add(found: Catalog, text: str | tuple[str, ...], name: str, *, kept: bool = False) -> None:
    known = found.get(text) or found.add(text)
    if (name, 0) not in known.locations:
        known.locations.append((name, 0))
    if kept and KEPT not in known.auto_comments:
        known.auto_comments.append(KEPT)


def path_of(language: str) -> Path:
    return CATALOGUES / language / "LC_MESSAGES" / "unisono.po"


def update(language: str) -> list[str]:
    """Write the catalogue anew; returns the texts without a translation."""
    path = path_of(language)
    with path.open("rb") as stream:
        held = read_po(stream)
    new = Catalog(
        locale=language,
        project="Unisono",
        header_comment=held.header_comment,
        creation_date=held.creation_date,
        revision_date=held.revision_date,
        last_translator=held.last_translator,
        language_team=held.language_team,
        msgid_bugs_address=held.msgid_bugs_address,
        fuzzy=False,
    )
    missing = []
    for message in marked():
        if not message.id:
            continue
        old = held.get(message.id)
        string = old.string if old is not None and not old.fuzzy else ""
        new.add(message.id, string, locations=message.locations, auto_comments=message.auto_comments)
        if not (string if isinstance(string, str) else all(string or ())):
            missing.append(message.id if isinstance(message.id, str) else message.id[0])
    with path.open("wb") as stream:
        write_po(stream, new, width=120, include_lineno=False, sort_output=False)
    return missing


def main() -> int:
    for language in LANGUAGES:
        if language == "en":
            continue
        missing = update(language)
        for text in missing:
            sys.stdout.write(f"{language}: no translation: {text!r}\n")
        sys.stdout.write(f"{path_of(language)}: {len(missing)} without a translation\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
