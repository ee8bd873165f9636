"""Where ranks go: what a launcher is to be told (cmdline.placement computes it)."""

from __future__ import annotations

from dataclasses import dataclass

from unisono.core.errors import UserError
from unisono.core.language import _

LEVELS = ("l3", "numa", "socket", "node")


@dataclass(frozen=True, slots=True, order=True)
class Core:
    """`logical` is hwloc's number, by which mpirun's explicit lists name cores; it differs from the operating
    system's where that deals cores to sockets in turn."""

    logical: int
    first_pu: int
    """Logical number of its first hardware thread."""
    in_socket: int
    """Logical number within its socket."""
    cpus: tuple[int, ...]
    """Hardware threads by the operating system's numbers, ascending."""
    socket: int
    """Logical, as all numbers below."""
    numa: int
    l3: int


@dataclass(frozen=True, slots=True)
class Slot:
    """Where one rank goes: a whole core, or its hardware thread number `thread`."""

    core: Core
    thread: int | None

    @property
    def cpus(self) -> tuple[int, ...]:
        return self.core.cpus if self.thread is None else (self.core.cpus[self.thread],)


@dataclass(frozen=True, slots=True)
class Policy:
    order: str
    """"block" or "cyclic"."""
    level: str
    """"l3", "numa", "socket" or "node"."""

    @classmethod
    def parse(cls, text: str) -> Policy:
        """Of "block", "cyclic:socket", ... Raises UserError for anything else."""
        order, colon, level = text.partition(":")
        level = level if colon else "numa"
        if order not in ("block", "cyclic") or level not in LEVELS:
            raise UserError(
                _(
                    "placement: {text!r} is unknown; write block or cyclic, with :l3, :numa, :socket or "
                    ":node after it for another level than NUMA nodes"
                ).format(text=text)
            )
        return cls(order, level)


@dataclass(frozen=True, slots=True)
class RankPlace:
    """Node (0 is the first used) and CPUs, by the operating system's numbers; no CPUs: not known beforehand."""

    node_index: int
    cpus: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Placed:
    nodes: int
    ppn: int
    policy: Policy | None
    """None: what mpirun does by itself."""
    ranks: tuple[RankPlace, ...]
    slots: tuple[Slot, ...]
    """Of one node in the order of its ranks; empty when not bound by us."""
    per_domain: int | None
    """Ranks in each domain of the level, when all domains have equally many."""
    level_word: str
    """The level whose name is used: the coarsest that divides the node in the same way."""
    smt_siblings: bool
    """More ranks than cores on a node, so that ranks share cores."""
    oversubscribed: bool
    sentence: str

    @property
    def over_nodes(self) -> bool:
        """Whether rank i goes to node i mod n."""
        return self.nodes > 1 and self.policy == Policy("cyclic", "node")
