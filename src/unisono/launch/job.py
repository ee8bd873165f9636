"""How many ranks a user's command line starts, and on how many nodes."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from unisono import mpi as families
from unisono.errors import UserError
from unisono.language import _
from unisono.launch.slots import cores, domains
from unisono.launch.userline import UserLine, parse
from unisono.machine.hosts import slurm_slots
from unisono.machine.model import Machine, Node
from unisono.model import PPN_MOST, RANKS_MOST
from unisono.numbers import whole_number
from unisono.reading import read_text


@dataclass(frozen=True, slots=True)
class Job:
    ranks: int
    nodes: int
    ppn: int
    """Of the fullest node."""
    hosts: tuple[str, ...]
    """Of the nodes used, in order; empty for srun, which alone knows them."""

    @property
    def even(self) -> bool:
        """Whether all nodes have `ppn` ranks."""
        return self.ranks == self.nodes * self.ppn


def describe_job(argv: Sequence[str], machine: Machine, env: Mapping[str, str] | None = None) -> Job:
    """What `argv` (mpirun ... or srun ...) would start. `env` (default os.environ) tells of the scheduler's job.

    Raises UserError where the command line does not say.
    """
    line = parse(argv)
    return job_of(line, machine, os.environ if env is None else env)


def job_of(line: UserLine, machine: Machine, env: Mapping[str, str]) -> Job:
    """The same for a line already taken apart."""
    if line.launcher == "srun":
        return _of_srun(line, env)
    return _of_mpirun(line, machine, env)


# -- mpirun --------------------------------------------------------------------------------------------------------


def _of_mpirun(line: UserLine, machine: Machine, env: Mapping[str, str]) -> Job:
    hosts = _hosts(line, machine, env)
    capacity = [slots for _, slots in hosts]
    each = _per_node(line, machine)
    asked = _asked(line)
    if asked is None:
        asked = each * len(hosts) if each is not None else sum(capacity)
    if asked > RANKS_MOST:
        raise UserError(
            _("{argv}: starts {asked:,} ranks; {ranks_most:,} at the most").format(
                argv=" ".join(line.argv)[:200], asked=asked, ranks_most=RANKS_MOST
            )
        )
    counts = _distribute(asked, capacity, each, _in_turn(line))
    used = [i for i, count in enumerate(counts) if count]
    return Job(asked, len(used), max(counts), tuple(hosts[i][0] for i in used))


def _asked(line: UserLine) -> int | None:
    """Sum of -n over the programs; None when one of them has none."""
    total = 0
    for context in line.contexts:
        given = [option for option in context.options if option.name in ("n", "np", "c")]
        if not given:
            return None
        total += _number(given[-1].values[0], str(given[-1]))
    return total


def _per_node(line: UserLine, machine: Machine) -> int | None:
    """Ranks on each node where an option says so."""
    if (text := line.value("N", "npernode")) is not None:
        return _number(text, _("ranks per node"))
    if next(line.options("pernode"), None) is not None:
        return 1
    if (text := line.value("npersocket")) is not None:
        return _number(text, "--npersocket") * len(domains(cores(machine), "socket"))
    mapping = (line.value("map-by") or "").lower()
    pattern = line.value("ppr") or (mapping[4:] if mapping.startswith("ppr:") else None)
    if pattern is not None:
        number, _colon, rest = pattern.partition(":")
        return _number(number, f"ppr:{pattern}") * _objects(rest.partition(":")[0].lower(), machine)
    if mapping.startswith("pe-list="):
        return len(expand_numbers(mapping[len("pe-list=") :].partition(":")[0]))
    return None


def _objects(name: str, machine: Machine) -> int:
    """How many of these a node has; mpirun takes any beginning of the names."""
    all_cores = cores(machine)
    if name == "node":
        return 1
    if name.startswith(("pack", "sock")):
        return len(domains(all_cores, "socket"))
    if name.startswith("nu"):
        return len(domains(all_cores, "numa"))
    if name.startswith("l3"):
        return len(domains(all_cores, "l3"))
    if name.startswith(("c", "l1", "l2")):
        return len(all_cores)
    if name.startswith("h"):
        return len(machine.cpus)
    raise UserError(
        _("ppr:N:{name}: not an object ranks can be counted by; use node, package, numa, l3cache or core").format(
            name=name
        )
    )


def _in_turn(line: UserLine) -> bool:
    """Whether ranks are dealt to the nodes in turn, so that none is filled before the others."""
    mapping = (line.value("map-by") or "").lower()
    return mapping.partition(":")[0] == "node" or ":span" in mapping or next(line.options("bynode"), None) is not None


def _distribute(ranks: int, capacity: Sequence[int], each: int | None, in_turn: bool) -> list[int]:
    """Ranks on each node: at most `each`, in turn, or node after node; beyond all capacity they are shared out."""
    counts = [0] * len(capacity)
    limits = [each] * len(capacity) if each is not None else list(capacity)
    left = ranks
    if not in_turn:
        for i, limit in enumerate(limits):
            counts[i] = min(limit, left)
            left -= counts[i]
    while left:
        open_nodes = [i for i, limit in enumerate(limits) if counts[i] < limit]
        # As many rounds at once as leave every node open that is.
        rounds = min((limits[i] - counts[i] for i in open_nodes), default=left)
        open_nodes = open_nodes or list(range(len(capacity)))
        rounds = max(1, min(rounds, left // len(open_nodes)))
        for i in open_nodes[:left]:
            counts[i] += rounds
        left -= rounds * min(left, len(open_nodes))
    return counts


# -- hosts ---------------------------------------------------------------------------------------------------------


def nodes_of(argv: Sequence[str], machine: Machine, env: Mapping[str, str] | None = None) -> list[Node]:
    """The nodes that `argv` names (--host, a host file), else those the machine has. A launcher that names none, srun,
    and a line that cannot be understood leave the machine's."""
    try:
        line = parse(argv)
        if line.launcher == "srun" or not next(line.options("host", "H", *_HOSTFILES), None):
            return machine.nodes
        found = _hosts(line, machine, os.environ if env is None else env)
    except UserError:
        return machine.nodes
    return [Node(host=host, slots=slots) for host, slots in found]


_HOSTFILES = ("hostfile", "machinefile", "default-hostfile")


def _hosts(line: UserLine, machine: Machine, env: Mapping[str, str]) -> list[tuple[str, int]]:
    """Hosts with their slots: those of --host (of a host file or the scheduler's job), or this machine."""
    known: dict[str, int | None] = {}
    for option in line.options(*_HOSTFILES):
        known.update(_read_hostfile(option.values[0]))
    known = known or dict(_scheduled(env)) or _by_default(machine, env)
    full = machine.cores
    named: dict[str, int | None] = {}
    for option in line.options("host", "H"):
        for host, slots in _parse_hosts(option.values[0]).items():
            named[host] = _add(named.get(host, 0), slots)
    if named:
        # Alone, a name without a number is one slot; chosen out of a list, it has the slots of the list.
        return [(host, slots or known.get(host) or full) for host, slots in named.items()]
    if known:
        return [(host, slots or full) for host, slots in known.items()]
    return [(machine.nodes[0].host, machine.nodes[0].slots)]


def _by_default(machine: Machine, env: Mapping[str, str]) -> dict[str, int | None]:
    name = machine.mpi.family if machine.mpi is not None else ""
    names = families.family(name).HOST_FILES if families.known(name) else ()
    return next((_read_hostfile(env[name]) for name in names if env.get(name)), {})


def _add(before: int | None, more: int | None) -> int | None:
    return None if before is None or more is None else before + more


def _parse_hosts(text: str) -> dict[str, int | None]:
    """ "a:2,b" -> {"a": 2, "b": 1}; None stands for as many as there are (a:*)."""
    found: dict[str, int | None] = {}
    for entry in text.split(","):
        host, colon, slots = entry.strip().partition(":")
        if not host or host.startswith("+"):
            raise UserError(_("--host {text}: write host names, with :SLOTS after them where needed").format(text=text))
        number = None if slots in ("*", "auto") else _number(slots, f"--host {text}") if colon else 1
        found[host] = _add(found.get(host, 0), number)
    return found


def _read_hostfile(name: str) -> dict[str, int | None]:
    hosts = parse_hostfile(read_text(Path(name)), name)
    if not hosts:
        raise UserError(_("{name}: the host file names no host").format(name=name))
    return hosts


_SLOTS = re.compile(r"\b(?:slots|cpus|count)\s*=\s*([^\s,]*)")


def parse_hostfile(text: str, name: str = _("host file")) -> dict[str, int | None]:
    """Host -> slots of Open MPI's host file; None where it gives no number (as many as cores).

    A host on several lines has the sum, a line without a number then counting one.
    """
    lines: dict[str, list[int | None]] = {}
    for number, raw in enumerate(text.splitlines(), 1):
        words = raw.partition("#")[0].strip()
        if not words:
            continue
        host, colon, slots = words.split()[0].rpartition("@")[2].partition(":")
        if not host or host.startswith(("+", "^")):
            raise UserError(
                _("{name}, line {number}: {raw!r}: a host name was expected").format(
                    name=name, number=number, raw=raw.strip()
                )
            )
        given = _SLOTS.search(words)
        said = given[1] if given else slots if colon else None
        count = (
            None
            if said is None
            else _number(said, _("{name}, line {number}").format(name=name, number=number), least=0 if given else 1)
        )
        lines.setdefault(host, []).append(count)
    return {
        host: counts[0] if len(counts) == 1 else sum(1 if count is None else count for count in counts)
        for host, counts in lines.items()
    }


def _scheduled(env: Mapping[str, str]) -> dict[str, int]:
    """Hosts and slots of the job this runs in (Slurm, PBS, LSF); empty outside of one.

    Slurm's host list is compressed; Open MPI's own names for the nodes of a job, +n0, +n1 ..., stand in for it.
    """
    if "SLURM_JOB_ID" in env and (counts := slurm_slots(env)):
        return {f"+n{i}": count for i, count in enumerate(counts)}
    for name in ("PBS_NODEFILE", "LSB_DJOB_HOSTFILE"):
        if name in env:
            hosts = _read_hostfile(env[name])
            return {host: count or 1 for host, count in hosts.items()}
    return {}


def expand_numbers(text: str) -> list[int]:
    """ "0,2,5-7" -> [0, 2, 5, 6, 7]."""
    numbers: list[int] = []
    for part in text.split(","):
        first, dash, last = part.partition("-")
        start = _number(first, f"pe-list={text}", least=0)
        end = _number(last, f"pe-list={text}", least=0) if dash else start
        if len(numbers) + end - start >= PPN_MOST:
            raise UserError(
                _("pe-list={text}: names more than {ppn_most:,} CPUs").format(text=text[:80], ppn_most=PPN_MOST)
            )
        numbers += range(start, end + 1)
    return numbers


# -- srun ----------------------------------------------------------------------------------------------------------


def _of_srun(line: UserLine, env: Mapping[str, str]) -> Job:
    nodes_text = line.value("N", "nodes")
    nodes = _number(nodes_text.partition("-")[0], "--nodes") if nodes_text is not None else None
    ranks_text = line.value("n", "ntasks")
    ranks = _number(ranks_text, "--ntasks") if ranks_text is not None else None
    each_text = line.value("ntasks-per-node")
    each = _number(each_text, "--ntasks-per-node") if each_text is not None else None
    if nodes is None and "SLURM_NNODES" in env:
        nodes = _number(env["SLURM_NNODES"], "SLURM_NNODES")
    if ranks is None and each is None and "SLURM_NTASKS" in env:
        ranks = _number(env["SLURM_NTASKS"], "SLURM_NTASKS")
    if nodes is None:
        nodes = -(-ranks // each) if ranks is not None and each is not None else 1
    if ranks is None:
        ranks = nodes * (each or 1)
    nodes = min(nodes, ranks)
    return Job(ranks, nodes, -(-ranks // nodes), ())


def _number(text: str, where: str, least: int = 1) -> int:
    return whole_number(text, where, least, RANKS_MOST)
