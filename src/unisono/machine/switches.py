"""Files that say behind which switches nodes are: Slurm's topology.conf, or what `scontrol show topology` prints.

The file's language, and every sentence on a mistake, are the library's (native/collectives/places/switches.c).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from unisono.core.language import _

_RANGE = r"[0-9]{1,9}(?:-[0-9]{1,9})?"
_BRACKETS = rf"\[({_RANGE}(?:,{_RANGE})*)\]"
_ELEMENT = re.compile(rf"(?:[^\[\],]*(?:{_BRACKETS})?){{1,4}}")
_MOST_BRACKETS = 3
_MOST_DEPTH = 16
_MOST_TAPER = 1000


@dataclass(slots=True)
class Switches:
    """What a file says: the nodes of switches and the switches of switches, as lists like n[1-18,20],m7."""

    nodes: list[tuple[str, str]] = field(default_factory=list)
    switches: list[tuple[str, str]] = field(default_factory=list)
    taper: float | None = None

    def above(self, host: str) -> tuple[str, ...]:
        """The switches above a host, from the outermost on; none: nothing is said of it."""
        found: list[str] = []
        name: str | None = host
        while name is not None and len(found) < _MOST_DEPTH:
            lists = self.switches if found else self.nodes
            name = next((switch for switch, names in lists if has(names, name)), None)
            found += [name] if name is not None else []
        return tuple(reversed(found))


def are_in(text: str) -> bool:
    """Whether a text is of this kind, and not one of coordinates."""
    first = next((words[0] for words, _number in _lines(text) if words), "")
    return first.lower() == "taper" or "=" in first


def read(text: str) -> Switches:
    """Raises ValueError with the line and what is wrong with it."""
    found = Switches()
    for words, number in _lines(text):
        try:
            _take(words, found)
        except ValueError as error:
            raise ValueError(_("line {number}: {error}").format(number=number, error=error)) from None
    if not found.nodes and not found.switches:
        raise ValueError(_("it names no switches"))
    return found


def has(names: str, name: str) -> bool:
    """Whether a list has this name; the name may go on with a domain."""
    return any(_matches(element, name) for element in _elements(names))


def _lines(text: str) -> list[tuple[list[str], int]]:
    """Words and the number of each line; a line that ends in a backslash goes on in the next."""
    lines: list[tuple[list[str], int]] = []
    words: list[str] = []
    begun: int | None = None
    for number, line in enumerate(text.partition("\0")[0].split("\n"), start=1):
        bare = line.partition("#")[0]
        goes_on = "#" not in line and bare.rstrip("\r").endswith("\\")
        words += re.findall(r"[^ \t\r]+", bare.rstrip("\r").removesuffix("\\") if goes_on else bare)
        begun = begun or number
        if not goes_on:
            lines.append((words, begun))
            words, begun = [], None
    return [*lines, (words, begun)] if begun is not None else lines


def _take(words: list[str], found: Switches) -> None:
    if not words:
        return
    plain = [word for word in words if "=" not in word]
    if words[0].lower() == "taper" and len(plain) <= 2 and plain == words[: len(plain)]:
        found.taper = _taper(words)
        return
    if plain:
        raise ValueError(_("expected words like SwitchName=s1 Nodes=n[1-18], or `taper` and a number"))
    said = {key.lower(): value for key, _equals, value in (word.partition("=") for word in words)}
    name = said.get("switchname", said.get("blockname"))
    lists = [said[key] for key in ("nodes", "switches") if key in said]
    if name is None and not lists:
        return
    if name is None:
        raise ValueError(_("expected SwitchName=NAME first"))
    if not name:
        raise ValueError(_("expected a name behind SwitchName="))
    if not lists:
        raise ValueError(_("expected Nodes=LIST or Switches=LIST behind a switch's name"))
    if not all(_is_list(names) for names in lists):
        raise ValueError(
            _("expected names apart by commas, like n[1-18,20],m7, with at most three pairs of brackets in each")
        )
    if "switches" in said:
        found.switches.append((name, said["switches"]))
    else:
        found.nodes.append((name, said["nodes"]))


def _taper(words: list[str]) -> float:
    if len(words) != 2:
        raise ValueError(_("expected `taper` and a number"))
    if re.fullmatch(r"[0-9]+(?:\.[0-9]*)?", words[1]) and len(words[1]) < 16 and 1 <= float(words[1]) <= _MOST_TAPER:
        return float(words[1])
    raise ValueError(_("expected a taper from 1 to 1000"))


def _elements(names: str) -> list[str]:
    return re.split(r",(?![^\[]*\])", names)


def _is_list(names: str) -> bool:
    return all(element and _ELEMENT.fullmatch(element) and _are_ranges(element) for element in _elements(names))


def _are_ranges(element: str) -> bool:
    brackets = re.findall(_BRACKETS, element)
    limits = [piece.split("-") for bracket in brackets for piece in bracket.split(",")]
    return len(brackets) <= _MOST_BRACKETS and all(int(limit[0]) <= int(limit[-1]) for limit in limits)


def _matches(element: str, name: str) -> bool:
    pieces = re.split(_BRACKETS, element)
    expression = "".join("([0-9]{1,9})" if i % 2 else re.escape(piece) for i, piece in enumerate(pieces))
    domain = "" if "." in "".join(pieces[::2]) else r"(?:\..*)?"
    if len(pieces) <= 3:
        match = re.fullmatch(expression + domain, name)
        return match is not None and all(map(_is_within, pieces[1::2], match.groups()))
    return any(  # brackets side by side share digits in more than one way
        _matches(
            pieces[0] + number + "".join(f"[{piece}]" if i % 2 else piece for i, piece in enumerate(rest, 2)), name
        )
        for number, rest in _first_numbers(pieces, name)
    )


def _first_numbers(pieces: list[str], name: str) -> list[tuple[str, list[str]]]:
    """What the first brackets may stand for in this name, and the pieces behind them."""
    digits = re.match("[0-9]{0,9}", name[len(pieces[0]) :]) if name.startswith(pieces[0]) else None
    text = digits[0] if digits is not None else ""
    numbers = (text[:length] for length in range(1, len(text) + 1))
    return [(number, pieces[2:]) for number in numbers if _is_within(pieces[1], number)]


def _is_within(ranges: str, number: str) -> bool:
    for piece in ranges.split(","):
        first, _dash, last = piece.partition("-")
        wide = len(number) == len(first) or (len(number) > len(first) and number[0] != "0")
        if wide and int(first) <= int(number) <= int(last or first):
            return True
    return False
