"""How many ranks a line of Open MPI's mpirun starts, and on how many nodes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from unisono.core.errors import UserError
from unisono.core.language import _
from unisono.core.reading import read_text
from unisono.core.vocabulary import PPN_MOST, RANKS_MOST
from unisono.mpi.launchers.lines import Here, Job, UserLine, counted


def job_of(line: UserLine, here: Here) -> Job:
    hosts = hosts_of(line, here)
    capacity = [slots for _, slots in hosts]
    each = _per_node(line, here)
    asked = _asked(line)
    if asked is None:
        asked = each * len(hosts) if each is not None else sum(capacity)
    if asked > RANKS_MOST:
        raise UserError(
            _("{argv}: starts {asked:,} ranks; the most is {ranks_most:,}").format(
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
        total += counted(given[-1].values[0], str(given[-1]))
    return total


def _per_node(line: UserLine, here: Here) -> int | None:
    """Ranks on each node where an option says so."""
    if (text := line.value("N", "npernode")) is not None:
        return counted(text, _("ranks per node"))
    if next(line.options("pernode"), None) is not None:
        return 1
    if (text := line.value("npersocket")) is not None:
        return counted(text, "--npersocket") * here.domains("socket")
    mapping = (line.value("map-by") or "").lower()
    pattern = line.value("ppr") or (mapping[4:] if mapping.startswith("ppr:") else None)
    if pattern is not None:
        number, _colon, rest = pattern.partition(":")
        return counted(number, f"ppr:{pattern}") * _objects(rest.partition(":")[0].lower(), here)
    if mapping.startswith("pe-list="):
        return len(expand_numbers(mapping[len("pe-list=") :].partition(":")[0]))
    return None


def _objects(name: str, here: Here) -> int:
    """How many of these a node has; mpirun takes any beginning of the names."""
    if name == "node":
        return 1
    if name.startswith(("pack", "sock")):
        return here.domains("socket")
    if name.startswith("nu"):
        return here.domains("numa")
    if name.startswith("l3"):
        return here.domains("l3")
    if name.startswith(("c", "l1", "l2")):
        return here.cores
    if name.startswith("h"):
        return here.cpus
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


HOSTFILES = ("hostfile", "machinefile", "default-hostfile")


def hosts_of(line: UserLine, here: Here) -> list[tuple[str, int]]:
    """Hosts with their slots: those of --host (of a host file or the scheduler's job), or this machine."""
    known: dict[str, int | None] = {}
    for option in line.options(*HOSTFILES):
        known.update(_read_hostfile(option.values[0]))
    known = known or dict(_scheduled(here)) or _by_default(here)
    full = here.cores
    named: dict[str, int | None] = {}
    for option in line.options("host", "H"):
        for host, slots in _parse_hosts(option.values[0]).items():
            named[host] = _add(named.get(host, 0), slots)
    if named:
        # Alone, a name without a number is one slot; chosen out of a list, it has the slots of the list.
        return [(host, slots or known.get(host) or full) for host, slots in named.items()]
    if known:
        return [(host, slots or full) for host, slots in known.items()]
    return [here.nodes[0]]


def _by_default(here: Here) -> dict[str, int | None]:
    named = (here.environment.get(name) for name in here.host_files)
    return next((_read_hostfile(name) for name in named if name), {})


def _add(before: int | None, more: int | None) -> int | None:
    return None if before is None or more is None else before + more


def _parse_hosts(text: str) -> dict[str, int | None]:
    """ "a:2,b" -> {"a": 2, "b": 1}; None stands for as many as there are (a:*)."""
    found: dict[str, int | None] = {}
    for entry in text.split(","):
        host, colon, slots = entry.strip().partition(":")
        if not host or host.startswith("+"):
            raise UserError(_("--host {text}: write host names, with :SLOTS after them where needed").format(text=text))
        number = None if slots in ("*", "auto") else counted(slots, f"--host {text}") if colon else 1
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
            else counted(said, _("{name}, line {number}").format(name=name, number=number), least=0 if given else 1)
        )
        lines.setdefault(host, []).append(count)
    return {
        host: counts[0] if len(counts) == 1 else sum(1 if count is None else count for count in counts)
        for host, counts in lines.items()
    }


def _scheduled(here: Here) -> dict[str, int]:
    """Hosts and slots of the job this runs in (Slurm, PBS, LSF); empty outside of one.

    Slurm's host list is compressed; Open MPI's own names for the nodes of a job, +n0, +n1 ..., stand in for it.
    """
    env = here.environment
    if "SLURM_JOB_ID" in env and (counts := here.slots_of_job()):
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
        start = counted(first, f"pe-list={text}", least=0)
        end = counted(last, f"pe-list={text}", least=0) if dash else start
        if len(numbers) + end - start >= PPN_MOST:
            raise UserError(
                _("pe-list={text}: names more than {ppn_most:,} CPUs").format(text=text[:80], ppn_most=PPN_MOST)
            )
        numbers += range(start, end + 1)
    return numbers
