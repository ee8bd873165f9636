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
import statistics
import subprocess
import tempfile
from pathlib import Path

from unisono.inventory.describe import describe
from unisono.launch.process import run
from unisono.library.recorder import recorder
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpirun", help="of the MPI to use")
    parser.add_argument("--nodes", type=int, default=2)
    parser.add_argument("--ppn", type=int, default=2)
    parser.add_argument("--rate", default="1gbit", help="of a node's link")
    parser.add_argument("--launches", type=int, default=5, help="of each algorithm and size")
    parser.add_argument("--rounds", type=int, default=11, help="in a launch")
    parser.add_argument("--only", action="append", help="one algorithm; may be repeated")
    parser.add_argument("--sizes", default="4096,65536,1048576")
    given = parser.parse_args()
    mpi = describe(given.mpirun).mpi
    if mpi is None or mpi.mpicc is None:
        raise SystemExit("no MPI with an mpicc was found")
    rows = []
    print(f"{'algorithm':>30} {'bytes':>8} {'MPI, us':>9} {'named, us':>9} {'ratio':>6} {'least':>6} {'most':>6}")
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        program, rules = Path(folder) / "persistent_nodes", Path(folder) / "rules"
        subprocess.run([mpi.mpicc, "-O2", str(SOURCE), "-o", str(program)], timeout=120, check=True)
        cluster = stack.enter_context(VirtualCluster(given.nodes, (given.rate, "20ms")))
        hosts = ",".join(f"{host}:{given.ppn}" for host in cluster.hosts)
        env = {**os.environ, **cluster.env, "LD_PRELOAD": str(recorder(mpi.mpicc)), "UNISONO_RULES": str(rules)}
        root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
        names = [f"{kind}/{name}" for kind, words in ALGORITHMS.items() for name in words]
        for kind, name in (word.split("/") for word in given.only or names):
            for size in map(int, given.sizes.split(",")):
                rules.write_text(f"unisono-rules 1\n{kind} * * {size} {size} libnbc/{name}\n")
                line = [str(mpi.mpirun), *root, "--mca", "btl", "^ofi", "--host", hosts, "--bind-to", "none"]
                line += ["-x", "LD_PRELOAD", "-x", "UNISONO_RULES", "-n", str(given.nodes * given.ppn)]
                line += [str(program), str(KINDS.index(kind)), str(size), str(given.rounds)]
                launches: list[list[tuple[float, float]]] = []
                for _ in range(given.launches):
                    done = run(cluster.wrap(line), env, deadline=120)
                    if done.exit_code:
                        raise SystemExit(f"the program did not run: {done.stderr.strip()[-300:]}")
                    words = (one.split() for one in done.stdout.splitlines())
                    launches.append([(float(w[3]), float(w[2])) for w in words if len(w) == FIELDS])
                plain, named = (1e6 * statistics.median(r[i] for one in launches for r in one) for i in (0, 1))
                ratios = sorted(statistics.median(r[0] / r[1] for r in one) for one in launches)
                ratio = statistics.median(ratios)
                rows.append({"algorithm": f"{kind}/{name}", "bytes": size, "mpi_us": plain, "named_us": named,
                             "ratios": ratios})  # fmt: skip
                print(f"{kind + '/' + name:>30} {size:>8} {plain:>9.1f} {named:>9.1f} {ratio:>6.2f} "
                      f"{ratios[0]:>6.2f} {ratios[-1]:>6.2f}", flush=True)  # fmt: skip
    conditions = {"mpi": f"{mpi.family} {mpi.version}", "nodes": given.nodes, "ppn": given.ppn, "rate": given.rate,
                  "launches": given.launches, "rounds": given.rounds,
                  "load": [round(value, 1) for value in os.getloadavg()]}  # fmt: skip
    print(json.dumps({"rows": rows, "conditions": conditions}))


if __name__ == "__main__":
    main()
