"""This machine as a `Machine`, and reading a description somebody wrote down."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from unisono.core.errors import UserError
from unisono.core.language import _
from unisono.core.reading import MACHINE_MOST, read_text
from unisono.core.toml import explain_validation
from unisono.inventory.elsewhere import described_on, first_node
from unisono.inventory.environment import read_environment
from unisono.inventory.hosts import job_nodes
from unisono.inventory.mpi import describe_mpi
from unisono.inventory.scheduler import read_scheduler
from unisono.inventory.ucx import read_ucx
from unisono.machine.description import Machine, Mpi, Node, Ucx
from unisono.machine.devices import read_devices
from unisono.machine.files import ROOT
from unisono.machine.host import read_host
from unisono.machine.topology import read_topology


def describe(mpirun: str | None = None, mpicc: str | None = None, hosts: list[Node] | None = None) -> Machine:
    """Everything about this machine and its MPI.

    `mpirun` and `mpicc` name the MPI to use (see inventory.mpi.find_mpirun for the order of discovery); `hosts` the
    nodes a launch may use; when None those of the batch job we are in, else this host with a slot a core. On a host
    that is no node of our job, the job's first node is described. Raises UserError when there is no MPI to drive, or
    that node cannot be asked. Takes half a second to a second, for asking MPI and UCX.
    """
    mpi = describe_mpi(mpirun, mpicc)
    if node := first_node(os.environ):
        there = from_document(described_on(node, mpi.mpirun, mpi.mpicc), node)
        # A step counts the slots of its own tasks.
        nodes = hosts or job_nodes(os.environ)
        update = {"nodes": nodes, "mpi": mpi, "environment": read_environment(os.environ)}
        return there.model_copy(update=update)
    return read_machine(ROOT, os.environ, mpi, read_ucx(mpi), hosts=hosts, affinity=os.sched_getaffinity(0))


def read_machine(
    root: Path,
    environment: Mapping[str, str],
    mpi: Mpi | None,
    ucx: Ucx | None,
    *,
    hosts: list[Node] | None = None,
    affinity: set[int] | None = None,
    architecture: str | None = None,
) -> Machine:
    """The machine whose /sys, /proc and /etc are under `root`, with the software given."""
    topology = read_topology(root, affinity)
    host = read_host(root)
    cores = len({cpu.core for cpu in topology.cpus})
    return Machine(
        name=host.name,
        cpu_model=host.cpu_model,
        architecture=architecture or platform.machine(),
        cpus=topology.cpus,
        sockets=topology.sockets,
        numa_per_socket=topology.numa_per_socket,
        smt=topology.smt,
        caches=topology.caches,
        memory_bytes=host.memory_bytes,
        memory_available_bytes=host.memory_available_bytes,
        cpu_quota=host.cpu_quota,
        governor=host.governor,
        kernel=host.kernel,
        os=host.os,
        virtual=host.virtual,
        nodes=hosts or _nodes(environment, Node(host=host.name, slots=cores)),
        mpi=mpi,
        ucx=ucx,
        devices=read_devices(root),
        scheduler=read_scheduler(environment),
        environment=read_environment(environment),
        root_user=os.geteuid() == 0,
    )


def _nodes(environment: Mapping[str, str], this: Node) -> list[Node]:
    """The job's nodes; this host by its own name when the job has no other."""
    nodes = job_nodes(environment)
    return nodes if len(nodes) > 1 else [this]


def load(path: Path | str) -> Machine:
    """A machine from a file: what `unisono doctor --json` printed, or the machine in it alone.

    UserError naming the file, and the key where one is wrong.
    """
    text = read_text(Path(path), MACHINE_MOST)
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UserError(
            _("{path}: is not JSON: {error}; write it with: unisono doctor --json > FILE").format(
                path=path, error=error
            )
        ) from error
    return from_document(document, path)


def from_document(document: Any, path: Path | str, *, described: bool = True) -> Machine:
    """The machine of a parsed document; see `load`. `described`: it must say something of its hardware."""
    inner = document["machine"] if isinstance(document, dict) and "machine" in document else document
    if not isinstance(inner, dict) or inner.get("format") != "unisono-machine":
        raise UserError(
            _("{path}: format: not the description of a machine; write one with: unisono doctor --json > FILE").format(
                path=path
            )
        )
    if inner.get("format_version") != 1:
        raise UserError(
            _("{path}: format_version: {inner!r} is not a version this Unisono reads (it reads 1)").format(
                path=path, inner=inner.get("format_version")
            )
        )
    try:
        machine = Machine.model_validate(inner)
    except ValidationError as error:
        raise UserError(explain_validation(path, error)) from error
    problem = _inconsistent(machine)
    if problem and (described or machine.is_described):
        raise UserError(f"{path}: {problem}")
    return machine


def _inconsistent(machine: Machine) -> str | None:
    """What no real machine can have, with its key; None when all is well."""
    numbers = [cpu.cpu for cpu in machine.cpus]
    if not numbers:
        return _("cpus: is empty; a machine has at least one CPU")
    if len(set(numbers)) != len(numbers):
        return _("cpus: a CPU number appears twice")
    for key in ("sockets", "numa_per_socket", "smt"):
        if getattr(machine, key) < 1:
            return _("{key}: {machine} is too few; at least 1").format(key=key, machine=getattr(machine, key))
    if not machine.nodes:
        return _("nodes: is empty; name at least one host")
    return None
