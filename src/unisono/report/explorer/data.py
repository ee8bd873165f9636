"""A profile as the page reads it: sums per (call-tree node, rank), and messages per (node, communicator, size).

Two tables instead of the profile's one: ranks x call paths without sizes, and sizes without ranks, so that a page
of 256 ranks and 1,000 call paths stays at a few megabytes however many message sizes there are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unisono.core.language import _
from unisono.profile.recorded import NO_FUNCTION, UNKNOWN, Profile
from unisono.report.explorer.blob import Column, pack, single, sums, whole
from unisono.report.explorer.kinds import KINDS
from unisono.report.explorer.messages import message_table
from unisono.report.explorer.names import clean
from unisono.report.explorer.pairs import pair_table
from unisono.report.explorer.tree import NOTHING, CallTree

ROWS_MOST = 1_500_000
"""Of the table by rank. A larger profile is shown in blocks of ranks."""

Index = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Ranks:
    """The leaves of the system tree: ranks, or blocks of ranks of one node where there are very many."""

    leaf: Index
    """Rank -> leaf."""
    node: Index
    """Leaf -> node."""
    first: Index
    """Leaf -> its first rank."""
    members: Index
    """Leaf -> ranks in it."""
    hosts: tuple[str, ...]
    """Names of the nodes; one without a name where the profile has none."""
    block: int
    """Ranks a leaf, at most."""


def ranks_of(profile: Profile, block: int = 1) -> Ranks:
    """Leaves of up to `block` consecutive ranks of one node; nodes in the order of their first rank."""
    names = profile.origin.hosts if len(profile.origin.hosts) == profile.ranks else ("",) * profile.ranks
    hosts = tuple(dict.fromkeys(names)) or ("",)
    place = {name: number for number, name in enumerate(hosts)}
    node = np.array([place[name] for name in names], np.int64)
    within = np.zeros(len(node), np.int64)
    for number in range(len(hosts)):
        mine = node == number
        within[mine] = np.arange(np.count_nonzero(mine))
    keys = np.stack([node, within // block], axis=1) if len(node) else np.zeros((0, 2), np.int64)
    found, first, leaf, members = np.unique(keys, axis=0, return_index=True, return_inverse=True, return_counts=True)
    return Ranks(
        leaf=np.asarray(leaf, np.int64).reshape(-1),
        node=found[:, 0],
        first=np.asarray(first, np.int64),
        members=np.asarray(members, np.int64),
        hosts=hosts,
        block=block,
    )


@dataclass(frozen=True)
class RankTable:
    """One row a (node, leaf) that has something; `start` says where a node's rows begin."""

    ranks: Ranks
    start: Index
    columns: Mapping[str, Column]
    known: tuple[str, ...]
    """Columns that the profile has values for."""


def rank_table(profile: Profile, tree: CallTree, rows_most: int = ROWS_MOST) -> RankTable:
    """Sums of the cells; in blocks of ranks where more than `rows_most` rows would come out."""
    cells = profile.cells
    block = 1
    while True:
        ranks = ranks_of(profile, block)
        leaves = max(len(ranks.first), 1)
        leaf = ranks.leaf[cells["rank"]] if len(cells) else np.zeros(0, np.int64)
        keys, place = np.unique(tree.node_of_cell * leaves + leaf, return_inverse=True)
        if len(keys) <= rows_most or block >= profile.ranks:
            break
        block *= 2
    place = np.asarray(place, np.int64).reshape(-1)

    def total(name: str) -> npt.NDArray[np.float64]:
        values = cells[name].astype(np.float64)
        return sums(place, np.where(values > 0, values, 0.0), len(keys))

    def extreme(name: str, of: np.ufunc, nothing: float) -> npt.NDArray[np.float64]:
        found = np.full(len(keys), nothing)
        known = ~np.isnan(cells[name])
        of.at(found, place[known], cells[name][known])
        return np.where(np.isfinite(found), found, np.nan)

    known = tuple(name for name, is_known in _known(profile).items() if is_known)
    columns: dict[str, Column] = {"leaf": whole(keys % leaves), "time": single(total("time"))}
    for name in ("calls", "sent", "received"):
        if name in known:
            columns[name] = whole(total(name))
    if "waiting" in known:
        columns["waiting"] = single(total("waiting"))
    if "time_min" in known:
        columns["time_min"] = single(extreme("time_min", np.minimum, np.inf))
    if "time_max" in known:
        columns["time_max"] = single(extreme("time_max", np.maximum, -np.inf))
    start = np.searchsorted(keys // leaves, np.arange(len(tree) + 1))
    return RankTable(ranks, np.asarray(start, np.int64), columns, known)


_RECEIVES_LATER = {"MPI_Irecv", "MPI_Imrecv", "MPI_Isendrecv", "MPI_Isendrecv_replace", "MPI_Start", "MPI_Startall"}
"""What they receive is known when they complete, which is not recorded."""


def _known(profile: Profile) -> dict[str, bool]:
    cells = profile.cells
    mpi = cells["function"] != NO_FUNCTION
    later = [index for index, name in enumerate(profile.functions) if name in _RECEIVES_LATER]
    lost = bool(np.any(np.isin(cells["function"], later) & (cells["received"] == UNKNOWN)))
    return {
        "calls": bool(np.any(cells["calls"] > 0)),
        "visits": bool(np.any(cells["calls"][~mpi] > 0)),
        "sent": bool(np.any(cells["sent"] > 0)),
        # A sum without its greater part would mislead; what is sent is received, and known.
        "received": bool(np.any(cells["received"] > 0)) and not lost,
        "waiting": bool(np.any(~np.isnan(cells["waiting"]))),
        "time_min": bool(np.any(~np.isnan(cells["time_min"]))),
        "time_max": bool(np.any(~np.isnan(cells["time_max"]))),
    }


class _Names:
    """Every text once."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._place: dict[str, int] = {}

    def add(self, text: str) -> int:
        text = clean(text)
        if text not in self._place:
            self._place[text] = len(self.texts)
            self.texts.append(text)
        return self._place[text]


def _labels(profile: Profile, tree: CallTree, names: _Names, root: str) -> dict[str, Column]:
    """Per node: what it is called, where it is, and the module it is in, as indices into the names."""
    label = np.zeros(len(tree), np.int64)
    place = np.zeros(len(tree), np.int64)
    module = np.zeros(len(tree), np.int64)
    nothing = names.add("")
    for node in range(len(tree)):
        function, path, phase = int(tree.function[node]), int(tree.path[node]), int(tree.phase[node])
        frame = profile.paths[path].frame
        if function != NO_FUNCTION:
            label[node], place[node], module[node] = names.add(profile.functions[function]), nothing, nothing
        elif phase != NOTHING:
            name = profile.phases[phase] if phase < len(profile.phases) else ""
            label[node] = names.add(_("phase {name}").format(name=name) if name else _("outside any phase"))
            place[node] = module[node] = nothing
        elif path == 0 or frame < 0:
            label[node], place[node], module[node] = names.add(root), nothing, nothing
        else:
            there = profile.frames[frame]
            label[node] = names.add(there.label)
            place[node] = names.add(_("{place} inlined").format(place=there.place) if there.inlined else there.place)
            module[node] = names.add(there.module.rsplit("/", 1)[-1])
    return {"label": whole(label), "place": whole(place), "module": whole(module)}


def page_data(
    profile: Profile,
    tree: CallTree,
    *,
    root: str,
    curves: Sequence[Mapping[str, Any]] = (),
    collectives: Mapping[str, str] | None = None,
    rows_most: int = ROWS_MOST,
) -> str:
    """Everything the page's script works on, packed.

    `root` names the first node of the call tree; `curves` are those of explorer.curves; `collectives` says which
    collective an MPI function is one of.
    """
    names = _Names()
    table = rank_table(profile, tree, rows_most)
    ranks = table.ranks
    sizes = message_table(profile, tree)
    pairs = pair_table(profile)
    columns: dict[str, Column] = {
        "node.parent": whole(tree.parent + 1),  # 0: none
        "node.end": whole(tree.end),
        "node.kind": whole(tree.kind),
        **{f"node.{name}": values for name, values in _labels(profile, tree, names, root).items()},
        "rank.node": whole(ranks.node),
        "rank.first": whole(ranks.first),
        "rank.members": whole(ranks.members),
        "row.start": whole(table.start),
        **{f"row.{name}": values for name, values in table.columns.items()},
        **{f"size.{name}": values for name, values in sizes.items()},
        **{f"pair.{name}": values for name, values in pairs.columns.items()},
    }
    document = {
        "names": names.texts,
        "kinds": KINDS,
        "hosts": [clean(name) for name in ranks.hosts],
        "block": ranks.block,
        "known": table.known,
        "comms": [[comm.size, comm.nodes, comm.created] for comm in profile.comms],
        "pairs": {"side": pairs.side, "block": pairs.block, "ranks": profile.ranks},
        "curves": list(curves),
        "collectives": dict(collectives or {}),
        "summed": profile.origin.summed,
    }
    return pack(document, columns)
