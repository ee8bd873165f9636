"""MPICH's selection files read as MPICH reads them (src/mpi/coll/src/csel.c of 4.0 to 5.0).

Conditions of one level are tried in order, the first that holds is entered, and there is no way back up. MPICH ends a
program at its start for a key that it does not know, and in a call for which no condition holds.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from unisono.core.errors import UserError
from unisono.core.language import _
from unisono.export.mpich_selection import holds_for
from unisono.export.mpich_tables import Tree

_AVERAGED = ("allreduce", "bcast", "reduce", "alltoall", "iallreduce", "ibcast", "ireduce", "ialltoall")
_UNCOUNTED = re.compile(r"i?(barrier|scan|exscan|gatherv|scatterv|neighbor_.*)")
_YES_NO = re.compile(
    r"(is_commutative|is_op_built_in|is_sendbuf_inplace|is_block_regular|is_multi_threaded|is_node_consecutive)=(yes|no)"
)
_RANGE = re.compile(r"(comm_size|comm_avg_ppn|avg_msg_size|total_msg_size|count)(<=?)([0-9]+)")
_OTHER = re.compile(
    r"comm_type=(intra|inter)|comm_hierarchy=(parent|node_roots|node|flat|any)|comm_size=(pow2|node_comm_size)|count<pow2|"
    r"(comm_size|comm_avg_ppn|avg_msg_size|total_msg_size|count)=any|any"
)
_LEAF = re.compile(r"(algorithm|composition)=\w+")
_LARGEST = (1 << 31) - 1


@dataclass(frozen=True, slots=True)
class Call:
    """What MPICH looks at; `size` in bytes as IMB counts it, of elements of `element` bytes."""

    collective: str
    nodes: int
    ppn: int
    size: int
    commutative: bool = True
    built_in: bool = True
    in_place: bool = False
    element: int = 4

    @property
    def ranks(self) -> int:
        return self.nodes * self.ppn


def read(text: str, where: str) -> Tree:
    """The conditions of a file. Raises UserError with `where` and the place of what would end MPICH's programs."""
    try:
        tree = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UserError(_("{where}: is not JSON: {error}").format(where=where, error=error)) from error
    if not isinstance(tree, dict) or not all(key.startswith("collective=") for key in tree):
        raise UserError(_("{where}: begins with the collectives, as collective=NAME").format(where=where))
    for key, below in tree.items():
        _check(below, key.removeprefix("collective="), f"{where}: {key}")
    return tree


def _check(tree: object, collective: str, where: str) -> None:
    if not isinstance(tree, dict) or not tree:
        raise UserError(_("{where}: has no algorithm below it").format(where=where))
    keys = list(tree)
    for key in keys:
        if not isinstance(tree[key], dict):
            raise UserError(_("{where} > {key}: is not followed by an object").format(where=where, key=key))
        if _LEAF.fullmatch(key):
            continue
        match = _RANGE.fullmatch(key)
        if not (match or _YES_NO.fullmatch(key) or _OTHER.fullmatch(key)):
            raise UserError(_("{where} > {key}: MPICH knows no such condition").format(where=where, key=key))
        averaged = key.startswith("avg_msg_size") and collective not in _AVERAGED
        if averaged or (key.startswith("total_msg_size") and _UNCOUNTED.fullmatch(collective)):
            raise UserError(
                _("{where} > {key}: MPICH has no message size of that kind here").format(where=where, key=key)
            )
        if match and int(match[3]) > _LARGEST:
            raise UserError(_("{where} > {key}: is more than a C int holds").format(where=where, key=key))
        _check(tree[key], collective, f"{where} > {key}")
    chain = [key for key in keys if re.match(r"comm_size|comm_avg_ppn|comm_hierarchy|avg_msg|total_msg|count", key)]
    if chain and not keys[-1].endswith("any"):
        raise UserError(_("{where}: the conditions do not end with any").format(where=where))
    if any(key.endswith("any") for key in keys[:-1]):
        raise UserError(_("{where}: any is not the last condition").format(where=where))


def select(tree: Tree, call: Call) -> str | None:
    """The name of what serves a call on an intra-communicator; None: nothing, which ends the program."""
    path = path_of(tree, call)
    return path[-1].partition("=")[2] if path else None


def path_of(tree: Tree, call: Call) -> tuple[str, ...]:
    """The conditions that hold for a call, from its collective to the leaf; empty: there is no leaf."""
    path: tuple[str, ...] = (f"collective={call.collective}",)
    at: Tree = tree.get(path[0], {})
    while at:
        key = next((key for key in at if _LEAF.fullmatch(key) or _holds(key, call)), None)
        if key is None:
            return ()
        path = (*path, key)
        if _LEAF.fullmatch(key):
            return path
        at = at[key]
    return ()


def _holds(key: str, call: Call) -> bool:
    name, _is, value = key.partition("=")
    if key.startswith("comm_size"):
        return holds_for(key, call.nodes, call.ppn)
    flags = {
        "is_commutative": call.commutative,
        "is_op_built_in": call.built_in,
        "is_sendbuf_inplace": call.in_place,
        "is_block_regular": True,
        "is_multi_threaded": False,
        "is_node_consecutive": True,
    }
    if name in flags:
        return flags[name] == (value == "yes")
    hierarchy = call.nodes > 1 and call.ppn > 1
    if name == "comm_hierarchy" and value != "any":
        return hierarchy == (value == "parent")
    if key == "count<pow2":
        return call.size // call.element < 1 << (call.ranks.bit_length() - 1)
    match = _RANGE.fullmatch(key)
    if match is None:
        return key.endswith("any") or key == "comm_type=intra"
    found = {
        "comm_avg_ppn": call.ppn,
        "avg_msg_size": call.size,
        "total_msg_size": call.size * call.ranks,
        "count": call.size // call.element,
    }[match[1]]
    return found < int(match[3]) or (match[2] == "<=" and found == int(match[3]))
