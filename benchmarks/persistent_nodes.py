"""Persistent collectives over the nodes of a virtual cluster: by the algorithm that Open MPI 5 takes by itself, and by
one of its own that a rule names, in turn in the same launches.

    python benchmarks/persistent_nodes.py [--nodes 2] [--ppn 2] [--rate 1gbit] [--launches 5] [--rounds 11]
                                          [--only ibcast/chain] [--sizes 4096,65536,1048576]

For every algorithm and message size: microseconds of start and wait of both, after a barrier (medians over all rounds
of the slowest rank's mean), and the ratio of the first to the second: the median over launches of the median over
rounds, the least and the greatest launch. The last line is JSON.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from unisono.core.errors import UserError
from unisono.core.sizes import parse_size
from unisono.core.version import at_least
from unisono.inventory.describe import describe
from unisono.launch.process import run
from unisono.library.recorder import recorder
from unisono.machine.description import Mpi
from unisono.vcluster.cluster import VirtualCluster

SOURCE = Path(__file__).with_suffix(".c")
KINDS = ("iallreduce", "ireduce", "ibcast", "iallgather", "iscan", "iexscan")
ALGORITHMS = {
    "iallreduce": ("ring", "rabenseifner", "recursive_doubling"),
    "ireduce": ("chain", "binomial"),
    "ibcast": ("binomial", "chain", "knomial"),
    "iallgather": ("recursive_doubling",),
    "iscan": ("recursive_doubling",),
    "iexscan": ("recursive_doubling",),
}
FIELDS = 4


@dataclass(frozen=True)
class Bench:
    """The program, the cluster that it runs on, and how."""

    program: Path
    rules: Path
    mpi: Mpi
    cluster: VirtualCluster
    ppn: int
    rounds: int

    def launch(self, algorithm: str, size: int) -> list[tuple[float, float]]:
        """Seconds by the MPI's own choice and by the named algorithm, round by round. UserError: it did not serve."""
        kind, _, name = algorithm.partition("/")
        self.rules.write_text(f"unisono-rules 1\n{kind} * * {size} {size} libnbc/{name}\n")
        env = {**os.environ, **self.cluster.env, "UNISONO_RULES": str(self.rules), "UNISONO_VERBOSE": "1"}
        env["LD_PRELOAD"] = str(recorder(self.mpi.mpicc))
        hosts = ",".join(f"{host}:{self.ppn}" for host in self.cluster.hosts)
        root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
        line = [str(self.mpi.mpirun), *root, "--mca", "btl", "^ofi", "--host", hosts, "--bind-to", "none"]
        line += ["-x", "LD_PRELOAD", "-x", "UNISONO_RULES", "-x", "UNISONO_VERBOSE"]
        line += ["-n", str(len(self.cluster.hosts) * self.ppn)]
        line += [str(self.program), str(KINDS.index(kind)), str(size), str(self.rounds)]
        done = run(self.cluster.wrap(line), env, deadline=120)
        if done.exit_code:
            raise UserError(f"the program did not run: {done.stderr.strip()[-300:]}")
        if not re.search(rf"libnbc/{name} +\d+$", done.stderr, re.MULTILINE):
            raise UserError(f"{algorithm} did not serve: {done.stderr.strip()[-300:]}")
        words = (one.split() for one in done.stdout.splitlines())
        return [(float(w[3]), float(w[2])) for w in words if len(w) == FIELDS]


def asked(given: argparse.Namespace) -> tuple[list[str], list[int]]:
    """Algorithms and message sizes. UserError: what is none."""
    known = [f"{kind}/{name}" for kind, names in ALGORITHMS.items() for name in names]
    unknown = [name for name in given.only or () if name not in known]
    if unknown:
        raise UserError(f"--only {unknown[0]}: one of {', '.join(known)}")
    return given.only or known, [parse_size(size) for size in given.sizes.split(",")]


def measure(given: argparse.Namespace) -> None:
    names, sizes = asked(given)
    machine = describe(given.mpirun)
    mpi = machine.mpi
    if mpi is None or mpi.mpicc is None or mpi.family != "openmpi" or not at_least(mpi.version, "5"):
        raise UserError("this takes an Open MPI 5 with its mpicc: name its mpirun with --mpirun")
    rows = []
    print(f"{'algorithm':>30} {'bytes':>8} {'MPI, us':>9} {'named, us':>9} {'ratio':>6} {'least':>6} {'most':>6}")
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        program = folder / "persistent_nodes"
        subprocess.run([mpi.mpicc, "-O2", str(SOURCE), "-o", str(program)], timeout=120, check=True)
        cluster = stack.enter_context(VirtualCluster(given.nodes, (given.rate, "20ms")))
        bench = Bench(program, folder / "rules", mpi, cluster, given.ppn, given.rounds)
        for name in names:
            for size in sizes:
                launches = [bench.launch(name, size) for _ in range(given.launches)]
                plain, named = (1e6 * statistics.median(r[i] for one in launches for r in one) for i in (0, 1))
                ratios = sorted(statistics.median(r[0] / r[1] for r in one) for one in launches)
                ratio = statistics.median(ratios)
                rows.append({"algorithm": name, "bytes": size, "mpi_us": plain, "named_us": named, "ratios": ratios})
                spread = " ".join(f"{value:>6.2f}" for value in (ratio, ratios[0], ratios[-1]))
                print(f"{name:>30} {size:>8} {plain:>9.1f} {named:>9.1f} {spread}", flush=True)
    conditions = {
        "machine": f"{machine.cpu_model}, {machine.cores} cores",
        "mpi": f"{mpi.family} {mpi.version}",
        "nodes": given.nodes,
        "ppn": given.ppn,
        "rate": given.rate,
        "launches": given.launches,
        "rounds": given.rounds,
        "load": [round(value, 1) for value in os.getloadavg()],
    }
    print(json.dumps({"rows": rows, "conditions": conditions}))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpirun", help="of the MPI to use")
    parser.add_argument("--nodes", type=int, default=2)
    parser.add_argument("--ppn", type=int, default=2)
    parser.add_argument("--rate", default="1gbit", help="of a node's link")
    parser.add_argument("--launches", type=int, default=5, help="of each algorithm and size")
    parser.add_argument("--rounds", type=int, default=11, help="in a launch")
    parser.add_argument("--only", action="append", help="one algorithm; may be repeated")
    parser.add_argument("--sizes", default="4096,65536,1048576")
    try:
        measure(parser.parse_args())
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
