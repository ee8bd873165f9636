"""IPM's XML file: per rank, function and message size; regions become phases. No call paths.

IPM counts bytes as the call's own count argument does, so per pair for alltoall and the like, as IMB.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np

from unisono.core.errors import UserError
from unisono.core.language import N_, _
from unisono.core.reading import open_regular
from unisono.profile.importers.builder import Builder
from unisono.profile.importers.text import RANKS_MOST, count, number
from unisono.profile.recorded import PAIR, ROOT, UNKNOWN, Comm, Origin, Profile, blank, collective_of

_SENDS = ("MPI_Send", "MPI_Isend", "MPI_Ssend", "MPI_Issend", "MPI_Bsend", "MPI_Ibsend", "MPI_Rsend", "MPI_Irsend")
_SIZED = (*_SENDS, "MPI_Recv", "MPI_Irecv", "MPI_Sendrecv")
"""Beside collectives. For others, Wait among them, what IPM holds as bytes is no message size."""
_NOT_SIZED = ("alltoallv", "alltoallw", "allgatherv", "gatherv", "scatterv")
"""IPM takes one of the counts: not their mean."""


_PIECE = 1 << 16
_TAG_MOST = 4 << 20
"""Bytes of one tag with its attributes, or of one text. A command line fits in."""
_TASK_MOST = 64 << 20
"""Bytes of what one rank did: some 300,000 entries."""


@dataclass
class _Task:
    """One rank. `calls`: (function, bytes, region, exact) -> [count, seconds, shortest, longest]."""

    host: str = ""
    wall: float = 0.0
    calls: dict[tuple[str, int, int, bool], list[float]] = field(default_factory=dict)
    pairs: dict[int, list[int]] = field(default_factory=dict)


@dataclass
class _File:
    ranks: int = 0
    command: str = ""
    nodes: int = UNKNOWN
    hashed: bool = True
    tasks: dict[int, _Task] = field(default_factory=dict)
    regions: dict[int, str] = field(default_factory=dict)
    copies: dict[int, int] = field(default_factory=dict)


NAME = "ipm"
LABEL = N_("IPM, imported from its report")
GIVEN_AS = N_("IPM's XML")
IN_DIRECTORY: tuple[str, ...] = ()


def recognises(path: Path, head: bytes) -> bool:
    return b"<ipm_job_profile" in head


def read(path: Path) -> Profile:
    """The profile in an IPM XML file. Raises UserError."""
    file = _parse(path)
    if not file.tasks or not 0 < file.ranks <= RANKS_MOST:
        raise UserError(
            _("{path}: holds no <task> of an MPI rank; it is truncated, or no profile of IPM").format(path=path)
        )
    for rank, source in file.copies.items():
        if source in file.tasks and 0 <= rank < file.ranks:
            file.tasks.setdefault(rank, file.tasks[source])
    builder = Builder(str(path), file.ranks, [Comm(file.ranks, file.nodes)])
    names = [name for name in dict.fromkeys(file.regions.values()) if name]
    phases = {name: at for at, name in enumerate(names, 1)}
    for rank, task in sorted(file.tasks.items()):
        _add(builder, rank, task, {number: phases.get(name, 0) for number, name in file.regions.items()})
    builder.notes = _notes(file)
    wall = np.zeros(file.ranks)
    for rank, task in file.tasks.items():
        wall[rank] = task.wall
    hosts = tuple(file.tasks[rank].host if rank in file.tasks else "" for rank in range(file.ranks))
    pairs = [
        (rank, target, calls, sent)
        for rank, task in sorted(file.tasks.items())
        for target, (calls, sent) in sorted(task.pairs.items())
        if target < file.ranks
    ]
    profile = builder.build(Origin(NAME, command=file.command, hosts=hosts if any(hosts) else ()), wall)
    return dataclasses.replace(profile, phases=("", *names), pairs=np.array(pairs, PAIR))


def _parse(path: Path) -> _File:
    file = _File()
    try:
        with open_regular(path) as stream:
            if b"<!ENTITY" in stream.read(1 << 16):
                raise UserError(_("{path}: defines entities, which IPM never does; it is not read").format(path=path))
            stream.seek(0)
            for element in _elements(stream, path):
                if element.tag == "task":
                    _task(element, file)
                elif element.tag == "taskcopy":
                    file.copies[int(element.attrib["mpi_rank"])] = int(element.attrib["cluster_rank"])
    except OSError as error:
        raise UserError(_("{path}: cannot be read: {strerror}").format(path=path, strerror=error.strerror)) from error
    except ElementTree.ParseError as error:
        raise UserError(
            _("{path}: is not well-formed XML: {error}; the file is damaged or truncated").format(
                path=path, error=error
            )
        ) from error
    except (KeyError, ValueError, LookupError) as error:
        raise UserError(_("{path}: is no profile as IPM writes it: {error}").format(path=path, error=error)) from error
    return file


def _elements(stream: BinaryIO, path: Path) -> Iterator[Element]:
    """What is right below the root, one after the other, and only one in memory. Raises UserError for one that is too
    large, and for a tag that does not end: the parser begins again with it for every piece that it is given."""
    parser: ElementTree.XMLPullParser[Element] = ElementTree.XMLPullParser(("start", "end"))
    root: Element | None = None
    depth = silent = held = 0
    while piece := stream.read(_PIECE):
        parser.feed(piece)
        silent, held = silent + len(piece), held + len(piece)
        for event, element in parser.read_events():  # type: ignore[misc]
            assert isinstance(element, Element)
            silent = 0
            depth += 1 if event == "start" else -1
            root = element if root is None else root
            if event == "end" and depth == 1:
                yield element
                assert root is not None
                root.clear()
                held = 0
        if silent > _TAG_MOST or held > _TASK_MOST:
            what, most = (_("a tag or a text"), _TAG_MOST) if silent > _TAG_MOST else (_("a <task>"), _TASK_MOST)
            raise UserError(
                _("{path}: has {what} of more than {most:,} bytes, which IPM never writes").format(
                    path=path, what=what, most=most
                )
            )
    parser.close()


def _task(element: Element, file: _File) -> None:
    rank, ranks = int(element.attrib["mpi_rank"]), int(element.attrib["mpi_size"])
    if not 0 <= rank < ranks or (file.ranks and ranks != file.ranks):
        raise ValueError(f"rank {rank} of {ranks}")
    file.ranks = ranks
    perf, job = element.find("perf"), element.find("job")
    task = _Task((element.findtext("host") or "").strip())
    task.wall = _seconds(perf.attrib["wtime"]) if perf is not None else 0.0
    file.command = file.command or (element.findtext("cmdline") or "").strip()
    if job is not None and file.nodes == UNKNOWN:
        nodes = count(job.get("nhosts", "")) or 0
        file.nodes = nodes if 0 < nodes <= ranks else UNKNOWN
    for region in element.iter("region"):
        label = region.get("label", "")
        file.regions[int(region.get("id", "0"))] = "" if label.startswith("ipm_") else label
    entries = element.findall("hash/hent")
    for entry in entries:
        total, least, most = (_seconds(text) for text in (entry.text or "").split()[:3])
        sent = count(entry.attrib["bytes"].removeprefix("-")) or 0
        key = (entry.attrib["call"], sent, int(entry.get("region", "0")), True)
        _merge(task, key, _calls(entry), total, least, most)
        partner = int(entry.get("orank", "-1"))
        if entry.attrib["call"] in _SENDS and partner >= 0:
            pair = task.pairs.setdefault(partner, [0, 0])
            pair[0] += _calls(entry)
            pair[1] += _calls(entry) * sent
    if not entries:
        file.hashed = False
        for region in element.findall("regions/region"):
            for entry in region.findall("func"):
                calls = _calls(entry)
                mean = round(_seconds(entry.get("bytes", "0")) / calls) if calls else 0
                key = (entry.attrib["name"], mean, int(region.get("id", "0")), False)
                _merge(task, key, calls, _seconds(entry.text or "0"), np.inf, 0.0)
    file.tasks[rank] = task


def _merge(task: _Task, key: tuple[str, int, int, bool], calls: int, total: float, least: float, most: float) -> None:
    """One entry more of the same function, size and region: IPM keeps partners apart."""
    if not key[0].startswith("MPI_") or not calls:
        return
    entry = task.calls.setdefault(key, [0, 0.0, np.inf, 0.0])
    entry[0] += calls
    entry[1] += total
    entry[2], entry[3] = min(entry[2], least), max(entry[3], most)


def _add(builder: Builder, rank: int, task: _Task, phases: dict[int, int]) -> None:
    cells = blank(len(task.calls) + 1)
    cells["rank"], cells["path"] = rank, ROOT
    spent = 0.0
    for cell, ((name, size, region, exact), (calls, total, least, most)) in zip(
        cells, task.calls.items(), strict=False
    ):
        collective = collective_of(name)
        cell["function"], cell["phase"] = builder.function(name), phases.get(region, 0)
        cell["calls"], cell["time"] = calls, total
        if exact:
            cell["time_min"], cell["time_max"] = least, most
        if collective:
            cell["comm"] = 0
        if (collective and collective not in _NOT_SIZED) or name in _SIZED:
            cell["size"] = size
            if exact:
                cell["size_min"] = cell["size_max"] = size
        if name in _SENDS:
            cell["sent"] = calls * size
        spent += total
    cells["time"][-1], cells["calls"][-1] = max(0.0, task.wall - spent), 1
    builder.add(cells)


def _notes(file: _File) -> list[str]:
    notes = [
        N_("IPM holds no call paths and no waiting; MPI_COMM_WORLD was assumed for collectives"),
        N_("IPM can be set up to round message sizes to three significant bits"),
    ]
    if not file.hashed:
        notes.append(N_("written without IPM_LOG=full: message sizes are means, assumed uniform"))
    if file.copies:
        notes.append(
            N_("{count} ranks were clustered by IPM: they are copies of similar ranks").format(count=len(file.copies))
        )
    missing = file.ranks - len(file.tasks)
    if missing:
        notes.append(
            N_("{count} of {ranks} ranks are not in the file: totals are too small").format(
                count=missing, ranks=file.ranks
            )
        )
    return notes


def _calls(entry: Element) -> int:
    calls = count(entry.attrib["count"])
    if calls is None:
        raise ValueError(f"count {entry.attrib['count']!r}")
    return calls


def _seconds(text: str) -> float:
    value = number(text.strip())
    if value is None:
        raise ValueError(f"{text.strip()[:40]!r} is not a number of seconds or bytes")
    return value
