"""From what the ranks wrote to a profile: one call tree for all of them, named after the run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from unisono.core.errors import UserError
from unisono.core.language import N_, _
from unisono.profile.check import problem
from unisono.profile.messages import CALLS, waited
from unisono.profile.rawfile import Part, read_parts
from unisono.profile.recorded import (
    COMPLETING,
    LATE,
    NO_FUNCTION,
    PAIR,
    ROOT,
    STARTING,
    UNKNOWN,
    Comm,
    Frame,
    Origin,
    Profile,
    blank,
    has_request,
    is_persistent,
)
from unisono.profile.recorded import Path as CallPath
from unisono.profile.symbols import readable, symbolise

Place = tuple[str, int]
"""Object file and address in it; ("", address) for code that belongs to no file."""
Symboliser = Callable[[Sequence[Place]], list[tuple[Frame, ...]]]


def read_raw(paths: Sequence[Path], symboliser: Symboliser = symbolise) -> Profile:
    """The profile of one run: `<prefix>.raw`, or the ranks' own files of a run that did not end by itself.

    Ranks that wrote nothing have a wall time of 0 and no rows, which a note says. A rank that is in several files is
    taken from the first. Raises UserError for files that cannot be read, are damaged, or are of several runs.
    """
    if not paths:
        raise UserError(_("no file to read: name the .raw files a profiled run wrote"))
    parts: dict[int, Part] = {}
    for path in paths:
        for part in read_parts(path):
            first = next(iter(parts.values()), part)
            if part.ranks != first.ranks:
                raise UserError(
                    _("{path}: is of a run with {ranks} ranks, {paths} of one with {ranks2}").format(
                        path=path, ranks=part.ranks, paths=paths[0], ranks2=first.ranks
                    )
                )
            parts.setdefault(part.rank, part)
    profile = _Merger([parts[rank] for rank in sorted(parts)], symboliser).profile()
    wrong = problem(profile)
    if wrong:
        raise UserError(_("{paths}: {wrong}; the file is damaged").format(paths=paths[0], wrong=wrong))
    return profile


@dataclass
class _Table:
    """Things of all ranks under common numbers."""

    numbers: dict[Any, int] = field(default_factory=dict)

    def add(self, things: Iterable[Any]) -> npt.NDArray[np.int32]:
        """The common number of each."""
        numbers = self.numbers
        return np.asarray([numbers.setdefault(thing, len(numbers)) for thing in things], np.int32)


class _Merger:
    def __init__(self, parts: Sequence[Part], symboliser: Symboliser) -> None:
        self.parts = parts
        self.symboliser = symboliser
        self.ranks = parts[0].ranks
        self.functions = _Table({"": 0})
        self.phases = _Table({"": 0})
        self.places = _Table()
        self.chains = _Table({(): 0})
        """Tuples of numbers of places, innermost first."""
        self.shapes = _Table()
        self.created: dict[tuple[int, int], int] = {}
        self.waited = waited(parts)

    def profile(self) -> Profile:
        rows = [self._cells(part, wait) for part, wait in zip(self.parts, self.waited.rows, strict=True)]
        frames, paths, path_of = _tree(list(self.chains.numbers), list(self.places.numbers), self.symboliser)
        cells = np.concatenate([*map(_own_time, self.parts), *rows])
        cells["path"] = path_of[cells["path"]]
        late = np.concatenate([_late(own, wait) for own, wait in zip(rows, self.waited.waits, strict=True)])
        late["path"] = path_of[late["path"]]
        wall = np.zeros(self.ranks)
        hosts = [""] * self.ranks
        for part in self.parts:
            wall[part.rank] = max(part.number("wall_ns"), 0) / 1e9
            hosts[part.rank] = part.text("host")
        return Profile(
            origin=self._origin(tuple(hosts)),
            functions=tuple(self.functions.numbers),
            frames=frames,
            paths=paths,
            comms=tuple(Comm(size, nodes, self._created(size, nodes)) for size, nodes in self.shapes.numbers),
            phases=tuple(self.phases.numbers),
            cells=cells,
            wall=wall,
            pairs=self._pairs(),
            step=self.waited.step,
            late=late[(late["peer"] >= 0) & (late["peer"] < self.ranks)],
            notes=tuple(self._notes()),
        )

    # -- one part --------------------------------------------------------------------------------------------------

    def _cells(self, part: Part, wait: npt.NDArray[np.float64]) -> npt.NDArray[np.void]:
        """Its rows under common numbers; `path` is still the number of a chain."""
        functions = self.functions.add(part.functions)
        phases = self.phases.add(part.phases)
        comms = self._comms(part)
        chains = self._chains(part)
        raw = part.cells
        out = blank(len(raw))
        out["path"] = chains[raw["path"]]
        out["function"] = functions[raw["function"]]
        out["phase"] = phases[raw["phase"]]
        out["comm"] = np.where(raw["comm"] >= 0, comms[raw["comm"]], UNKNOWN)
        out["rank"] = part.rank
        for name in ("size_min", "size_max", "sent", "received"):
            out[name] = np.maximum(raw[name], UNKNOWN)
        out["calls"] = raw["calls"].astype(np.int64)
        mean = raw["size_sum"] / np.maximum(raw["calls"], 1)
        out["size"] = np.where(raw["size_min"] < 0, UNKNOWN, np.rint(np.minimum(mean, 2.0**62)).astype(np.int64))
        exact = raw["size_min"] == raw["size_max"]
        out["size"][exact] = out["size_min"][exact]
        for name in ("time", "time_min", "time_max"):
            out[name] = raw[name] / 1e9
        out["waiting"] = np.where(raw["waiting"] < 0, wait, raw["waiting"] / 1e9)
        _complete(out, part)
        return out

    def _comms(self, part: Part) -> npt.NDArray[np.int32]:
        shapes = [(max(size, UNKNOWN), max(nodes, UNKNOWN)) for size, nodes, _ in part.comms]
        for shape, (*_shape, created) in zip(shapes, part.comms, strict=True):
            self.created[shape] = self.created.get(shape, 0) + max(created, 0)
        numbers = self.shapes.add(shapes)
        return numbers if len(numbers) else np.asarray([UNKNOWN], np.int32)

    def _created(self, size: int, nodes: int) -> int:
        """Every rank counts those it is in, so each was counted `size` times."""
        return max(1, round(self.created[size, nodes] / max(size, 1)))

    def _chains(self, part: Part) -> npt.NDArray[np.int32]:
        addresses, inverse = np.unique(part.frames, return_inverse=True)
        common = self.places.add(_places(addresses, part.modules))
        flat = common[inverse].tolist() if len(addresses) else []
        starts = part.starts.tolist()
        return self.chains.add(tuple(flat[a:b]) for a, b in pairwise(starts))

    # -- all parts -------------------------------------------------------------------------------------------------

    def _pairs(self) -> npt.NDArray[np.void]:
        found = []
        for part in self.parts:
            out = np.zeros(len(part.pairs), PAIR)
            out["source"] = part.rank
            for name in ("target", "calls", "bytes"):
                out[name] = part.pairs[name]
            found.append(out)
        return np.concatenate(found)

    def _origin(self, hosts: tuple[str, ...]) -> Origin:
        first = self.parts[0]
        overheads = [part.number("overhead_ns") for part in self.parts if part.number("overhead_ns") > 0]
        started = first.number("started")
        try:
            created = datetime.fromtimestamp(started, timezone.utc).isoformat()
        except (OverflowError, OSError, ValueError):
            created = ""
        return Origin(
            source="unisono",
            command="",
            created=created,
            mpi=first.text("mpi"),
            ended=self._ended(),
            hosts=hosts,
            depth=first.number("depth", UNKNOWN),
            split_waiting=first.about.get("split_waiting") is True,
            overhead_ns=float(np.median(overheads)) if overheads else float("nan"),
            dropped=sum(max(part.number("dropped"), 0) for part in self.parts),
        )

    def _ended(self) -> str:
        """The cause where there was one: mpirun ends the other ranks by SIGTERM."""
        ends = [part.text("ended") or "finalize" for part in self.parts]
        unusual = [end for end in ends if end != "finalize"]
        return next((end for end in unusual if end != "signal SIGTERM"), (unusual or ["finalize"])[0])

    def _notes(self) -> list[str]:
        notes = []
        missing = sorted(set(range(self.ranks)) - {part.rank for part in self.parts})
        if missing:
            shown = ", ".join(map(str, missing[:8])) + (" ..." if len(missing) > 8 else "")
            notes.append(
                N_("{count} of {ranks} ranks wrote nothing ({shown}), so no row includes them").format(
                    count=len(missing), ranks=self.ranks, shown=shown
                )
            )
        if self._ended() != "finalize":
            notes.append(
                N_(
                    "the program did not reach MPI_Finalize but ended by {cause}; the profile covers the time until "
                    "then"
                ).format(cause=self._ended())
            )
        for name, sentence in (
            (
                "dropped",
                N_(
                    "{count} calls did not fit into the recorder's tables and are in no row; give the recorder more "
                    "memory with UNISONO_PROFILE_MEMORY"
                ),
            ),
            (
                "paths_lost",
                N_(
                    "the call path of {count} calls did not fit into the recorder's tables; these calls are shown "
                    "without one"
                ),
            ),
            ("phases_lost", N_("the names of {count} phases did not fit into the recorder's tables")),
            (
                "pending_lost",
                N_(
                    "{count} nonblocking collectives were begun while too many others were under way: the wait for "
                    "them is counted with the calls that completed them"
                ),
            ),
            (
                "elsewhere_calls",
                N_("{count} messages went to ranks that were started later; the matrix does not show them"),
            ),
        ):
            total = sum(max(part.number(name), 0) for part in self.parts)
            if total:
                notes.append(sentence.format(count=f"{total:,}"))
        return [*notes, *self._waited_for()]

    def _waited_for(self) -> list[str]:
        """What point-to-point calls waited for, where the messages were logged."""
        found = self.waited
        if not found.paired:
            return []
        total = 0.0
        for part in self.parts:
            waits = np.asarray([name in CALLS for name in part.functions])
            total += float(part.cells["time"][waits[part.cells["function"]]].sum(dtype=np.float64)) / 1e9
        said = N_(
            "all ranks spent {total} s in point-to-point calls, {sender} s of it waiting for late senders and "
            "{receiver} s for late receivers; messages were paired for {share} of that time"
        )
        share = f"{min(1.0, found.paired / max(total, 1e-12)):.0%}"
        sender, receiver = f"{found.late_sender:.3g}", f"{found.late_receiver:.3g}"
        notes = [said.format(total=f"{total:.3g}", sender=sender, receiver=receiver, share=share)]
        if found.nodes > 1:
            compared = N_(
                "the clocks of {nodes} nodes were compared by the messages between them; half of these "
                "comparisons are exact to {unsure} us or better, and a wait that is shorter than this error "
                "counts as not paired"
            )
            notes.append(compared.format(nodes=found.nodes, unsure=f"{found.unsure * 1e6:.2g}"))
        return notes


def _places(addresses: npt.NDArray[np.uint64], modules: Sequence[tuple[str, int, int]]) -> list[Place]:
    """Object and offset of each address; where objects overlap in time, the one listed last that holds it."""
    if not modules:
        return [("", address) for address in addresses.tolist()]
    order = sorted(range(len(modules)), key=lambda number: (modules[number][2], number))
    ends = np.asarray([modules[number][2] for number in order], np.int64)
    # A return address may be the first byte behind its object: it is the call before it that counts.
    found = np.searchsorted(ends, addresses.astype(np.int64) - 1, side="right")
    out: list[Place] = []
    for address, at in zip(addresses.tolist(), found.tolist(), strict=True):
        path, base, _end = modules[order[at]] if at < len(order) else ("", 0, 0)
        out.append((path, address - base) if path and address > base else ("", address))
    return out


def _tree(
    chains: Sequence[tuple[int, ...]], places: Sequence[Place], symboliser: Symboliser
) -> tuple[tuple[Frame, ...], tuple[CallPath, ...], npt.NDArray[np.int32]]:
    """Frames, the call tree, and each chain's node in it."""
    named = symboliser(places)
    frames: dict[Frame, int] = {}
    nodes: dict[tuple[int, int], int] = {}
    path_of = np.zeros(len(chains), np.int32)
    for number, chain in enumerate(chains):
        at = ROOT
        for frame in reversed(readable([frame for place in chain for frame in named[place]])):
            key = (at, frames.setdefault(frame, len(frames)))
            at = nodes.setdefault(key, len(nodes) + 1)
        path_of[number] = at
    return tuple(frames), (CallPath(UNKNOWN, UNKNOWN), *(CallPath(*key) for key in nodes)), path_of


def _complete(cells: npt.NDArray[np.void], part: Part) -> None:
    """How long its nonblocking and persistent collectives were waited for, and in which calls, where the library looked
    for that."""
    raw = part.completions
    begins, again, ends = (
        np.asarray([is_one(name) for name in part.functions])[part.cells["function"]]
        for is_one in (has_request, is_persistent, (COMPLETING | STARTING).__contains__)
    )
    if raw is None:
        return
    calls, time = np.zeros(len(cells)), np.zeros(len(cells))
    np.add.at(calls, raw["cell"], raw["calls"].astype(np.float64))
    np.add.at(time, raw["cell"], raw["time"] / 1e9)
    cells["completion"][begins] = time[begins]
    cells["completion"][ends] = np.minimum(time, cells["time"])[ends]
    cells["completed"][begins] = np.where(again, calls, np.minimum(calls, cells["calls"]))[begins]


def _late(cells: npt.NDArray[np.void], waits: npt.NDArray[np.void]) -> npt.NDArray[np.void]:
    """For whom a rank's rows waited; `path` is still the number of a chain."""
    out = np.zeros(len(waits), LATE)
    for name in ("path", "function", "comm", "phase", "rank"):
        out[name] = cells[name][waits["cell"]]
    for name in ("peer", "receiver", "time"):
        out[name] = waits[name]
    return out


def _own_time(part: Part) -> npt.NDArray[np.void]:
    """One row: what the rank did outside MPI. Several threads may be in MPI at once: it is never below 0."""
    out = blank(1)
    out["function"], out["path"], out["rank"] = NO_FUNCTION, 0, part.rank
    out["time"] = max(0.0, part.number("wall_ns") / 1e9 - float(part.cells["time"].sum(dtype=np.float64)) / 1e9)
    return out
