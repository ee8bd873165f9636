"""Where a process's memory comes from: the NUMA policies of Nakajima (2009), spelled with numactl.

Threads are bound by the launcher (see lines.py); numactl says which NUMA nodes pages are taken from. The document's
choices, which `auto` makes: flat MPI interleaves over the socket's own memory, processes of up to a few sockets
allocate locally within them, one process a node allocates locally.
"""

from __future__ import annotations

import shutil
from typing import Literal, cast

from unisono.cmdline.layouts import Layout
from unisono.core.errors import UserError
from unisono.core.language import N_, _
from unisono.machine.description import Machine

Policy = Literal["none", "local", "socket-local", "socket-interleave"]

POLICIES: dict[Policy, str] = {
    "none": N_("what the system does by itself"),
    "local": N_("numactl --localalloc: where the thread that touches it first runs"),
    "socket-local": N_("numactl --cpunodebind=$SOCKET --localalloc: within the process's own NUMA nodes"),
    "socket-interleave": N_("numactl --cpunodebind=$SOCKET --interleave=$SOCKET: page by page over its own NUMA nodes"),
}

_LOCAL_RANK = "${OMPI_COMM_WORLD_LOCAL_RANK:-${MPI_LOCALRANKID:-${PALS_LOCAL_RANKID:-${SLURM_LOCALID:-0}}}}"


def automatic(layout: Layout) -> Policy:
    """What Nakajima (2009) uses for a layout."""
    if layout.threads == 1:
        return "socket-interleave"
    return "local" if layout.processes == 1 else "socket-local"


def resolved(policy: str, layout: Layout) -> Policy:
    """The policy itself, where "auto" stands for one."""
    return automatic(layout) if policy == "auto" else cast("Policy", policy)


def chosen_policies(text: str, machine: Machine) -> tuple[list[str], list[str]]:
    """Of "auto", "all" or a list: policy names ("auto" is one), and sentences on what was folded.

    Raises UserError for an unknown name, and when one is asked for by name where there is no numactl.
    """
    domains = numa_nodes(machine)
    names: list[str] = list(POLICIES) if text == "all" else [word.strip() for word in text.split(",")]
    for name in names:
        if name not in POLICIES and name != "auto":
            raise UserError(
                _("numa: {name!r} is unknown; known: auto, all, {policies}").format(
                    name=name, policies=", ".join(POLICIES)
                )
            )
    if domains < 2:
        return ["none"], [N_("One NUMA node: all NUMA policies are the same here, none is set.")]
    if shutil.which("numactl") is None and names != ["none"]:
        if text != "auto":
            raise UserError(_("numa: numactl is not installed, so no policy can be set; install it or use --numa none"))
        return ["none"], [N_("numactl is not installed: memory goes where the system puts it.")]
    return names, []


def numa_nodes(machine: Machine) -> int:
    return len(machine.numa_nodes)


def words(policy: str, layout: Layout, machine: Machine) -> list[str]:
    """What stands before the program for this policy; nothing for "none". Processes are taken to fill the NUMA nodes in
    order, as lines.py binds them."""
    domains = numa_nodes(machine)
    name = resolved(policy, layout)
    if name == "none":
        return []
    if name == "local":
        return ["numactl", "--localalloc"]
    p = layout.processes
    first = f"$(( r * {domains} / {p} ))"
    last = f"$(( ((r + 1) * {domains} + {p} - 1) / {p} - 1 ))"
    memory = "--localalloc" if name == "socket-local" else "--interleave=$a-$b"
    script = f'r={_LOCAL_RANK}; a={first}; b={last}; exec numactl --cpunodebind=$a-$b {memory} "$@"'
    return ["sh", "-c", script, "numa"]
