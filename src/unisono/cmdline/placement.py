"""Where ranks go: computed from the machine, and compared with what every rank reports from inside.

A placement is an order over a level of the machine:

- `block`: ranks fill the domains of the level evenly, in consecutive blocks; inside a domain, core after core;
- `cyclic`: rank i goes to domain i mod n.

The level is `numa` unless named (`cyclic:socket`). Below `node` the nodes are filled one after the other, each alike;
at `node` the domains are the nodes themselves (`cyclic:node`: rank i on node i mod n) and the first cores of each
are used. SMT siblings are used only when all cores are.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from unisono.cmdline.slots import cores, domains, even
from unisono.core.errors import UserError
from unisono.core.language import N_, _
from unisono.machine.description import Machine, Mpi
from unisono.mpi.places import Core, Placed, Policy, RankPlace, Slot

_NAMES = {"l3": "last-level cache", "numa": "NUMA node", "socket": "socket", "node": "node"}


@dataclass(frozen=True, slots=True)
class Placement(Placed):
    def arguments(self, mpi: Mpi, hosts: Sequence[str] = ("localhost",)) -> list[str]:
        """mpirun's words for this version. `hosts` names the nodes, in case ranks have to be placed one by one.

        Raises UserError where this version has no words for it. For Open MPI 4 it may write a rank file into the cache
        directory (see unisono.mpi.openmpi.placing).
        """
        return mpi.traits.placed(self, mpi.version, hosts)


def place(machine: Machine, nodes: int, ppn: int, policy: str | None, *, oversubscribe: bool = False) -> Placement:
    """The placement of `nodes` times `ppn` ranks; policy None leaves it to mpirun.

    Raises UserError when there are not that many nodes, or the ranks do not fit and `oversubscribe` is False.
    """
    parsed = None if policy is None else Policy.parse(policy)
    if nodes < 1 or ppn < 1:
        raise UserError(_("{nodes} nodes x {ppn} ranks: at least one of each is needed").format(nodes=nodes, ppn=ppn))
    if nodes > len(machine.nodes):
        raise UserError(
            _(
                "{nodes} nodes are asked for, but {name} is described with {count}; name more hosts or fewer nodes"
            ).format(nodes=nodes, name=machine.name, count=len(machine.nodes))
        )
    fit = len(machine.cpus)
    if ppn > fit and not oversubscribe:
        raise UserError(
            _(
                "ppn {ppn}: ranks may use {fit} CPUs on a node of {name}; use at most {fit} ranks a node, or "
                "allow more ranks than CPUs (oversubscribe)"
            ).format(ppn=ppn, name=machine.name, fit=fit)
        )
    if ppn > fit:
        return _oversubscribed(machine, nodes, ppn, parsed)
    if parsed is None:
        return _left_to_mpirun(machine, nodes, ppn)
    return _placed(machine, nodes, ppn, parsed)


def _placed(machine: Machine, nodes: int, ppn: int, policy: Policy) -> Placement:
    all_cores = cores(machine)
    groups = domains(all_cores, policy.level)
    first = min(ppn, len(all_cores))
    cyclic = policy.order == "cyclic"
    counts = even(first, [len(group) for group in groups], in_turn=cyclic)
    extra = even(ppn - first, [sum(len(core.cpus) - 1 for core in group) for group in groups], in_turn=cyclic)
    whole = ppn <= len(all_cores)
    chosen: list[list[Slot]] = []
    for group, of_cores, of_siblings in zip(groups, counts, extra, strict=True):
        siblings = sorted((index, core) for core in group for index in range(1, len(core.cpus)))
        picked = [Slot(core, None if whole else 0) for core in group[:of_cores]]
        chosen.append(picked + [Slot(core, index) for index, core in siblings[:of_siblings]])
    if not cyclic or policy.level == "node":
        slots = [slot for domain in chosen for slot in domain]
    else:
        depth = max(len(domain) for domain in chosen)
        slots = [domain[i] for i in range(depth) for domain in chosen if i < len(domain)]
    by_domain = {len(domain) for domain in chosen}
    return Placement(
        nodes=nodes,
        ppn=ppn,
        policy=policy,
        ranks=_spread(nodes, ppn, policy, [slot.cpus for slot in slots]),
        slots=tuple(slots),
        per_domain=by_domain.pop() if len(by_domain) == 1 else None,
        level_word=_coarsest(all_cores, policy.level),
        smt_siblings=not whole,
        oversubscribed=False,
        sentence=_sentence(policy, nodes, [len(domain) for domain in chosen], whole),
    )


def _spread(nodes: int, ppn: int, policy: Policy | None, cpus: Sequence[tuple[int, ...]]) -> tuple[RankPlace, ...]:
    """`cpus` of one node in rank order, for all ranks of all nodes."""
    if policy == Policy("cyclic", "node"):
        return tuple(RankPlace(rank % nodes, cpus[rank // nodes]) for rank in range(nodes * ppn))
    return tuple(RankPlace(rank // ppn, cpus[rank % ppn]) for rank in range(nodes * ppn))


def _coarsest(all_cores: Sequence[Core], level: str) -> str:
    """NUMA nodes that are whole sockets are called sockets, as people do who write such a line by hand."""
    if level == "numa" and domains(all_cores, "numa") == domains(all_cores, "socket"):
        return "socket"
    return level


def _sentence(policy: Policy, nodes: int, counts: Sequence[int], whole: bool) -> str:
    bound = N_("bound to cores") if whole else N_("SMT siblings used, bound to hardware threads")
    low, high = min(counts), max(counts)
    each = _count(high, "rank") if low == high else N_("{low} to {high}").format(low=low, high=_count(high, "rank"))
    if policy.level == "node":
        return N_("{order} over {nodes}, {each} each on the first cores, {bound}").format(
            order=policy.order, nodes=_count(nodes, "node"), each=each, bound=bound
        )
    of_each = N_(" of each node") if nodes > 1 else ""
    return N_("{order} over {count}{of_each}, {each} each, {bound}").format(
        order=policy.order, count=_count(len(counts), _NAMES[policy.level]), of_each=of_each, each=each, bound=bound
    )


def _count(number: int, name: str) -> str:
    return f"{number} {name}" if number == 1 else f"{number} {name}s"


def _left_to_mpirun(machine: Machine, nodes: int, ppn: int) -> Placement:
    return Placement(
        nodes=nodes,
        ppn=ppn,
        policy=None,
        ranks=_spread(nodes, ppn, None, [()] * ppn),
        slots=(),
        per_domain=None,
        level_word="node",
        smt_siblings=ppn > len(cores(machine)),
        oversubscribed=False,
        sentence=N_("left to mpirun, {ppn} on each of {nodes} nodes").format(ppn=_count(ppn, "rank"), nodes=nodes)
        if nodes > 1
        else N_("left to mpirun"),
    )


def _oversubscribed(machine: Machine, nodes: int, ppn: int, policy: Policy | None) -> Placement:
    everywhere = tuple(sorted(cpu.cpu for cpu in machine.cpus))
    at_node = policy if policy is not None and policy.level == "node" else None
    return Placement(
        nodes=nodes,
        ppn=ppn,
        policy=policy,
        ranks=_spread(nodes, ppn, at_node, [everywhere] * ppn),
        slots=(),
        per_domain=None,
        level_word="node",
        smt_siblings=False,
        oversubscribed=True,
        sentence=N_("oversubscribed, {ppn} ranks on {count} CPUs of a node, not bound").format(
            ppn=ppn, count=len(everywhere)
        ),
    )


def check(placement: Placement, hello_where: Sequence[Mapping[str, Any]]) -> str | None:
    """What differs between the placement and what the ranks report from inside; None when nothing does.

    `hello_where` has one mapping a rank with `rank`, `node` (index, in any numbering), `host` and `cpus` (the affinity
    mask). Without a policy only the number of ranks on each node is compared.
    """
    reported = sorted(hello_where, key=lambda where: int(where["rank"]))
    wanted = placement.nodes * placement.ppn
    if len(reported) == 1 < wanted:
        return N_(
            "each of the {wanted} ranks started as a program of its own with one rank, because the launcher and "
            "this MPI do not work together (srun --mpi=list names what can be chosen)"
        ).format(wanted=wanted)
    if [int(where["rank"]) for where in reported] != list(range(wanted)):
        return N_("{count} ranks started instead of {wanted}").format(count=len(reported), wanted=wanted)
    on_node = Counter(int(where["node"]) for where in reported)
    if sorted(on_node.values()) != [placement.ppn] * placement.nodes:
        spread = " + ".join(str(count) for _, count in sorted(on_node.items()))
        return N_("ranks on the nodes are {spread} instead of {nodes} x {ppn}").format(
            spread=spread, nodes=placement.nodes, ppn=placement.ppn
        )
    if placement.policy is None:
        return None
    # The benchmark may number nodes as it likes; the first rank on each of our nodes says which is which.
    name: dict[int, int] = {}
    for place_, where in zip(placement.ranks, reported, strict=True):
        name.setdefault(place_.node_index, int(where["node"]))
    strayed = [
        where
        for place_, where in zip(placement.ranks, reported, strict=True)
        if int(where["node"]) != name[place_.node_index]
    ]
    if strayed:
        return N_("rank {rank} is on the wrong node, {strayed} ({count} ranks are)").format(
            rank=strayed[0]["rank"], strayed=strayed[0].get("host", "?"), count=len(strayed)
        )
    off = [
        (where, place_)
        for place_, where in zip(placement.ranks, reported, strict=True)
        if place_.cpus and sorted(int(cpu) for cpu in where["cpus"]) != list(place_.cpus)
    ]
    if off:
        where, place_ = off[0]
        return N_("rank {rank} is bound to CPU {cpus} instead of {cpus2} ({count} of {wanted} ranks differ)").format(
            rank=where["rank"], cpus=_numbers(where["cpus"]), cpus2=_numbers(place_.cpus), count=len(off), wanted=wanted
        )
    return None


def share_cpus(places: Iterable[tuple[int, Collection[int]]]) -> bool:
    """Whether ranks of different nodes wait for one another's CPUs, as on a virtual cluster. Asked where more ranks
    than CPUs were found; it is so where no node alone explains that. `places`: of each rank its node and its CPUs."""
    by_node: dict[int, list[frozenset[int]]] = defaultdict(list)
    for node, cpus in places:
        by_node[node].append(frozenset(cpus))
    return len(by_node) > 1 and all(_each_has_one(masks) for masks in by_node.values())


def _each_has_one(masks: Sequence[frozenset[int]]) -> bool:
    """Whether ranks that may run on these CPUs can have one each, as far as sets within others tell."""
    everywhere = frozenset().union(*masks)
    counted = Counter(masks)
    return len(masks) <= len(everywhere) and all(
        sum(count for other, count in counted.items() if other <= mask) <= len(mask) for mask in counted
    )


def _numbers(cpus: Sequence[int]) -> str:
    """0-3,8 for [0, 1, 2, 3, 8]."""
    runs: list[list[int]] = []
    for cpu in sorted(int(cpu) for cpu in cpus):
        if runs and cpu == runs[-1][-1] + 1:
            runs[-1].append(cpu)
        else:
            runs.append([cpu])
    return ",".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)
