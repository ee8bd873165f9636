"""Our collectives on one node against every way other MPI libraries have, message size by message size.

    python benchmarks/collectives_one_node.py                          about ten minutes
    python benchmarks/collectives_one_node.py --mpich VENV/bin/mpiexec --intel VENV/bin/mpiexec --ranks 2 --rounds 3
    python benchmarks/collectives_one_node.py --keep times.jsonl --minutes 2       again and again until it is complete
    python benchmarks/collectives_one_node.py --keep times.jsonl --markdown        the tables of docs/collectives.md

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
collectives of four sizes are measured.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from one_node_peers import MODEL, Peer, open_mpi, other
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
from unisono.measure.limits import floor
from unisono.measure.protocol import Limits
from unisono.measure.session import Session
from unisono.parameters.spelling import call_words

COLLECTIVES = ("bcast", "allreduce", "alltoall", "allgather", "alltoallv", "allgatherv")
SIZES = (8, 64, 512, 4096, 32768, 262144, 2097152, 4194304, 8388608)
CROWDED_COLLECTIVES, CROWDED_SIZES = COLLECTIVES[:4], (8, 4096, 65536, 1048576)
"""Where ranks share CPUs, unless others are asked for."""
SECONDS = 0.004
CROWDED_SECONDS = 0.02
"""Where ranks share CPUs: calls take longer, and the system moves ranks from one CPU to the other."""
COMPONENTS = ("tuned", "sm", "han", "adapt", "basic", "libnbc")
AS_IS = ("Open MPI ob1/", "Open MPI UCX/")
"""Open MPI with none of its components or algorithms asked for."""
UNUSUAL = 1.8
"""A state so many times as slow as the usual one is another (unisono.measure.steady)."""
TRIES = 3
"""How often what was measured in another state is measured again, in a round."""


@dataclass(frozen=True)
class Launch:
    times: dict[int, dict[str, float]]
    """Size -> who, "" for what serves by itself -> seconds. Ours begin with "unisono/"."""
    states: dict[int, float]
    """Size -> the machine's state (unisono.measure.steady), the worse of before and after; 0: unknown."""
    limits: Limits | None


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


class Kept:
    """What was measured, launch by launch: a file that later runs go on from, or only this run's memory."""

    def __init__(self, file: Path | None) -> None:
        self.file = file
        self.launches: list[tuple[tuple[int, str, str], Launch]] = []
        for line in file.read_text().splitlines() if file and file.exists() else []:
            one = json.loads(line)
            times = {int(size): by_who for size, by_who in one["times"].items()}
            states = {int(size): state for size, state in one["states"].items()}
            limits = one["limits"] and Limits.model_validate(one["limits"], strict=False)
            self.launches.append(((one["turn"], one["collective"], one["peer"]), Launch(times, states, limits)))

    def add(self, turn: int, collective: str, peer: str, launch: Launch) -> None:
        self.launches.append(((turn, collective, peer), launch))
        if self.file:
            limits = launch.limits and launch.limits.model_dump()
            one = {"turn": turn, "collective": collective, "peer": peer, "times": launch.times}
            with self.file.open("a") as file:
                file.write(json.dumps({**one, "states": launch.states, "limits": limits}) + "\n")

    def usual(self, state: float) -> bool:
        """Whether a state is the machine's usual one: that of the better half, of all launches so far."""
        seen = sorted(state for _, launch in self.launches for state in launch.states.values())
        return not seen or state <= UNUSUAL * seen[len(seen) // 4]

    def missing(self, turn: int, collective: str, peer: str, sizes: Iterable[int]) -> list[int]:
        """Of these sizes what was not yet measured in the usual state."""
        states = [launch.states for key, launch in self.launches if key == (turn, collective, peer)]
        return [size for size in sizes if not any(size in of and self.usual(of[size]) for of in states)]

    def times(self, collective: str, size: int) -> dict[str, list[float]]:
        """Seconds of each round, by "PEER/WHAT", where they were measured in the usual state; else in whatever was."""
        usual: dict[str, list[float]] = defaultdict(list)
        others: dict[str, list[float]] = defaultdict(list)
        for (_, of, peer), launch in self.launches:
            found = usual if self.usual(launch.states.get(size, 0.0)) else others
            for who, seconds in launch.times.get(size, {}).items() if of == collective else ():
                found[f"{peer}/{who}"].append(seconds)
        return {**others, **usual}

    def limits(self, collective: str | None = None) -> list[Limits]:
        """What launches in the usual state found of the machine itself."""
        return [
            launch.limits
            for (_, of, _), launch in self.launches
            if of == (collective or of)
            and launch.limits
            and launch.limits.flags_ns
            and all(map(self.usual, [launch.limits.flags_ns, *launch.states.values()]))
        ]

    def bound(self, collective: str, ranks: int, size: int) -> float | None:
        """The middle of the bounds that the launches of a collective found."""
        bounds = [bound for limits in self.limits(collective) if (bound := floor(limits, collective, 1, ranks, size))]
        return statistics.median(bounds) if bounds else None

    def copy_rates(self) -> dict[int, float]:
        """Bytes -> 1e9 bytes a second, all copying at once."""
        found: dict[int, list[float]] = defaultdict(list)
        for limits in self.limits():
            for rate in limits.copy_rates:
                found[rate.bytes].append(rate.gbps_all)
        return {size: statistics.median(rates) for size, rates in found.items()}


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


def best(middle: dict[str, float], *, ours: bool, choosing: bool) -> tuple[float, str] | None:
    """The quickest of ours, or of all else, in the launches that choose or in the others."""
    found = [
        (seconds, who)
        for who, seconds in middle.items()
        if ("/unisono/" in who) == ours and who.startswith(MODEL) == choosing
    ]
    return min(found, default=None)


def rows(kept: Kept, given: argparse.Namespace) -> Iterator[Row]:
    for collective in given.collective:
        for size in given.size:
            middle = {who: statistics.median(values) for who, values in kept.times(collective, size).items()}
            mine, rival = best(middle, ours=True, choosing=False), best(middle, ours=False, choosing=False)
            chosen, beside = best(middle, ours=False, choosing=True), best(middle, ours=True, choosing=True)
            if mine is None or rival is None:
                continue
            bound = kept.bound(collective, given.ranks, size)
            as_is = min((middle[who] for who in AS_IS if who in middle), default=None)
            yield {
                "collective": collective,
                "size": size,
                "best": mine[1].split("/unisono/")[1],
                "ours_us": mine[0] * 1e6,
                "chosen_us": chosen[0] * 1e6 if chosen else None,
                "rival": rival[1].replace("/", " ", 1).strip(),
                "rival_us": rival[0] * 1e6,
                "ratio": rival[0] / mine[0],
                "chosen_ratio": rival[0] / chosen[0] if chosen else None,
                "as_is_ratio": as_is / mine[0] if as_is else None,
                "as_is_chosen_ratio": as_is / chosen[0] if as_is and chosen else None,
                "choice_of_best": beside[0] / chosen[0] if chosen and beside else None,
                "beside": beside[1].split("/unisono/")[1] if beside else None,
                "of_limit": bound / mine[0] if bound else None,
                "rival_of_limit": bound / rival[0] if bound else None,
                "all_us": {who: seconds * 1e6 for who, seconds in middle.items()},
            }


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
    parser.add_argument("--collective", action="append", choices=COLLECTIVES)
    parser.add_argument("--size", action="append", type=int, metavar="BYTES")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="append every launch, and measure only what it lacks")
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin no launch after so long")
    parser.add_argument("--markdown", action="store_true", help="print what docs/collectives.md has of it")
    given = parser.parse_args()
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
    kept = Kept(given.keep)
    complete = rounds(given, machine, peers, kept)
    made = list(rows(kept, given))
    if not made:
        sys.exit("nothing was measured")
    if given.markdown:
        print(markdown(made, kept.copy_rates(), crowded=crowded))
        return 0
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
