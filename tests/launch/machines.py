"""Machines made up for the tests, and what the launcher's own mapper makes of them."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from tests.launch.launched import launched
from unisono.machine.description import Cpu, Machine, Mpi, Node


def machine(
    sockets: int = 2,
    numa_per_socket: int = 1,
    cores_per_numa: int = 4,
    smt: int = 1,
    *,
    in_turn: bool = False,
    nodes: int = 1,
    mpi: Mpi | None = None,
    root_user: bool = False,
    environment: dict[str, str] | None = None,
) -> Machine:
    """CPU numbers as Linux gives them: first threads of all cores, then their siblings; `in_turn` deals cores to
    sockets in turn, as some vendors' firmware does."""
    per_socket = numa_per_socket * cores_per_numa
    cores = sockets * per_socket
    cpus = []
    for thread in range(smt):
        for number in range(cores):
            socket, inside = (number % sockets, number // sockets) if in_turn else divmod(number, per_socket)
            numa = socket * numa_per_socket + inside // cores_per_numa
            cpus.append(Cpu(cpu=thread * cores + number, core=number, numa=numa, socket=socket, l3=numa))
    return Machine(
        name="made-up",
        cpu_model="none",
        cpus=cpus,
        sockets=sockets,
        numa_per_socket=numa_per_socket,
        smt=smt,
        memory_bytes=1 << 34,
        memory_available_bytes=1 << 33,
        nodes=[Node(host="localhost" if nodes == 1 else f"n{i}", slots=cores) for i in range(nodes)],
        mpi=mpi or open_mpi("5.0.11"),
        root_user=root_user,
        environment=environment or {},
    )


def open_mpi(version: str, mpirun: str = "mpirun", settings: dict[str, str] | None = None) -> Mpi:
    return Mpi(
        family="openmpi",
        version=version,
        mpirun=mpirun,
        components={"btl": ["self", "sm", "tcp", *(["ofi"] if version.startswith("5") else [])]},
        call_scope=["coll", "algorithm", "segment"],
        settings=settings or {},
    )


def synthetic(made_up: Machine) -> str:
    """The machine in hwloc's language, for HWLOC_SYNTHETIC."""
    by_place: dict[tuple[int, int, int], list[int]] = {}
    for cpu in made_up.cpus:
        by_place.setdefault((cpu.socket, cpu.numa, cpu.core), []).append(cpu.cpu)
    order = [str(cpu) for place in sorted(by_place) for cpu in by_place[place]]
    cores = made_up.cores // (made_up.sockets * made_up.numa_per_socket)
    return (
        f"package:{made_up.sockets} numa:{made_up.numa_per_socket} l3:1 core:{cores} "
        f"pu:{made_up.smt}(indexes={','.join(order)})"
    )


def mapped(made_up: Machine, nodes: int, ranks: int, words: Sequence[str]) -> list[tuple[int, tuple[int, ...]]]:
    """Node and CPUs of every rank as mpirun's mapper decides, on made-up nodes; nothing is started."""
    assert made_up.mpi is not None
    five = made_up.mpi.version.startswith("5")
    prefix = "--prtemca" if five else "--mca"
    slots = str(max(len(made_up.cpus), ranks))
    simulated = {"ras": "simulator", "ras_simulator_num_nodes": str(nodes), "ras_simulator_slots": slots}
    if not five:
        simulated["ras_simulator_slots_max"] = slots
    argv = [made_up.mpi.mpirun, "--allow-run-as-root", "-n", str(ranks)]
    if nodes == 1:
        argv += ["--host", f"localhost:{slots}"]
    else:
        argv += [word for name, value in simulated.items() for word in (prefix, name, value)]
    argv += [*words, *(["--display", "map"] if five else ["--display-devel-map"]), "--do-not-launch", "/bin/true"]
    # Nothing else: mpirun 4.1.4 prints from memory it never set, and crashes or not by what the environment puts there.
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LD_LIBRARY_PATH") if name in os.environ}
    environment = {**kept, "HWLOC_SYNTHETIC": synthetic(made_up)}
    done = launched(argv, env=environment, timeout=30)
    text = done.stdout + done.stderr
    found = (_five if five else _four)(made_up, text)
    assert len(found) == ranks, f"{' '.join(argv)}\n{text}"
    return found


def _five(made_up: Machine, text: str) -> list[tuple[int, tuple[int, ...]]]:
    """From "Binding: package[0][core:L18]". The number is the core's logical one, but with one hardware thread a core,
    and for hwt, it is the operating system's of the CPU, whatever the L stands for."""
    by_logical = _cores(made_up)
    found: dict[int, tuple[int, tuple[int, ...]]] = {}
    node = rank = -1
    for line in text.splitlines():
        if "Data for node:" in line:
            node += 1
        elif match := re.search(r"Data for proc: \[\S+,(\d+)\]", line):
            rank = int(match[1])
        elif match := re.search(r"Binding: package\[\d+\]\[(core|hwt):L(\d+)\]", line):
            number = int(match[2])
            whole = match[1] == "core" and made_up.smt > 1
            found[rank] = (node, by_logical[number] if whole else (number,))
    return [found[rank] for rank in sorted(found)]


def _four(made_up: Machine, text: str) -> list[tuple[int, tuple[int, ...]]]:
    """From "Binding: [B/./.][./././]": a letter a hardware thread, cores between slashes, in logical order."""
    by_logical = _cores(made_up)
    found: dict[int, tuple[int, tuple[int, ...]]] = {}
    node = rank = -1
    for line in text.splitlines():
        if "Data for node:" in line:
            node += 1
        elif match := re.search(r"Data for proc: \[\[\S+\],(\d+)\]", line):
            rank = int(match[1])
        elif match := re.search(r"Binding: (\[.*\])", line):
            cores = [core for socket in re.findall(r"\[([^]]*)\]", match[1]) for core in socket.split("/")]
            cpus = [
                cpu
                for core, threads in zip(by_logical, cores, strict=True)
                for cpu, letter in zip(core, threads, strict=True)
                if letter == "B"
            ]
            found[rank] = (node, tuple(cpus))
    return [found[rank] for rank in sorted(found)]


def _cores(made_up: Machine) -> list[tuple[int, ...]]:
    """CPUs of every core in logical order, found without the code under test."""
    by_place: dict[tuple[int, int, int], list[int]] = {}
    for cpu in made_up.cpus:
        by_place.setdefault((cpu.socket, cpu.numa, cpu.core), []).append(cpu.cpu)
    return [tuple(by_place[place]) for place in sorted(by_place)]
