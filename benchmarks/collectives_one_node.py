"""Our collectives on one node against every way other MPI libraries have, message size by message size.

    python benchmarks/collectives_one_node.py                          about five minutes
    python benchmarks/collectives_one_node.py --mpich VENV/bin/mpiexec --intel VENV/bin/mpiexec --ranks 2 --rounds 5

unisono-bench measures everything, with its own synchronisation and completion times (docs/how-unisono-measures.md).
A round launches, in turn: Open MPI over ob1 and over UCX, with our library in the ranks, each of our algorithms, each
component and each of coll/tuned's algorithms in one launch; the same once more with our library choosing by its cost
model (no rule was made for it); MPICH and Intel MPI as they are, where given. (Intel MPI runs the program MPICH built:
their binaries are interchangeable, and its wheel cannot link without a Fortran library.) Prints, a size: our best
algorithm, our own choice, the best of each peer, best peer / ours, and how far we are from the physical limit. Medians
over rounds. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import sys
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console
from rich.table import Table

from unisono.errors import LaunchError, UserError
from unisono.launch.command import Command, command
from unisono.machine.describe import describe
from unisono.machine.model import Machine
from unisono.measure.build import bench_program
from unisono.measure.limits import floor
from unisono.measure.protocol import Limits
from unisono.measure.session import Session
from unisono.model import Setting
from unisono.parameters.spelling import call_words, sweep_words
from unisono.profile.build import recorder
from unisono.sizes import format_size
from unisono.study.ours import preloaded

COLLECTIVES = ("bcast", "allreduce", "alltoall", "allgather", "alltoallv", "allgatherv")
SIZES = (8, 64, 512, 4096, 32768, 262144, 2097152, 8388608)
SECONDS = 0.004
COMPONENTS = ("tuned", "sm", "han", "adapt", "basic", "libnbc")
MODEL = "our own choice"

Times = dict[tuple[str, int], dict[str, list[float]]]
"""(collective, size) -> who -> seconds of each round. Ours begin with "unisono/"."""


@dataclass(frozen=True)
class Peer:
    name: str
    line: Command
    settings: bool
    """Whether Open MPI's components and algorithms, and ours, are measured inside its launches."""


def open_mpi(machine: Machine, ranks: int) -> list[Peer]:
    """Open MPI over both of its ways to send, our library in the ranks."""
    assert machine.mpi is not None
    program, library = bench_program(machine.mpi.mpicc), recorder(machine.mpi.mpicc)
    crowded = ranks > len(machine.cpus)
    found = []
    for name, setting in (("Open MPI ob1", Setting({"pml": "ob1"})), ("Open MPI UCX", Setting({"pml": "ucx"}))):
        words = sweep_words(machine)
        line = command(machine, setting, 1, ranks, [str(program)], oversubscribe=crowded, extra_mca=words)
        line = preloaded(line, library, machine)
        found.append(Peer(name, line, True))
        if setting["pml"] == "ob1":
            found.append(Peer(MODEL, replace(line, env={**line.env, "UNISONO_COLLECTIVES": "on"}), False))
    return found


def other(name: str, mpiexec: str, mpich: str, ranks: int, crowded: bool) -> Peer:
    """MPICH or Intel MPI by its hydra launcher; the program is what MPICH's mpicc built."""
    program = bench_program(str(Path(mpich).with_name("mpicc")))
    env = {}
    if crowded:  # so that ranks that wait let others work
        env = {"MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1", "I_MPI_WAIT_MODE": "1"}
    if name == "Intel MPI":
        prefix = Path(mpiexec).resolve().parents[1]
        env |= {"I_MPI_ROOT": str(prefix), "LD_LIBRARY_PATH": str(prefix / "lib"), "I_MPI_FABRICS": "shm"}
    return Peer(name, Command([mpiexec, "-n", str(ranks), str(program)], env, None, []), False)


def settings_of(session: Session, machine: Machine, collective: str) -> dict[str, int]:
    """Who -> the id of its setting, of all that this launch can be switched to for a collective."""
    assert machine.mpi is not None
    ids = {"": 0}
    tuned = [
        {"coll": "tuned", "algorithm": name} for name in machine.mpi.algorithms.get(collective, {}) if name != "ignore"
    ]
    components = [{"coll": name} for name in COMPONENTS if name in machine.mpi.components.get("coll", [])]
    for call in [*components, *tuned]:
        words = call_words(Setting(call), collective, machine)
        if not (words.prefer or words.variables):
            continue  # this Open MPI cannot switch components call by call
        try:
            ids["/".join(call.values())] = session.define(words.prefer, words.variables)
        except ValueError:
            continue  # this component or algorithm cannot serve it
    for one in session.algorithms():
        if one.collective == collective:
            use = f"{collective}:unisono/{one.name}"
            try:
                ids[f"unisono/{one.name}"] = session.define(use=use)
            except ValueError:
                continue
    return ids


def measure(peer: Peer, machine: Machine, given: argparse.Namespace, times: Times) -> Limits | None:
    """One launch; the limits it measured, if it is Open MPI's."""
    limits = None
    with Session(peer.line.argv, peer.line.env) as session:
        if peer.settings:
            limits = session.limits()
        for collective in given.collective:
            ids = settings_of(session, machine, collective) if peer.settings else {"": 0}
            session.warm_up(collective, given.size)
            for size in given.size:
                timings = session.measure(collective, size, list(ids.values()), seconds=SECONDS, deadline=120)
                for who, timing in zip(ids, timings, strict=True):
                    if timing.refused is not None:
                        continue
                    if timing.correct is False:
                        raise UserError(f"{who or peer.name}: wrong result of {collective} at {size} bytes")
                    ours = who.startswith("unisono/")  # the best over ob1 or UCX, as of everything else
                    name = f"{who}, {peer.name}" if ours else f"{peer.name} {who}".strip()
                    times[collective, size][name].append(timing.median)
    return limits


def rows(times: Times, peers: list[str], limits: Limits | None, ranks: int) -> list[dict[str, object]]:
    made: list[dict[str, object]] = []
    for (collective, size), by_who in times.items():
        middle = {who: statistics.median(values) for who, values in by_who.items()}
        ours = {who: value for who, value in middle.items() if who.startswith("unisono/")}
        best_of = {
            peer: min((value, who) for who, value in middle.items() if who.startswith(peer))
            for peer in peers
            if peer != MODEL and any(who.startswith(peer) for who in middle)
        }
        if not ours or not best_of:
            continue
        best, rival = min(ours, key=lambda who: ours[who]), min(best_of.values())
        chosen = middle.get(MODEL)
        bound = floor(limits, collective, 1, ranks, size) if limits else None
        made.append(
            {
                "collective": collective,
                "size": size,
                "best": best.removeprefix("unisono/"),
                "ours_us": ours[best] * 1e6,
                "chosen_us": chosen * 1e6 if chosen else None,
                "rival": rival[1],
                "rival_us": rival[0] * 1e6,
                "peers_us": {peer: value * 1e6 for peer, (value, _) in best_of.items()},
                "ratio": rival[0] / ours[best],
                "chosen_ratio": rival[0] / chosen if chosen else None,
                "of_limit": bound / ours[best] if bound else None,
            }
        )
    return made


def show(console: Console, made: list[dict[str, object]]) -> None:
    table = Table(
        "collective", "size", "best of ours", "us", "our choice", "best peer", "us", "ratio", "choice", "limit"
    )
    for row in made:
        table.add_row(
            str(row["collective"]),
            format_size(int(str(row["size"]))),
            str(row["best"]),
            *(_number(row[name]) for name in ("ours_us", "chosen_us")),
            str(row["rival"]),
            *(_number(row[name]) for name in ("rival_us", "ratio", "chosen_ratio")),
            f"{float(str(row['of_limit'])):.0%}" if row["of_limit"] else "-",
        )
    console.print(table)


def _number(value: object) -> str:
    return "-" if value is None else f"{float(str(value)):.2f}"


def mean(values: list[float]) -> float | None:
    return math.exp(statistics.fmean(map(math.log, values))) if values else None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpirun", help="of Open MPI 5")
    parser.add_argument("--mpich", metavar="MPIEXEC", help="of an MPICH, with its mpicc beside it")
    parser.add_argument("--intel", metavar="MPIEXEC", help="of an Intel MPI; takes --mpich too")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--collective", action="append", choices=COLLECTIVES)
    parser.add_argument("--size", action="append", type=int, metavar="BYTES")
    given = parser.parse_args()
    given.collective, given.size = given.collective or list(COLLECTIVES), given.size or list(SIZES)
    machine = describe(given.mpirun)
    crowded = given.ranks > len(machine.cpus)
    peers = open_mpi(machine, given.ranks)
    peers += [other("MPICH", given.mpich, given.mpich, given.ranks, crowded)] if given.mpich else []
    peers += [other("Intel MPI", given.intel, given.mpich, given.ranks, crowded)] if given.intel and given.mpich else []
    times: Times = defaultdict(lambda: defaultdict(list))
    limits = None
    for turn in range(given.rounds):
        first = turn % len(peers)
        for peer in peers[first:] + peers[:first]:
            try:
                limits = measure(peer, machine, given, times) or limits
            except LaunchError as error:
                sys.stderr.write(f"{peer.name}: {error}\n")
    made = rows(times, [peer.name for peer in peers], limits, given.ranks)
    show(Console(width=150), made)
    ratios = [float(str(row["ratio"])) for row in made]
    chosen = [float(str(row["chosen_ratio"])) for row in made if row["chosen_ratio"]]
    assert machine.mpi is not None
    document = {
        "geometric_mean": mean(ratios),
        "least": min(ratios, default=None),
        "choice_geometric_mean": mean(chosen),
        "choice_least": min(chosen, default=None),
        "rows": made,
        "conditions": {
            "machine": f"{machine.cpu_model}, {machine.cores} cores",
            "mpi": f"{machine.mpi.family} {machine.mpi.version}",
            "peers": [peer.name for peer in peers],
            "ranks": given.ranks,
            "oversubscribed": crowded,
            "rounds": given.rounds,
            "load": [round(value, 1) for value in os.getloadavg()],
        },
    }
    print(json.dumps(document))
    return 0


if __name__ == "__main__":
    sys.exit(main())
