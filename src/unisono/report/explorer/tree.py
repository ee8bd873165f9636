"""The call tree as the page shows it: paths, and the MPI functions called at their ends as leaves.

Nodes are in preorder, so a subtree is one range of nodes: [node, end[node]). Siblings come in the order of their
time. Siblings that a reader could not tell apart (the same function at the same line, called from other addresses) are
one node. Where a profile has rows in several named phases, a phase is a node below the root with a tree of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unisono.profile.recorded import NO_FUNCTION, ROOT, Profile
from unisono.report.explorer.blob import sums
from unisono.report.explorer.kinds import PROGRAM, kind_of

NOTHING = -1
Index = npt.NDArray[np.int64]


@dataclass(frozen=True)
class CallTree:
    """Arrays have one element a node; `node_of_cell` one a row of the profile."""

    parent: Index
    """NOTHING for the first node."""
    end: Index
    """The first node after its subtree."""
    kind: Index
    """Of kinds.KINDS."""
    path: Index
    """Index into the profile's paths, the first of those that are one; ROOT for the root and for a phase."""
    function: Index
    """Index into the profile's functions; NO_FUNCTION for a place in the program."""
    phase: Index
    """Index into the profile's phases where the node is a phase; NOTHING elsewhere."""
    node_of_cell: Index
    same: Index
    """Path of the profile -> the path that stands for it here."""
    leaf_of: dict[tuple[int, int], list[int]]
    """(path that stands, function) -> its nodes: one a phase."""

    def __len__(self) -> int:
        return len(self.parent)

    def leaves(self, path: int, function: int) -> list[int]:
        """The nodes of a function called at the end of a path of the profile."""
        return self.leaf_of.get((int(self.same[path]), function), [])


def call_tree(profile: Profile) -> CallTree:
    """Paths without a row in their subtree are left out."""
    return _Builder(profile).build()


def indistinguishable(profile: Profile) -> Index:
    """For every path the first one whose every step has the same name, place and module."""
    seen: dict[tuple[int, str, str, str, bool], int] = {}
    same = np.zeros(len(profile.paths), np.int64)
    for path, node in enumerate(profile.paths[1:], start=1):
        frame = profile.frames[node.frame]
        key = (int(same[node.parent]), frame.label, frame.place, frame.module, frame.inlined)
        same[path] = seen.setdefault(key, path)
    return same


class _Builder:
    """A slot is (phase, path): slot = phase slot x paths + path."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        cells = profile.cells
        self.paths = len(profile.paths)
        self.phases, place = np.unique(cells["phase"], return_inverse=True)
        self.same = indistinguishable(profile)
        self.slot_of_cell = np.asarray(place, np.int64).reshape(-1) * self.paths + self.same[cells["path"]]
        if not len(self.phases):
            self.phases = np.zeros(1, np.int64)
        self.rows: list[tuple[int, int, int, int, int]] = []  # parent, kind, path, function, phase
        self.end: list[int] = []
        self.node_of: dict[tuple[int, int], int] = {}  # (slot, function) -> node

    def build(self) -> CallTree:
        cells = self.profile.cells
        self.seconds, self.used = self._inclusive()
        self.below = self._children()
        self.leaves = self._leaves()
        if len(self.phases) == 1:
            self._add(0, NOTHING, NOTHING)
        else:
            self._add_phases()
        nodes = np.array([self.node_of[s, f] for s, f in self._pairs], np.int64).reshape(-1)
        parent, kind, path, function, phase = np.array(self.rows, np.int64).reshape(-1, 5).T
        leaf_of: dict[tuple[int, int], list[int]] = {}
        for (slot, called), node in self.node_of.items():
            if called != NO_FUNCTION:
                leaf_of.setdefault((slot % self.paths, called), []).append(node)
        return CallTree(
            parent=parent,
            end=np.array(self.end, np.int64),
            kind=kind,
            path=path,
            function=function,
            phase=phase,
            node_of_cell=nodes[self._pair_of_cell] if len(cells) else np.zeros(0, np.int64),
            same=self.same,
            leaf_of=leaf_of,
        )

    def _inclusive(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Seconds and rows of every slot's subtree."""
        count = len(self.phases) * self.paths
        shape = (len(self.phases), self.paths)
        seconds = sums(self.slot_of_cell, self.profile.cells["time"], count).reshape(shape)
        used = sums(self.slot_of_cell, np.ones(len(self.slot_of_cell)), count).reshape(shape)
        for path in range(self.paths - 1, 0, -1):
            parent = self.same[self.profile.paths[path].parent]
            seconds[:, parent] += seconds[:, path]
            used[:, parent] += used[:, path]
        return seconds.reshape(-1), used.reshape(-1)

    def _children(self) -> list[list[int]]:
        below: list[list[int]] = [[] for _ in range(self.paths)]
        for path in range(1, self.paths):
            if self.same[path] == path:
                below[self.same[self.profile.paths[path].parent]].append(path)
        return below

    def _leaves(self) -> dict[int, list[tuple[float, int]]]:
        """Slot -> (seconds, function) of what is called there."""
        cells = self.profile.cells
        functions = max(len(self.profile.functions), 1)
        keys = self.slot_of_cell * functions + cells["function"]
        found, place = np.unique(keys, return_inverse=True)
        self._pair_of_cell = np.asarray(place, np.int64).reshape(-1)
        self._pairs = [(int(key) // functions, int(key) % functions) for key in found]
        seconds = sums(self._pair_of_cell, cells["time"], len(found))
        leaves: dict[int, list[tuple[float, int]]] = {}
        for (slot, function), time in zip(self._pairs, seconds, strict=True):
            if function != NO_FUNCTION:
                leaves.setdefault(slot, []).append((float(time), function))
        return leaves

    def _add_phases(self) -> None:
        self.rows.append((NOTHING, PROGRAM, ROOT, NO_FUNCTION, NOTHING))
        self.end.append(0)
        totals = [(self.seconds[slot * self.paths], slot) for slot in range(len(self.phases))]
        for _, slot in sorted(totals, key=lambda one: (-one[0], one[1])):
            self._add(slot * self.paths, 0, int(self.phases[slot]))
        self.end[0] = len(self.rows)

    def _add(self, start: int, parent: int, phase: int) -> None:
        """A slot and all below it, without recursion: trees may be thousands deep."""
        base = start - start % self.paths
        stack: list[tuple[int, int, int]] = [(start, NO_FUNCTION, parent)]
        while stack:
            slot, function, above = stack.pop()
            if slot == NOTHING:  # everything below node `above` is there
                self.end[above] = len(self.rows)
                continue
            node = len(self.rows)
            self.node_of[slot, function] = node
            kind = kind_of(self.profile.functions[function]) if self.profile.functions else PROGRAM
            self.rows.append((above, kind, slot % self.paths, function, phase if slot == start else NOTHING))
            self.end.append(node + 1)
            if function != NO_FUNCTION:
                self.rows[node] = (above, kind, slot % self.paths, function, NOTHING)
                continue
            below = [(float(self.seconds[base + p]), base + p, NO_FUNCTION) for p in self.below[slot % self.paths]]
            below = [one for one in below if self.used[one[1]]]
            below += [(seconds, slot, called) for seconds, called in self.leaves.get(slot, [])]
            stack.append((NOTHING, NO_FUNCTION, node))
            for _, child, called in sorted(below):  # the last pushed comes first
                stack.append((child, called, node))
