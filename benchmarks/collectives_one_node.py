"""Our collectives on one node against every way other MPI libraries have, message size by message size.

    python benchmarks/collectives_one_node.py                          about ten minutes
    python benchmarks/collectives_one_node.py --mpich VENV/bin/mpiexec --intel VENV/bin/mpiexec --ranks 2 --rounds 3
    python benchmarks/collectives_one_node.py --keep times.jsonl --minutes 2       again and again until it is complete
    python benchmarks/collectives_one_node.py --keep times.jsonl --markdown        print it, and measure nothing

unisono-bench measures everything, with its own synchronisation and completion times (docs/how-unisono-measures.md).
A round launches for every collective, in turn: Open MPI over ob1 and over UCX, with our library in the ranks, each of
our algorithms, each component and each of coll/tuned's algorithms in one launch; the same two with our library choosing
by its cost model (no rule was made for it) beside each of our algorithms; MPICH and Intel MPI as they are, where given.
(Intel MPI runs the program MPICH built: their binaries are interchangeable, and its wheel cannot link without a Fortran
library.) A host may move the machine's processors, and then everything takes several times as long: what was not
measured in the usual state is measured again. Prints, a size: our best algorithm, our own choice, the best peer, best
peer / ours, best peer / choice, best of ours / choice (in the launches of the choice), and how far we are from the
physical limit. Medians over rounds; ours, the choice and every peer each by the quicker of ob1 and UCX. The last line
is JSON. With more ranks than CPUs they are bound, as many to a core or (--uneven) three of four to the first, and four
collectives of four sizes are measured. With --markdown it prints the tables of docs/how-fast-our-collectives-are.md;
its charts are benchmarks/collectives_charts.py's.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from one_node_kept import Kept, Launch, rows
from one_node_peers import Peer, open_mpi, other
from one_node_tables import Row, markdown, mean, number
from rich.console import Console
from rich.table import Table

from unisono.cmdline.command import command
from unisono.core.errors import LaunchError, UserError
from unisono.core.sizes import format_size
from unisono.core.vocabulary import Setting
from unisono.inventory.describe import describe
from unisono.library.native import bench_program
from unisono.machine.description import Machine
from unisono.measure.session import Session
from unisono.parameters.spelling import call_words

COLLECTIVES = ("bcast", "allreduce", "alltoall", "allgather", "alltoallv", "allgatherv")
OTHERS = ("reduce", "reduce_scatter", "scan", "gather", "gatherv", "scatter", "scatterv", "alltoallw")
"""Measured where they are asked for: by their names, or all of them by --others."""
SIZES = (8, 64, 512, 4096, 32768, 262144, 2097152, 4194304, 8388608)
CROWDED_COLLECTIVES, CROWDED_SIZES = COLLECTIVES[:4], (8, 4096, 65536, 1048576)
"""Where ranks share CPUs, unless others are asked for."""
SECONDS = 0.004
CROWDED_SECONDS = 0.02
"""Where ranks share CPUs: calls take longer, and the system moves ranks from one CPU to the other."""
COMPONENTS = ("tuned", "sm", "han", "adapt", "basic", "libnbc")
TRIES = 3
"""How often what was measured in another state is measured again, in a round."""


def settings_of(session: Session, machine: Machine, peer: Peer, collective: str, ranks: int) -> dict[str, int]:
    """Who -> the id of its setting, of all that this launch can be switched to for a collective."""
    assert machine.mpi is not None
    ids = {"": 0}
    without = {"ignore"} if ranks == 2 else {"ignore", "two_proc"}  # which aborts elsewhere
    tuned = [
        {"coll": "tuned", "algorithm": name}
        for name in machine.mpi.algorithms.get(collective, {})
        if name not in without
    ]
    components = [{"coll": name} for name in COMPONENTS if name in machine.mpi.components.get("coll", [])]
    for call in [*components, *tuned] if peer.peers else []:
        words = call_words(Setting(call), collective, machine)
        if not (words.prefer or words.variables):
            continue  # this Open MPI cannot switch components call by call
        with contextlib.suppress(ValueError):  # this component or algorithm cannot serve it
            ids["/".join(call.values())] = session.define(words.prefer, words.variables)
    for one in session.algorithms() if peer.ours else []:
        if one.collective == collective:
            with contextlib.suppress(ValueError):
                ids[f"unisono/{one.name}"] = session.define(use=f"{collective}:unisono/{one.name}")
    return ids


def state_of(machine: Machine) -> float:
    """By a launch of its own with a rank a CPU, which more ranks cannot find."""
    assert machine.mpi is not None
    line = command(machine, Setting({"pml": "ob1"}), 1, len(machine.cpus), [str(bench_program(machine.mpi.mpicc))])
    with Session(line.argv, line.env) as session:
        return session.state() or 0.0


def measure(peer: Peer, machine: Machine, collective: str, sizes: Iterable[int], ranks: int) -> Launch:
    """One launch."""
    times: dict[int, dict[str, float]] = {}
    states: dict[int, float] = {}
    crowded = ranks > len(machine.cpus)
    seconds = CROWDED_SECONDS if crowded else SECONDS
    around = state_of(machine) if crowded else 0.0
    with Session(peer.line.argv, peer.line.env) as session:
        limits = session.limits() if peer.peers else None
        ids = settings_of(session, machine, peer, collective, ranks)
        session.warm_up(collective, sizes)
        for size in sizes:
            before = session.state() or 0.0
            timings = session.measure(collective, size, list(ids.values()), seconds=seconds, deadline=120)
            states[size] = max(before, session.state() or 0.0)
            for who, timing in zip(ids, timings, strict=True):
                if timing.refused is not None:
                    continue
                if timing.correct is False:
                    raise UserError(f"{who or peer.name}: wrong result of {collective} at {size} bytes")
                times.setdefault(size, {})[who] = timing.median
    if crowded:
        states = dict.fromkeys(states, max(around, state_of(machine)))
    return Launch(times, states, limits)


def rounds(given: argparse.Namespace, machine: Machine, peers: list[Peer], kept: Kept) -> bool:
    """Measures what is missing; False when the time was over before."""
    end = time.monotonic() + 60 * given.minutes
    for turn in [turn for turn in range(given.rounds) for _ in range(TRIES)]:
        first = turn % len(peers)
        for collective in given.collective:
            for peer in peers[first:] + peers[:first]:
                missing = kept.missing(turn, collective, peer.name, given.size)
                if not missing:
                    continue
                if time.monotonic() > end:
                    return False
                try:
                    kept.add(turn, collective, peer.name, measure(peer, machine, collective, missing, given.ranks))
                except LaunchError as error:
                    sys.stderr.write(f"{peer.name}: {error}\n")
    return True


def show(console: Console, made: list[Row]) -> None:
    table = Table(
        "collective",
        "size",
        "best of ours",
        "us",
        "choice",
        "best peer",
        "us",
        "ratio",
        "ratio of choice",
        "best/choice",
        "",
        "limit",
    )
    for row in made:
        table.add_row(
            str(row["collective"]),
            format_size(int(str(row["size"]))),
            str(row["best"]),
            *(_number(row[name]) for name in ("ours_us", "chosen_us")),
            str(row["rival"]),
            *(_number(row[name]) for name in ("rival_us", "ratio", "chosen_ratio", "choice_of_best")),
            str(row["beside"]),
            f"{float(str(row['of_limit'])):.0%}" if row["of_limit"] else "-",
        )
    console.print(table)


def _number(value: object) -> str:
    return "-" if value is None else f"{float(str(value)):.2f}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpirun", help="of Open MPI 5")
    parser.add_argument("--mpich", metavar="MPIEXEC", help="of an MPICH, with its mpicc beside it")
    parser.add_argument("--intel", metavar="MPIEXEC", help="of an Intel MPI; takes --mpich too")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--uneven", action="store_true", help="more ranks than CPUs, three of four on the first CPU")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--collective", action="append", choices=COLLECTIVES + OTHERS)
    parser.add_argument("--others", action="store_const", dest="collective", const=OTHERS, help="all but the usual six")
    parser.add_argument("--size", action="append", type=int, metavar="BYTES")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="append every launch, and measure only what it lacks")
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin no launch after so long")
    parser.add_argument(
        "--markdown", action="store_true", help="print the tables of what --keep has of it, and measure nothing"
    )
    given = parser.parse_args()
    kept = Kept(given.keep)
    if given.markdown:
        collectives = given.collective or [name for name in COLLECTIVES if name in kept.collectives]
        found = list(rows(kept, collectives, given.size or kept.sizes, given.ranks))
        print(markdown(found, kept.copy_rates()) if found else "nothing was measured")
        return 0 if found else 2
    machine = describe(given.mpirun)
    crowded = given.ranks > len(machine.cpus)
    given.collective = given.collective or list(CROWDED_COLLECTIVES if crowded else COLLECTIVES)
    given.size = given.size or list(CROWDED_SIZES if crowded else SIZES)
    if given.uneven and (not crowded or given.ranks % 4):
        parser.error(f"--uneven takes a multiple of four ranks, more than the {len(machine.cpus)} CPUs here")
    if given.uneven and (given.mpich or given.intel):
        parser.error("--uneven compares with Open MPI alone")
    peers = open_mpi(machine, given.ranks, uneven=given.uneven)
    peers += [other("MPICH", given.mpich, given.mpich, given.ranks, crowded)] if given.mpich else []
    peers += [other("Intel MPI", given.intel, given.mpich, given.ranks, crowded)] if given.intel and given.mpich else []
    complete = rounds(given, machine, peers, kept)
    made = list(rows(kept, given.collective, given.size, given.ranks))
    if not made:
        sys.exit("nothing was measured")
    show(Console(width=150), made)
    ratios = [number(row, "ratio") for row in made]
    chosen = [number(row, "chosen_ratio") for row in made if row["chosen_ratio"]]
    assert machine.mpi is not None
    document = {
        "complete": complete,
        "geometric_mean": mean(ratios),
        "least": min(filter(None, ratios), default=None),
        "choice_geometric_mean": mean(chosen),
        "choice_least": min(filter(None, chosen), default=None),
        "rows": made,
        "conditions": {
            "machine": f"{machine.cpu_model}, {machine.cores} cores",
            "mpi": f"{machine.mpi.family} {machine.mpi.version}",
            "peers": [peer.name for peer in peers],
            "ranks": given.ranks,
            "oversubscribed": crowded,
            "uneven": given.uneven,
            "rounds": given.rounds,
            "load": [round(value, 1) for value in os.getloadavg()],
        },
    }
    print(json.dumps(document))
    return 0


if __name__ == "__main__":
    sys.exit(main())
