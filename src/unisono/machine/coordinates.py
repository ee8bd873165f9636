"""Where our collectives would learn where nodes are (a torus, switches), and whether the file that says so is right.

The file's language, and every sentence on a mistake, are the library's (native/collectives/coordinates.c).
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from pathlib import Path

from unisono.core.errors import UserError
from unisono.core.language import N_, _, ngettext
from unisono.core.reading import COORDINATES_MOST, read_bytes
from unisono.machine import switches
from unisono.machine.description import Mpi

VARIABLE = "UNISONO_TOPOLOGY"
_LETTERS = "xyzuvw"
_MOST_PLACES = 1 << 24
_LONGEST_WORD = 255
_LONGEST_EXTENTS = 80

_TELLERS = (
    (N_("Fujitsu's MPI"), b"FJMPI_Topology_get_dimension"),
    (N_("Blue Gene/Q's MPI"), b"MPIX_Torus_ndims"),
)
"""MPI libraries that tell coordinates by themselves (native/collectives/inquiry.c), and what they have for it."""


@dataclass(slots=True)
class Coordinates:
    """What a file says of a machine."""

    extents: tuple[int, ...]
    wraps: tuple[bool, ...]
    is_grid: bool
    """The nodes in order; else by names."""
    hosts: set[str] = field(default_factory=set)
    patterns: list[str] = field(default_factory=list)

    @property
    def shape(self) -> str:
        return "x".join(map(str, self.extents))

    @property
    def kind(self) -> str:
        words = ["torus" if wraps else "mesh" for wraps in self.wraps]
        return words[0] if len(set(words)) == 1 else " ".join(words)

    def knows(self, host: str) -> bool:
        """Whether a host has a place; of a grid it is not known before the ranks are there."""
        names = {host, host.partition(".")[0]}
        return bool(names & self.hosts) or any(self._named(pattern, host) for pattern in self.patterns)

    def _named(self, pattern: str, host: str) -> bool:
        pieces = re.split(r"%(.)", pattern)
        expression = "".join(r"([0-9]+)" if i % 2 else re.escape(piece) for i, piece in enumerate(pieces))
        match = re.fullmatch(rf"{expression}(?:\..*)?", host)
        if match is None:
            return False
        limits = (
            prod(self.extents) if letter == "n" else self.extents[_LETTERS.index(letter)] for letter in pieces[1::2]
        )
        return all(int(number) < limit for number, limit in zip(match.groups(), limits, strict=True))


def read(text: str) -> Coordinates:
    """Raises ValueError with the line and what is wrong with it."""
    found: Coordinates | None = None
    for number, line in enumerate(text.partition("\0")[0].split("\n"), start=1):
        words = line.partition("#")[0].replace("\r", " ").replace("\t", " ").split(" ")
        words = [word for word in words if word]
        if not words:
            continue
        try:
            if len(words) > 2 + len(_LETTERS) or any(len(word) > _LONGEST_WORD for word in words):
                raise ValueError(_("too many words, or too long ones"))
            found = _extents(words, found) if words[0] in ("grid", "extents") else _place(words, found)
        except ValueError as error:
            raise ValueError(_("line {number}: {error}").format(number=number, error=error)) from None
    if found is None:
        raise ValueError(_("it says no extents"))
    return found


def _extents(words: Sequence[str], found: Coordinates | None) -> Coordinates:
    if found is not None:
        raise ValueError(_("the extents are given twice"))
    extents = words[1] if len(words) > 2 else ""
    if re.fullmatch(r"[0-9]+(x[0-9]+)*", extents):
        numbers = tuple(map(int, extents.split("x"))) if len(extents) <= _LONGEST_EXTENTS else ()
        wraps = list(words[2:]) * (len(numbers) if len(words) == 3 else 1)
        if (
            1 <= len(numbers) <= len(_LETTERS)
            and 1 <= prod(numbers) <= _MOST_PLACES
            and len(wraps) == len(numbers)
            and set(wraps) <= {"torus", "mesh"}
        ):
            return Coordinates(numbers, tuple(word == "torus" for word in wraps), words[0] == "grid")
    raise ValueError(_("expected extents like 8x8x6 and then `torus` or `mesh`, once or for each dimension"))


def _place(words: Sequence[str], found: Coordinates | None) -> Coordinates:
    if found is None:
        raise ValueError(_("expected `extents 8x8x6 torus` or `grid 8x8x6 torus` first"))
    if words[0] == "names":
        letters = re.findall(r"%(.?)", words[1]) if len(words) == 2 else []
        if sorted(letters) not in (["n"], sorted(_LETTERS[: len(found.extents)])):
            raise ValueError(_("expected a pattern with each coordinate once, like n%x-%y-%z, or with %n"))
        found.patterns.append(words[1])
        return found
    at = words[1:]
    fits = all(re.fullmatch("[0-9]+", word) and int(word) < most for word, most in zip(at, found.extents, strict=False))
    if len(at) != len(found.extents) or not fits:
        raise ValueError(_("expected a host and its coordinates, each below its extent"))
    found.hosts.add(words[0])
    return found


def described(environment: Mapping[str, str], hosts: Iterable[str], mpi: Mpi | None) -> str:
    """One line: the coordinates that the library would find under this environment, in its own words."""
    path = environment.get(VARIABLE)
    if path == "none":
        return _("none, because {variable}=none switches them off").format(variable=VARIABLE)
    if not path:
        teller = told_by(mpi)
        return (
            _("from {teller}").format(teller=teller)
            if teller
            else _("none; a file with them can be named in {variable}").format(variable=VARIABLE)
        )
    try:
        text = read_bytes(Path(path), COORDINATES_MOST).decode("latin-1")
        if switches.are_in(text):
            return _groups(switches.read(text), path, hosts)
        found = read(text)
    except UserError:
        return _("{variable}={path}: it cannot be read; programs with our collectives end with this line").format(
            variable=VARIABLE, path=path
        )
    except ValueError as error:
        return _("{variable}={path}: {error}; programs with our collectives end with this line").format(
            variable=VARIABLE, path=path, error=error
        )
    if found.is_grid:
        nodes = _("nodes in order of their lowest ranks")
    else:
        hosts_named = ngettext("{count:,} host", "{count:,} hosts", len(found.hosts)).format(count=len(found.hosts))
        by_name = [_("names like {pattern}").format(pattern=pattern) for pattern in found.patterns]
        nodes = _(" and ").join(([hosts_named] if found.hosts or not by_name else []) + by_name)
    places = prod(found.extents)
    said = ngettext(
        "{shape}, from {variable}={path}: {kind}, {count:,} place, {nodes}",
        "{shape}, from {variable}={path}: {kind}, {count:,} places, {nodes}",
        places,
    ).format(shape=found.shape, variable=VARIABLE, path=path, kind=found.kind, count=places, nodes=nodes)
    unknown = [host for host in hosts if not found.is_grid and not found.knows(host)]
    if unknown:
        said += ngettext(
            "; it says nothing of the node {names}: communicators with it are no cuboids",
            "; it says nothing of the nodes {names}: communicators with them are no cuboids",
            len(unknown),
        ).format(names=_some(unknown))
    return said


def _groups(found: switches.Switches, path: str, hosts: Iterable[str]) -> str:
    """One line on a file of switches."""
    count = len(found.nodes)
    said = ngettext(
        "none, but groups of nodes, from {variable}={path}: {count:,} switch with nodes",
        "none, but groups of nodes, from {variable}={path}: {count:,} switches with nodes",
        count,
    ).format(variable=VARIABLE, path=path, count=count)
    if found.taper is not None:
        said += _(", taper {taper:g}").format(taper=found.taper)
    by_number = any("%" in names for _switch, names in found.nodes)
    unknown = [host for host in hosts if not by_number and not found.above(host)]
    if unknown:
        said += ngettext(
            "; it says nothing of the node {names}: in jobs with it nodes are taken as equally near",
            "; it says nothing of the nodes {names}: in jobs with them nodes are taken as equally near",
            len(unknown),
        ).format(names=_some(unknown))
    return said


def told_by(mpi: Mpi | None) -> str | None:
    """Which MPI this is, if it tells coordinates by itself."""
    root = Path(mpi.root) if mpi is not None and mpi.root else None
    if root is None:
        return None
    libraries = [path for folder in ("lib", "lib64") for path in (root / folder).glob("libmpi*") if path.is_file()]
    return next((name for name, symbol in _TELLERS if any(_contains(path, symbol) for path in libraries)), None)


def _contains(path: Path, symbol: bytes) -> bool:
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return data.find(symbol + b"\0") >= 0
    except (OSError, ValueError):  # none that can be read, or an empty one
        return False


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (_(" and {count} more").format(count=len(names) - 3) if len(names) > 3 else "")
