"""Alltoall and allgather by messages against one-sided transfers, in one node and between virtual ones.

    python -m benchmarks.one_sided                        about two minutes
    python -m benchmarks.one_sided --mpich VENV/bin/mpiexec --layout 1x2 --size 1048576

One launch for each MPI and layout, in which the ways take turns: Open MPI 5 as it is, with osc/rdma, over UCX with
osc/ucx (in one node), and MPICH where one is given. Prints microseconds of messages and messages / one-sided: above 1,
one-sided wins. It is given its best case (one_sided.c): no copy between the window and the caller's memory.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from unisono.vcluster.cluster import AGENT, ClusterError, VirtualCluster

SOURCE = Path(__file__).with_suffix(".c")
SIZES = (1024, 16384, 65536, 1048576)
WAYS = ("put_fence", "put_flush", "get_flush")
OPEN_MPI: dict[str, list[str]] = {
    "Open MPI": [],
    "osc/rdma": ["--mca", "osc", "rdma"],
    "osc/ucx": ["--mca", "pml", "ucx", "--mca", "osc", "ucx", "--mca", "opal_common_ucx_tls", "any"],
}
Row = dict[str, float | str | int]


def built(mpicc: str, folder: str, name: str) -> str:
    program = f"{folder}/{name}"
    subprocess.run(
        [mpicc, "-std=c11", "-D_GNU_SOURCE", "-O2", str(SOURCE), "-o", program], check=True, capture_output=True
    )
    return program


def rows(said: str, layout: str, name: str) -> list[Row]:
    made: list[Row] = []
    for line in said.splitlines():
        words = line.split()
        if words and words[0] in ("alltoall", "allgather"):
            times = {way: float(value) for way, value in zip(words[2::2], words[3::2], strict=True)}
            made.append({"layout": layout, "mpi": name, "collective": words[0], "bytes": int(words[1]), **times})
    return made


def launched(argv: list[str], cluster: VirtualCluster | None, env: dict[str, str], deadline: float) -> str:
    env = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", **env}
    if cluster:
        env |= cluster.env
    try:
        done = subprocess.run(
            cluster.wrap(argv) if cluster else argv,
            env=env,
            capture_output=True,
            text=True,
            timeout=deadline,
            check=False,
        )
    except subprocess.TimeoutExpired:
        sys.stderr.write(f"not within {deadline:g} s: {' '.join(argv)}\n")
        return ""
    if done.returncode:
        sys.stderr.write(f"status {done.returncode}: {' '.join(argv)}: {done.stderr.strip()[-200:]}\n")
    return done.stdout


def measured(given: argparse.Namespace, layout: str, folder: str) -> list[Row]:
    nodes, ppn = (int(number) for number in layout.split("x"))
    words = [str(given.seconds), *(str(size) for size in given.size)]
    made: list[Row] = []
    cluster = VirtualCluster(nodes, ("1gbit", "20ms")) if nodes > 1 else None
    try:
        program = built(str(given.mpirun.with_name("mpicc")), folder, "open_mpi")
        line = [str(given.mpirun), "-n", str(nodes * ppn), "--bind-to", "none", "--mca", "btl", "^ofi"]
        line += ["--host", ",".join(f"n{i}:{ppn}" for i in range(nodes))] if cluster else []
        for name, options in OPEN_MPI.items():
            if cluster and name == "osc/ucx":
                continue
            said = launched([*line, *options, program, *words], cluster, {}, given.deadline)
            made += rows(said, layout, name)
        if given.mpich:
            program = built(str(Path(given.mpich).with_name("mpicc")), folder, "mpich")
            agent = str(AGENT)
            argv = [given.mpich, "-n", str(nodes * ppn)]
            if cluster:
                hosts = ",".join(f"n{i}" for i in range(nodes))
                argv += ["-launcher", "ssh", "-launcher-exec", agent, "-hosts", hosts, "-ppn", str(ppn)]
            waits = "MPIR_CVAR_CH4_PROGRESS_THROTTLE"
            quiet = {waits: "1", f"{waits}_NO_PROGRESS_COUNT": "10"} if cluster else {}
            made += rows(launched([*argv, program, *words], cluster, quiet, given.deadline), layout, "MPICH")
    finally:
        if cluster:
            cluster.close()
    return made


def main() -> int:
    parser = argparse.ArgumentParser(description="Messages against one-sided transfers.")
    parser.add_argument("--layout", action="append", help="NODESxRANKS, may be repeated; 1x2, 4x1 and 4x2 if not given")
    parser.add_argument("--size", action="append", type=int, metavar="BYTES")
    parser.add_argument("--seconds", type=float, default=0.05, help="for each way, size and collective")
    parser.add_argument("--mpirun", type=Path, default=Path(sys.prefix) / "bin" / "mpirun", help="of Open MPI 5")
    parser.add_argument("--mpich", metavar="MPIEXEC", help="of an MPICH with its mpicc beside it")
    parser.add_argument("--deadline", type=float, default=60, help="seconds a launch may take")
    given = parser.parse_args()
    given.size = given.size or list(SIZES)
    everything: list[Row] = []
    try:
        with tempfile.TemporaryDirectory() as folder:
            for layout in given.layout or ["1x2", "4x1", "4x2"]:
                everything += measured(given, layout, folder)
    except (ClusterError, OSError, subprocess.CalledProcessError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    table = Table("layout", "MPI", "collective", "bytes", "messages, us", *(f"messages / {way}" for way in WAYS))
    ratios: list[float] = []
    for row in everything:
        own = [float(row["messages"]) / float(row[way]) for way in WAYS]
        ratios.append(max(own))
        words = [str(row[name]) for name in ("layout", "mpi", "collective", "bytes", "messages")]
        table.add_row(*words, *(f"{ratio:.2f}" for ratio in own))
    Console(width=140).print(table)
    mean = math.exp(statistics.fmean(map(math.log, ratios))) if ratios else None
    print(json.dumps({"geometric_mean_of_best": mean, "most": max(ratios, default=None), "rows": everything}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
