"""`profile.cubex` and `summary.cubex` of Score-P and Scalasca: call paths, time, calls and bytes per rank."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from unisono.core.errors import UserError
from unisono.core.language import N_, _
from unisono.profile.importers.builder import Builder
from unisono.profile.importers.cube_anchor import (
    INCLUSIVE,
    Anchor,
    Node,
    Region,
    deep_order,
    parse_anchor,
    wide_orders,
)
from unisono.profile.importers.cube_file import VALUES_MOST, CubeFile, place
from unisono.profile.importers.message_size import message_size
from unisono.profile.importers.text import COUNT_MOST, RANKS_MOST
from unisono.profile.recorded import NO_FUNCTION, ROOT, UNKNOWN, Comm, Frame, Origin, Profile, blank, collective_of

_GROUPS = {"openmp": "OMP", "pthread": "PTHREAD", "measurement": "SCOREP"}
"""Score-P's paradigms that are groups of their own in the flat table; user code is USR or COM by the call tree."""
_Matrix = npt.NDArray[np.float64]


NAME = "cubex"
LABEL = N_("Score-P or Scalasca, imported from its Cube file")
GIVEN_AS = N_("profile.cubex (Score-P, Scalasca)")
IN_DIRECTORY: tuple[str, ...] = ("profile.cubex", "summary.cubex", "scout.cubex")


def recognises(path: Path, head: bytes) -> bool:
    return head[257:262] == b"ustar" or b"anchor.xml\0" in head


def read(path: Path) -> Profile:
    """The profile in a Cube4 file. Raises UserError, naming the metric where it is one."""
    with CubeFile(path) as file:
        anchor = parse_anchor(file.anchor(), file.where)
        if len(anchor.nodes) * len(anchor.locations) > VALUES_MOST:
            raise UserError(
                _(
                    "{path}: holds {count:,} call paths on {count2:,} locations, more than fit into memory; "
                    "reduce it with cube_reduce or cube_cut"
                ).format(path=path, count=len(anchor.nodes), count2=len(anchor.locations))
            )
        reader = _Reader(file, anchor)
        return reader.profile()


class _Reader:
    """One file being read: values per call path (in document order) and rank."""

    def __init__(self, file: CubeFile, anchor: Anchor) -> None:
        self.file, self.anchor = file, anchor
        self.metrics = {metric.name: metric for metric in anchor.metrics}
        self.rank = np.array([location.rank if location.thread else -1 for location in anchor.locations])
        self.ranks = int(self.rank.max()) + 1
        if not 0 < self.ranks <= RANKS_MOST:
            raise UserError(_("{where}: has no MPI ranks in its system tree").format(where=file.where))
        self.parents = np.array([node.parent for node in anchor.nodes])

    def profile(self) -> Profile:
        time = self._values("time")
        visits = self._values("visits")
        if time is None or visits is None:
            missing = "time" if time is None else "visits"
            raise UserError(
                _("{where}: has no values of the metric {missing}; without it there is no profile").format(
                    where=self.file.where, missing=missing
                )
            )
        inclusive, exclusive = self._both("time", time)
        _inclusive, visits = self._both("visits", visits)
        sent, received = self._bytes("bytes_sent"), self._bytes("bytes_received")
        least, most = self._values("min_time"), self._values("max_time")
        builder = Builder(self.file.where, self.ranks, [Comm(self.ranks, self._nodes())])
        builder.notes = self._notes(sent is not None)
        calls = self._per_rank(visits)
        seconds = self._per_rank(exclusive)
        if np.any(calls > COUNT_MOST):
            raise UserError(
                _("{where}: the metric visits has impossible values; the file is damaged").format(where=self.file.where)
            )
        shortest = None if least is None else self._per_rank(np.where(visits > 0, least, np.inf), np.minimum)
        longest = None if most is None else self._per_rank(most, np.maximum)
        paths = self._paths(builder)
        for number, node in enumerate(self.anchor.nodes):
            here = np.flatnonzero((calls[number] > 0) | (seconds[number] > 0))
            if not len(here):
                continue
            cells = blank(len(here))
            cells["path"], cells["rank"] = paths[number], here
            cells["calls"] = calls[number, here]
            cells["time"] = seconds[number, here]
            if is_mpi(node.region):
                function = node.region.name
                cells["function"] = builder.function(function)
                cells["comm"] = 0 if collective_of(function) else UNKNOWN
                rows = [None if values is None else values[number, here] for values in (sent, received)]
                cells["size"] = message_size(function, self.ranks, calls[number, here], *rows)
                exact = cells["size"] == 0
                cells["size_min"][exact] = cells["size_max"][exact] = 0
                for name, row in zip(("sent", "received"), rows, strict=True):
                    if row is not None:
                        cells[name] = row
                if shortest is not None and longest is not None:
                    called = cells["calls"] > 0
                    cells["time_min"][called] = np.maximum(0.0, shortest[number, here])[called]
                    cells["time_max"][called] = np.maximum(0.0, longest[number, here])[called]
            else:
                cells["function"] = NO_FUNCTION
            builder.add(cells)
        return builder.build(self._origin(), self._wall(inclusive))

    def _values(self, name: str) -> _Matrix | None:
        """Call paths x locations in document order, as the metric has them; None where the file has no values."""
        metric = self.metrics.get(name)
        if metric is None:
            return None
        values = self.file.values(metric.number, name, metric.type, len(self.anchor.nodes), len(self.anchor.locations))
        orders = wide_orders(self.anchor.nodes) if metric.kind == INCLUSIVE else [deep_order(self.anchor.nodes)]
        candidates = [place(values, order, len(self.anchor.locations)) for order in orders]
        placed = candidates[0] if len(candidates) == 1 else min(candidates, key=self._deficit)
        if placed is not None and name != "min_time" and not np.all(np.isfinite(placed)):
            raise UserError(
                _("{where}: the metric {name} has values that are no numbers; the file is damaged").format(
                    where=self.file.where, name=name
                )
            )
        return placed

    def _deficit(self, values: _Matrix | None) -> float:
        """By how much children have more than their parent, in all: 0 for values in their right order."""
        if values is None:
            return 0.0
        own = values.copy()
        children = np.flatnonzero(self.parents >= 0)
        np.subtract.at(own, self.parents[children], values[children])
        return float(-own[own < 0].sum())

    def _both(self, name: str, values: _Matrix) -> tuple[_Matrix, _Matrix]:
        """(inclusive, exclusive) of a metric, neither below 0."""
        values = np.maximum(0.0, values)
        kind = self.metrics[name].kind
        other = values.copy()
        if kind == INCLUSIVE:
            children = np.flatnonzero(self.parents >= 0)
            np.subtract.at(other, self.parents[children], values[children])
            return values, np.maximum(0.0, other)
        for number in range(len(self.parents) - 1, -1, -1):  # children come after their parents
            if self.parents[number] >= 0:
                other[self.parents[number]] += other[number]
        return other, values

    def _bytes(self, name: str) -> _Matrix | None:
        values = self._values(name)
        if values is None:
            return None
        _inclusive, exclusive = self._both(name, values)
        per_rank = self._per_rank(exclusive)
        if np.any(per_rank > COUNT_MOST):
            raise UserError(
                _("{where}: the metric {name} has impossible values; the file is damaged").format(
                    where=self.file.where, name=name
                )
            )
        return per_rank

    def _per_rank(self, values: _Matrix, merge: np.ufunc = np.add) -> _Matrix:
        """Threads of a rank together."""
        order = np.argsort(self.rank, kind="stable")
        order = order[self.rank[order] >= 0]
        starts = np.searchsorted(self.rank[order], np.arange(self.ranks))
        merged: _Matrix = merge.reduceat(values[:, order], starts, axis=1)
        return merged

    def _wall(self, inclusive: _Matrix) -> npt.NDArray[np.float64]:
        """Per rank the time of its busiest thread: that of the master."""
        roots = inclusive[self.parents < 0].sum(axis=0)
        wall = np.zeros(self.ranks)
        threads = self.rank >= 0
        np.maximum.at(wall, self.rank[threads], roots[threads])
        return wall

    def _paths(self, builder: Builder) -> list[int]:
        """The path of every call path; an MPI function is not part of it."""
        paths: list[int] = []
        for node in self.anchor.nodes:
            parent = paths[node.parent] if node.parent >= 0 else ROOT
            paths.append(parent if is_mpi(node.region) else builder.path(_frame(node.region), parent))
        return paths

    def _nodes(self) -> int:
        hosts = {location.host for location in self.anchor.locations if location.thread}
        return len(hosts) if self.anchor.has_nodes else UNKNOWN

    def _origin(self) -> Origin:
        hosts = [""] * self.ranks
        for location in self.anchor.locations:
            if location.thread:
                hosts[location.rank] = location.host
        depth = _depth(self.anchor.nodes)
        return Origin(NAME, hosts=tuple(hosts), depth=depth)

    def _notes(self, has_bytes: bool) -> list[str]:
        by = self.anchor.creator or N_("an unknown tool")
        notes = [
            N_("written by {tool}; neither command nor date nor the MPI are in it").format(tool=by),
            N_("the time is that of the whole program, MPI_Init and MPI_Finalize included"),
        ]
        if has_bytes:
            notes += [
                N_("bytes are held per call path, not per call: message sizes are means, assumed uniform"),
                N_(
                    "communicators are not held: MPI_COMM_WORLD ({ranks} ranks) was assumed for collectives; on "
                    "smaller ones the sizes of alltoall, allgather and allreduce are too small in proportion, and with "
                    "MPI_IN_PLACE by {share}"
                ).format(ranks=self.ranks, share=f"{1 / self.ranks:.1%}"),
            ]
        else:
            notes.append(N_("the metric bytes_sent has no values: message sizes are not known"))
        threads = sum(location.thread for location in self.anchor.locations)
        if threads > self.ranks:
            notes.append(
                N_("times of a rank's threads were added up ({threads} threads on {ranks} ranks)").format(
                    threads=threads, ranks=self.ranks
                )
            )
        if threads < len(self.anchor.locations):
            notes.append(
                N_("{count} locations that are no CPU threads were left out").format(
                    count=len(self.anchor.locations) - threads
                )
            )
        return notes


def is_mpi(region: Region) -> bool:
    """A function of MPI; Score-P also has artificial regions of the paradigm "mpi"."""
    return region.name.startswith("MPI_")


def _frame(region: Region) -> Frame:
    return Frame(region.name, file=region.file, line=region.line, group=_GROUPS.get(region.paradigm, ""))


def _depth(nodes: tuple[Node, ...]) -> int:
    depth: list[int] = []
    for node in nodes:
        depth.append((depth[node.parent] if node.parent >= 0 else 0) + (not is_mpi(node.region)))
    return max(depth)
