"""Which component really serves a communicator, read in what Open MPI says with --mca coll_base_verbose 20.

Open MPI 4.1 and 5.0 print, for every communicator of every process, the components in the order they are stacked:

    [host:pid] coll:base:comm_select: new communicator: MPI_COMM_WORLD (cid 0)
    [host:pid] coll:base:comm_select: selecting       tuned, priority  30, Enabled

The last enabled one that implements a collective serves it. Components refuse at this moment ("Disabled"): sm and
adapt, for one, when nothing stands below them.
"""

from __future__ import annotations

import re

from unisono.mpi import ASSUMED
from unisono.parameters import catalogue

VERBOSE = {"coll_base_verbose": "20"}
"""The MCA parameter with which a launch prints what `parse` reads."""

_LINE = re.compile(r"(\[[^\]\s]+:\d+\]) coll:base:comm_select: (.*)")
_NEW = re.compile(r"new communicator: (.*) \(cid \S+\)")
_SELECTING = re.compile(r"selecting\s+(\w+), priority\s+-?\d+, (Enabled|Disabled)")


def stacked(text: str, communicator: str = "MPI_COMM_WORLD") -> list[str]:
    """The enabled components of a communicator, lowest first; empty when the text does not speak of it.

    Lines of several processes come interleaved and are told apart by their prefix. The first process that selected
    anything for the communicator is reported.
    """
    current: dict[str, str] = {}
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        match = _LINE.search(line)
        if match is None:
            continue
        process, said = match.groups()
        started = _NEW.match(said)
        if started:
            current[process] = started[1]
            continue
        selected = _SELECTING.match(said)
        if selected and selected[2] == "Enabled" and current.get(process) == communicator:
            found.setdefault(process, []).append(selected[1])
    return next(iter(found.values()), [])


def parse(text: str, communicator: str = "MPI_COMM_WORLD", family: str = ASSUMED.FAMILY) -> dict[str, str]:
    """Collective -> component that serves it, and "comm" -> the component on top of the stack.

    Empty when the text holds no selection. What a component implements is taken from the catalogue; components it does
    not have are taken to implement nothing.
    """
    stack = stacked(text, communicator)
    if not stack:
        return {}
    known = catalogue.components(family)
    served = {"comm": stack[-1]}
    for name in stack:
        if name in known:
            served.update(dict.fromkeys(known[name].serves, name))
    return served
