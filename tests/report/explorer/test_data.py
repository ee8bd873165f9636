"""What the page is given equals what the profile holds."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.profile.synthetic import synthetic
from unisono.profile.recorded import PAIR, UNKNOWN, Comm, Frame, Origin, Path, Profile, blank
from unisono.report.explorer import blob, kinds
from unisono.report.explorer.data import page_data, rank_table, ranks_of
from unisono.report.explorer.messages import EXACT, EXACT_MOST, MEAN, RANGE, message_table
from unisono.report.explorer.names import LONGEST, clean
from unisono.report.explorer.pairs import pair_table
from unisono.report.explorer.tree import call_tree


def small(cells: list[dict[str, float]], paths: tuple[Path, ...] = (Path(UNKNOWN, UNKNOWN),), **more: Any) -> Profile:
    """A profile of a few rows; what a row does not say is unknown."""
    rows = blank(len(cells))
    for row, values in zip(rows, cells, strict=True):
        for name, value in values.items():
            row[name] = value
    ranks = int(rows["rank"].max(initial=0)) + 1
    return Profile(
        origin=more.pop("origin", Origin("unisono")),
        functions=("", "MPI_Alltoall", "MPI_Allreduce"),
        frames=tuple(Frame(f"f{n}") for n in range(len(paths))),
        paths=paths,
        comms=(Comm(4, 1),),
        phases=("", "solve"),
        cells=rows,
        wall=np.zeros(ranks),
        pairs=more.pop("pairs", np.zeros(0, PAIR)),
    )


def subtree(profile: Profile, path: int) -> npt.NDArray[np.bool_]:
    """Which paths lie below one, itself included."""
    inside = np.zeros(len(profile.paths), bool)
    inside[path] = True
    for number, node in enumerate(profile.paths[path + 1 :], start=path + 1):
        inside[number] = node.parent >= 0 and inside[node.parent]
    return inside


def test_subtrees_are_ranges_and_their_rows_sum_to_the_paths_own(profile: Profile) -> None:
    tree = call_tree(profile)
    table = rank_table(profile, tree)
    time = np.concatenate([[0.0], np.cumsum(table.columns["time"].astype(np.float64))])
    for node in range(len(tree)):
        assert node < tree.end[node] <= len(tree)
        if node:
            assert tree.parent[node] < node < tree.end[tree.parent[node]]
        if tree.function[node] == 0:
            expected = profile.cells["time"][subtree(profile, int(tree.path[node]))[profile.cells["path"]]].sum()
            assert time[table.start[tree.end[node]]] - time[table.start[node]] == pytest.approx(expected, rel=1e-6)


def test_siblings_come_in_the_order_of_their_time(profile: Profile) -> None:
    tree = call_tree(profile)
    exclusive = np.bincount(tree.node_of_cell, profile.cells["time"], len(tree))
    inclusive = [exclusive[node : tree.end[node]].sum() for node in range(len(tree))]
    for node in range(len(tree)):
        children = [child for child in range(node + 1, tree.end[node]) if tree.parent[child] == node]
        times = [inclusive[child] for child in children]
        assert times == sorted(times, reverse=True)


def test_every_metric_of_every_rank_is_exact(profile: Profile) -> None:
    tree = call_tree(profile)
    table = rank_table(profile, tree)
    for name in ("calls", "sent", "received"):
        expected = np.bincount(profile.cells["rank"], np.maximum(profile.cells[name], 0), profile.ranks)
        found = np.bincount(table.columns["leaf"], table.columns[name], profile.ranks)
        assert np.array_equal(found, expected)
    assert table.columns["calls"].dtype.itemsize <= 2, "small numbers take little room"
    shortest = np.nanmin(profile.cells["time_min"])
    assert np.nanmin(table.columns["time_min"]) == pytest.approx(shortest, rel=1e-6)


def test_what_is_received_is_left_out_where_its_greater_part_is_unknown() -> None:
    rows: list[dict[str, float]] = [
        {"function": 1, "calls": 1, "received": 8},
        {"function": 2, "calls": 9, "received": UNKNOWN},
    ]
    profile = small(rows)
    assert "received" in rank_table(profile, call_tree(profile)).known
    later = dataclasses.replace(profile, functions=("", "MPI_Recv", "MPI_Irecv"))
    assert "received" not in rank_table(later, call_tree(later)).known


def test_a_call_in_two_phases_is_two_nodes_with_a_tree_each() -> None:
    paths = (Path(UNKNOWN, UNKNOWN), Path(0, 1))
    rows = [{"path": 1, "function": 1, "phase": phase, "calls": 1, "time": 1.0 + phase} for phase in (0, 1)]
    tree = call_tree(small(rows, paths))
    assert len(tree.leaf_of[1, 1]) == 2
    assert [int(tree.phase[node]) for node in range(len(tree)) if tree.parent[node] == 0] == [1, 0]
    assert int(tree.end[0]) == len(tree) == 7


def test_what_a_reader_cannot_tell_apart_is_one_node() -> None:
    """A function without line numbers calls from two addresses; with them, from two lines."""
    paths = (Path(UNKNOWN, UNKNOWN), *(Path(0, n) for n in (1, 2, 3, 4)), Path(1, 5), Path(2, 5))
    rows = [{"path": path, "function": 1, "calls": 1, "time": 1.0} for path in (3, 4, 5, 6)]
    profile = small([dict(row) for row in rows], paths)
    frames = (
        Frame(""),
        Frame("f", "a", 1),
        Frame("f", "a", 9),
        Frame("g", "a", 1, "g.c", 1),
        Frame("g", "a", 9, "g.c", 2),
    )
    tree = call_tree(dataclasses.replace(profile, frames=(*frames, Frame("h"))))
    below = [int(tree.path[node]) for node in range(len(tree)) if tree.parent[node] == 0]
    assert sorted(below) == [1, 3, 4]
    assert tree.leaves(5, 1) == tree.leaves(6, 1)
    assert tree.leaves(3, 1) != tree.leaves(4, 1)
    assert np.bincount(tree.node_of_cell)[tree.leaves(5, 1)[0]] == 2


def test_a_tree_ten_thousand_deep_is_no_trouble() -> None:
    paths = (Path(UNKNOWN, UNKNOWN), *(Path(n, n + 1) for n in range(10_000)))
    tree = call_tree(small([{"path": 10_000, "function": 1, "calls": 1, "time": 1.0}], paths))
    assert len(tree) == 10_002
    assert set(tree.end.tolist()) == {10_002}


def test_a_profile_without_a_row_still_has_a_page() -> None:
    empty = small([])
    document, columns = blob.unpack(page_data(empty, call_tree(empty), root="nothing"))
    assert document["names"][int(columns["node.label"][0])] == "nothing"
    assert len(columns["row.time"]) == 0
    assert document["known"] == []


def test_very_many_ranks_are_shown_in_blocks_of_one_node() -> None:
    large = synthetic(64, 30, nodes=4)
    tree = call_tree(large)
    table = rank_table(large, tree, rows_most=400)
    assert len(table.columns["leaf"]) <= 400
    assert table.ranks.block > 1
    assert table.ranks.members.sum() == 64
    for leaf, node in enumerate(table.ranks.node):
        members = np.flatnonzero(table.ranks.leaf == leaf)
        assert {large.origin.hosts[rank] for rank in members} == {table.ranks.hosts[node]}
    assert table.columns["calls"].sum() == large.cells["calls"].sum()


def test_ranks_placed_in_turns_belong_to_their_nodes(profile: Profile) -> None:
    hosts = tuple("ab"[rank % 2] for rank in range(profile.ranks))
    ranks = ranks_of(dataclasses.replace(profile, origin=dataclasses.replace(profile.origin, hosts=hosts)))
    assert [ranks.hosts[ranks.node[leaf]] for leaf in ranks.leaf] == list(hosts)
    assert np.array_equal(ranks.first[ranks.leaf], np.arange(profile.ranks))


def test_message_sizes_keep_what_is_known_of_them() -> None:
    base = {"function": 1, "comm": 0, "calls": 2, "time": 1.0, "sent": 10, "received": 20}
    rows = [
        {**base, "size": 8, "size_min": 8, "size_max": 8},
        {**base, "size": 8, "size_min": 8, "size_max": 8, "rank": 1},
        {**base, "size": 100, "size_min": 70, "size_max": 120, "waiting": 0.5},
        {**base, "size": 90, "size_min": 65, "size_max": 127, "rank": 1},
        {**base, "size": 8000, "sent": 0},  # a mean
        {**base, "size": -1},
    ]
    profile = small([dict(row) for row in rows])
    found = message_table(profile, call_tree(profile))
    assert found["sort"].tolist() == [EXACT, RANGE, MEAN]
    assert found["low"].tolist() == [8, 65, 8000]
    assert found["high"].tolist() == [8, 127, 8000]
    assert found["mean"].tolist() == [8, 95, 8000]
    assert found["calls"].tolist() == [4, 4, 2]
    assert found["bytes"].tolist() == [20, 20, 20]
    assert found["time"].tolist() == [2, 2, 1]
    assert found["waiting"].tolist() == [0, 0.5, 0]


def test_many_sizes_become_powers_of_two_but_for_the_heaviest() -> None:
    sizes = [1000 + n for n in range(5 * EXACT_MOST)]
    rows = [
        {"function": 1, "comm": 0, "size": s, "size_min": s, "size_max": s, "calls": 1, "time": 1.0 + s} for s in sizes
    ]
    profile = small([dict(row) for row in rows])
    found = message_table(profile, call_tree(profile))
    exact = found["sort"] == EXACT
    assert exact.sum() == EXACT_MOST
    assert found["low"][exact].min() == sizes[-EXACT_MOST]
    assert np.count_nonzero(~exact) == 2, "below and from 1024 B"
    assert found["calls"].sum() == len(sizes)


def test_pairs_of_many_ranks_are_summed_in_blocks(profile: Profile) -> None:
    table = pair_table(profile, side_most=4)
    assert (table.side, table.block) == (3, 4)
    assert table.columns["bytes"].sum() == profile.pairs["bytes"].sum()
    edges = list(zip(table.columns["source"].tolist(), table.columns["target"].tolist(), strict=True))
    assert edges == [(0, 0), (0, 1), (1, 1), (1, 2), (2, 0), (2, 2)]


@pytest.mark.parametrize(
    ("function", "kind"),
    [
        ("MPI_Alltoallv", "collective"),
        ("MPI_Iallreduce", "collective"),
        ("MPI_Bcast_c", "collective"),
        ("MPI_Neighbor_alltoallw", "collective"),
        ("MPI_Ineighbor_allgather", "collective"),
        ("MPI_Reduce_scatter_block", "collective"),
        ("MPI_Allgather_init", "collective"),
        ("MPI_Barrier", "collective"),
        ("MPI_Isend", "point-to-point"),
        ("MPI_Sendrecv_replace", "point-to-point"),
        ("MPI_Start", "point-to-point"),
        ("MPI_Waitall", "completion"),
        ("MPI_Test", "completion"),
        ("MPI_Win_fence", "one-sided"),
        ("MPI_Rput", "one-sided"),
        ("MPI_Comm_split", "other"),
        ("MPI_File_write_all", "other"),
        ("", "program"),
    ],
)
def test_classes_of_functions(function: str, kind: str) -> None:
    assert kinds.KINDS[kinds.kind_of(function)] == kind


def test_names_lose_what_a_page_must_not_hold() -> None:
    assert clean("a<script>&\"'") == "a<script>&\"'", "markup is the page's business, not the name's"
    assert clean("x\u202ey\x00\ud800\n") == "x\\u202ey\\u0000\\ud800\\u000a"
    assert clean("größe 大") == "größe 大"
    assert len(clean("t" * 10_000)) <= LONGEST + 3


def test_columns_come_back_as_they_were() -> None:
    columns = {
        "none": blob.whole(np.zeros(0, np.int64)),
        "bytes": blob.whole(np.array([0, 255])),
        "large": blob.whole(np.array([2**40 + 1])),
        "time": blob.single(np.array([0.5, math.nan])),
    }
    document, found = blob.unpack(blob.pack({"text": "</script> 大"}, columns))
    assert document == {"text": "</script> 大"}
    for name, values in columns.items():
        assert found[name].dtype == values.dtype
        assert np.array_equal(found[name], values, equal_nan=values.dtype.kind == "f")
    with pytest.raises(ValueError, match="cannot read int64"):
        blob.pack({}, {"wrong": np.zeros(1, np.int64)})
