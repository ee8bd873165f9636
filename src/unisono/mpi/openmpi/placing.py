"""A placement in mpirun's words. What each version does with them was tried with its own mapper (tests/launch).

| | Open MPI 5 | Open MPI 4 |
|---|---|---|
| block | `--map-by ppr:N:package --rank-by fill` | `--map-by ppr:N:socket --rank-by core` |
| cyclic | `--map-by pe-list=0,18,1,19:ordered` | `--map-by ppr:N:socket --rank-by socket` |
| cyclic over nodes | `--map-by ppr:N:node --rank-by node` | the same |
| anything else | the list | a rank file |

Open MPI 4 has `--cpu-list ... --bind-to cpu-list:ordered`, but takes the CPUs in ascending order whatever the order
of the list (orte/mca/rmaps/base/rmaps_base_binding.c walks a bit mask), so it cannot express a cyclic placement.
Both count cores in lists logically, as hwloc does.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from unisono.core.cache import cache
from unisono.core.errors import UserError
from unisono.core.language import _
from unisono.core.version import at_least
from unisono.core.writing import write
from unisono.mpi.places import Placed

_OBJECT_5 = {"l3": "l3cache", "numa": "numa", "socket": "package", "node": "node"}
_OBJECT_4 = {"l3": "l3cache", "numa": "numa", "socket": "socket", "node": "node"}


def words(placement: Placed, version: str, hosts: Sequence[str]) -> list[str]:
    """See Family.placed."""
    five = at_least(version, "5")
    if placement.oversubscribed:
        return _oversubscribed(placement, five)
    if placement.policy is None:
        return ["--use-hwthread-cpus"] if placement.smt_siblings else []
    return _five(placement) if five else _four(placement, version, hosts)


def _oversubscribed(placement: Placed, five: bool) -> list[str]:
    unbound = ["--bind-to", "none"]
    if five:
        return [*unbound, "--map-by", ("node" if placement.over_nodes else "") + ":OVERSUBSCRIBE"]
    return [*unbound, *(["--map-by", "node"] if placement.over_nodes else []), "--oversubscribe"]


def _five(placement: Placed) -> list[str]:
    assert placement.policy is not None
    if placement.smt_siblings:
        listed = ",".join(str(slot.core.first_pu + (slot.thread or 0)) for slot in placement.slots)
        return [
            *("--bind-to", "hwthread", "--map-by", f"pe-list={listed}:ordered:hwtcpus"),
            *_ranked_over_nodes(placement),
        ]
    per_object = _per_object(placement, _OBJECT_5)
    if per_object is not None:
        fill = [] if per_object.endswith(":node") else ["--rank-by", "fill"]
        return ["--bind-to", "core", "--map-by", per_object, *(_ranked_over_nodes(placement) or fill)]
    listed = ",".join(str(slot.core.logical) for slot in placement.slots)
    return ["--bind-to", "core", "--map-by", f"pe-list={listed}:ordered"]


def _four(placement: Placed, version: str, hosts: Sequence[str]) -> list[str]:
    assert placement.policy is not None
    if placement.smt_siblings:
        raise UserError(
            _(
                "ppn {ppn}: Open MPI {version} cannot be told to use SMT siblings after all cores; use "
                "at most one rank a core, or Open MPI 5"
            ).format(ppn=placement.ppn, version=version)
        )
    level = _OBJECT_4[placement.level_word]
    if placement.policy.order == "cyclic" and placement.policy.level != "node":
        if placement.per_domain is None:
            return ["--bind-to", "core", "--map-by", level]
        return ["--bind-to", "core", "--map-by", f"ppr:{placement.per_domain}:{level}", "--rank-by", level]
    per_object = _per_object(placement, _OBJECT_4)
    if per_object is not None:
        fill = [] if per_object.endswith(":node") else ["--rank-by", "core"]
        return ["--bind-to", "core", "--map-by", per_object, *(_ranked_over_nodes(placement) or fill)]
    return ["--rankfile", str(_written(rankfile(placement, hosts)))]


def _ranked_over_nodes(placement: Placed) -> list[str]:
    return ["--rank-by", "node"] if placement.over_nodes else []


def _per_object(placement: Placed, objects: dict[str, str]) -> str | None:
    """ppr:N:object where that says it: every domain has N ranks, or the first cores of the node are used."""
    assert placement.policy is not None
    if placement.policy.level != "node":
        if placement.policy.order == "cyclic":
            return None
        if placement.per_domain is not None:
            return f"ppr:{placement.per_domain}:{objects[placement.level_word]}"
    if [slot.core.logical for slot in placement.slots] == list(range(placement.ppn)):
        return f"ppr:{placement.ppn}:node"
    return None


def rankfile(placement: Placed, hosts: Sequence[str]) -> str:
    """One line a rank: host, socket and core within it, counted as hwloc does."""
    lines = []
    for rank, place in enumerate(placement.ranks):
        slot = placement.slots[rank % placement.ppn]
        lines.append(f"rank {rank}={hosts[place.node_index]} slot={slot.core.socket}:{slot.core.in_socket}\n")
    return "".join(lines)


def _written(text: str) -> Path:
    """The rank file in the cache, named after its content, so that a command line shown once can be run again."""
    path = cache() / f"rankfile-{hashlib.sha256(text.encode()).hexdigest()[:12]}.txt"
    if not path.exists():
        write(path, text, _("set XDG_CACHE_HOME to a directory that can"))
    return path
