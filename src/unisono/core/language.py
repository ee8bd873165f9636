"""The language in which people are spoken to: English, or Japanese where the catalogue and the terminal allow it.

How a text is marked:

- `_("{path}: is empty").format(path=path)`: a sentence that is said at once. It is whole: no part of a sentence is put
  into another one, since their order differs between languages. `_` is called where the text is used, never when a
  module is imported.
- `N_("...")`: a text that is kept (in study.db, in tuning.toml, in a model that `--json` prints). It stays English;
  whoever shows it to a person says `translated(text)`, which finds the sentence it was made from, its values apart.

- In a page's template (`{{ _("...") }}`) and in its script (`_("... {count} ...", { count })`) as in the sources: the
  page carries the translations of what its script says.

How it is translated: `python tools/catalogue.py` brings `locale/ja/LC_MESSAGES/unisono.po` up to date with the sources
and names what has no translation; `tests/core/test_language.py` fails while something is missing.

What programs read never changes with the language: JSON (with `--json` everything is English, errors too), CSV, TOML,
rules, databases, exit statuses.

The catalogue is the .po file itself, read by Babel at run time, and only where somebody reads Japanese: an editable
installation has no build step in which a .mo file could be brought up to date, and a binary file beside its source in
git would sooner or later say something else. Reading takes some 0.1 s; where Babel is missing, people read English.
"""

from __future__ import annotations

import os
import re
import string
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from unisono.core.errors import UserError

LANGUAGES = ("en", "ja")
CATALOGUES = Path(__file__).parents[1] / "locale"

_NESTED = 6
"""So deep sentences stand in one another, in a text that is kept."""
_SHAPES = {
    "count": r"(\d[\d,]*)",
    "label": r"(NUMA nodes per socket|collective components|settings in files|\S+?)",
    "than": r"((?:(?!, (?!\w+=|\d{4}-)).)+?)",
    "where": "((?:at|up to|from) [^,]*?)",
    "spent": r"([\d.]+)",
    "by": r"((?:taking )?[\d.]+x(?: to [\d.]+x)? as (?:fast|long))",
    "factor": r"([\d.]+x)",
}
"""What a field of that name holds: beside another field nothing else tells where it begins and ends."""


@dataclass(frozen=True)
class _Catalogue:
    texts: Mapping[str, str]
    """Per English text its translation; of a text with a plural that for 1."""
    plurals: Mapping[str, tuple[str, str]]
    """Per English text for 1 the English text for other numbers, and its translation."""
    kept: frozenset[str] = frozenset()
    """Those that are kept in English, and so have to be found again in what they were made into."""


_LIST = {"en": ", ", "ja": "、"}
"""Between the parts of a list."""
_OR = {"en": " or ", "ja": "、または"}
_STOP = {"en": ".", "ja": "。"}
"""Ends a sentence."""

_KEPT = "kept"
"""How tools/catalogue.py marks, in the catalogue, a text that is kept."""
_TELLING = 12
"""A text that is only said at once, with fewer letters of its own, would be found in sentences of others."""

_NONE = _Catalogue({}, {})
_catalogue = _NONE
_language = "en"


def choose(arguments: list[str], environment: Mapping[str, str] | None = None) -> list[str]:
    """Set the language, and return the arguments without `--lang`.

    `--lang` counts before and after a command's name, not behind `--`, where a user's program has its own options.
    Without it the first counts that is set: UNISONO_LANG, LC_ALL, LC_MESSAGES, LANG. Raises UserError for a `--lang`
    that is no language of ours.
    """
    environment = os.environ if environment is None else environment
    set_ = (environment.get(name) for name in ("UNISONO_LANG", "LC_ALL", "LC_MESSAGES", "LANG"))
    wanted = next((value for value in set_ if value), "en")
    end = arguments.index("--") if "--" in arguments else len(arguments)
    rest: list[str] = []
    ours = iter(arguments[:end])
    for argument in ours:
        name, is_, value = argument.partition("=")
        if name != "--lang":
            rest.append(argument)
            continue
        wanted = value if is_ else next(ours, "")
        if wanted not in LANGUAGES:
            raise UserError(
                _("--lang {language}: is not available; write {languages}").format(
                    language=wanted, languages=" or ".join(LANGUAGES)
                )
            )
    use("en" if "--json" in rest else re.split(r"[_.@]", wanted)[0].lower())
    return rest + arguments[end:]


def use(language: str) -> None:
    """Speak this language from now on; English where there is no translation or the terminal cannot show it."""
    global _catalogue, _language
    path = CATALOGUES / language / "LC_MESSAGES" / "unisono.po"
    known = language in LANGUAGES and language != "en" and _shown_by_terminal()
    _catalogue = _read(path) if known else _NONE
    _language = language if _catalogue is not _NONE else "en"
    _patterns.cache_clear()
    _translated.cache_clear()


def language() -> str:
    """ "en" or "ja"."""
    return _language


def _(text: str) -> str:
    """The text in the language of whoever reads it; its placeholders are filled in afterwards."""
    return _catalogue.texts.get(text, text)


def ngettext(one: str, many: str, count: int) -> str:
    """The same for a text that has a form for 1 and one for other numbers."""
    if count == 1:
        return _catalogue.texts.get(one, one)
    return _catalogue.plurals.get(one, ("", many))[1]


def joined(items: Sequence[str]) -> str:
    """ "a, b and c"; "a、b、c"; nothing of nothing."""
    if len(items) < 2 or _language == "ja":
        return _LIST[_language].join(items)
    return f"{', '.join(items[:-1])} and {items[-1]}"


def listed(items: Sequence[str]) -> str:
    """ "a, b, c"; "a、b、c"."""
    return _LIST[_language].join(items)


def N_(text: str) -> str:  # noqa: N802 - the name that gettext's tools look for
    """The text as it is, for the catalogue to know: it is kept in English, and `translated` where it is shown."""
    return text


def translated(text: str) -> str:
    """A finished English sentence, kept or said by a library, in the language of whoever reads it.

    The sentence with the most of its own words that fits is taken; its values are translated in their turn. What fits
    none stays as it is, and so does a single word.
    """
    return text if _catalogue is _NONE else _translated(text, _NESTED)


@lru_cache(maxsize=4096)
def _translated(text: str, depth: int) -> str:
    if depth == 0 or " " not in text:
        return text  # a single word may as well be a value: of a parameter, of a file
    if (whole := _catalogue.texts.get(text)) is not None:
        return whole
    for pattern in _patterns():
        if _in_order(pattern.literals, text) and (match := re.fullmatch(pattern.expression, text, re.DOTALL)):
            values = zip(pattern.fields, match.groups(), strict=True)
            known = {field: _value(field, value, depth) for field, value in values}
            return "".join(_filled(pattern.translation, known))
    sentences = re.split(r"(?<=\.) ", text)
    if len(sentences) > 1 and (said := [_translated(one, depth - 1) for one in sentences]) != sentences:
        return "".join(said)
    if text.endswith(".") and (said_ := _translated(text[:-1], depth - 1)) != text[:-1]:
        return said_ + _STOP[_language]
    before, opening, inside = text.removesuffix(")").partition(" (")
    if opening and text.endswith(")") and (said_ := _translated(before, depth - 1)) != before:
        return f"{said_} ({inside})"  # a list of values in brackets
    for separator in ("; ", ", "):
        parts = text.split(separator)
        if len(parts) > 1 and (said := [_translated(part, depth - 1) for part in parts]) != parts:
            return _LIST[_language].join(said)  # a list; what is no text of ours in it stays
    return text


def _value(field: str, text: str, depth: int) -> str:
    """A label is a word of ours (machine/fingerprint.py), other single words may be anything; of what is listed with
    its cases (decide/sentences.py) the cases are, and what is whole one of our texts ("our algorithms"). How launches
    ended (decide/disqualify.py) are words of ours, too."""
    if field == "statuses":
        return _OR[_language].join(_catalogue.texts.get(status, status) for status in text.split(_OR["en"]))
    if field == "cases":
        said = re.sub(r"\w+, \d+ x \d+ ranks", lambda case: _translated(case[0], depth - 1), text)
        return "".join(_catalogue.texts.get(part, part) if " " in part else part for part in re.split("([,;:] )", said))
    return _catalogue.texts.get(text, text) if field == "label" else _translated(text, depth - 1)


def _in_order(literals: Sequence[str], text: str) -> bool:
    """Whether all of them are there, one behind the other: quicker than asking an expression that does not fit."""
    at = 0
    for literal in literals:
        at = text.find(literal, at)
        if at < 0:
            return False
        at += len(literal)
    return text.startswith(literals[0]) and text.endswith(literals[-1])


def _filled(translation: str, values: Mapping[str, str]) -> Iterator[str]:
    for literal, field, _spec, _conversion in string.Formatter().parse(translation):
        yield literal
        if field is not None:
            yield values[field]


@dataclass(frozen=True)
class _Pattern:
    """A text with placeholders, as it looks once they are filled in."""

    literals: list[str]
    """What is around its fields, in order; the last one ends the text (perhaps empty)."""
    expression: str
    """Compiled for the few whose literals fit a text: all of them would take 0.3 s."""
    fields: list[str]
    translation: str


@cache
def _patterns() -> list[_Pattern]:
    """Those with the most literal text first."""
    texts = (*_catalogue.texts.items(), *_catalogue.plurals.values())
    found = [pattern for text, translation in texts if (pattern := _pattern(text, translation, _catalogue.kept))]
    return sorted(found, key=lambda one: -len("".join(one.literals)))


def _pattern(text: str, translation: str, kept: Collection[str]) -> _Pattern | None:
    """None: the text has no placeholders, or so few letters of its own that it would fit anything."""
    try:
        parts = list(string.Formatter().parse(text))
    except ValueError:  # braces of another kind
        return None
    literals: list[str] = [""]
    fields: list[str] = []
    expression = ""
    for literal, field, _spec, _conversion in parts:
        literals[-1] += literal
        expression += re.escape(literal)
        if field is None:
            continue
        literals.append("")
        if field in fields:
            expression += rf"\{fields.index(field) + 1}"
        else:
            fields.append(field)
            expression += _SHAPES.get(field, "(.*?)")
    letters = sum(map(str.isalpha, "".join(literals)))
    if not fields or letters < 2 or (letters < 4 and not literals[0]) or (letters < _TELLING and text not in kept):
        return None
    return _Pattern(literals, expression, fields, translation)


@cache
def _read(path: Path) -> _Catalogue:
    try:
        from babel.messages.pofile import read_po
    except ImportError:
        return _NONE
    try:
        with path.open("rb") as stream:
            catalogue = read_po(stream)
    except OSError:
        return _NONE
    texts: dict[str, str] = {}
    plurals: dict[str, tuple[str, str]] = {}
    kept: set[str] = set()
    for message in catalogue:
        if not message.id or message.fuzzy:
            continue
        if _KEPT in message.auto_comments:
            kept.update((message.id,) if isinstance(message.id, str) else message.id)
        if isinstance(message.id, str):
            if message.string:
                texts[message.id] = str(message.string)
        elif message.string and message.string[0]:
            one, many = message.id
            # Japanese has one form for all numbers.
            texts[one], plurals[one] = message.string[0], (many, message.string[-1])
    return _Catalogue(texts, plurals, frozenset(kept))


def _shown_by_terminal() -> bool:
    for stream in (sys.stdout, sys.stderr):
        try:
            "日本語".encode(getattr(stream, "encoding", None) or "ascii")
        except (UnicodeEncodeError, LookupError):
            return False
    return True
