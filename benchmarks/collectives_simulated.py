"""Our collectives on machines that SimGrid simulates, against its own; an FX10 of 384 nodes x 16 as in Fujitsu (2014).

    python benchmarks/collectives_simulated.py                  about 25 minutes on two cores
    python benchmarks/collectives_simulated.py --part peers     one part: peers, fx10, alltoall
    python benchmarks/collectives_simulated.py --picture FILE.svg [--add OUTPUT]...   with what earlier runs printed

Three kinds of numbers, never mixed in one column. *Simulated*: our C sources under SMPI, against every selector that
SimGrid has (ompi, mpich, mvapich2, impi), on a 64-node torus and fat tree, and old forms (one process a node) against
new ones on the FX10. *Counted*: exact bytes on every link for alltoall over the torus, as a share of what its middle
must carry. *Modelled*: the time of an alltoall of 6,144 processes from those loads step by step and an assumed cost of
a message, since 37.7 million messages are out of reach here. The FX10's numbers are printed with their sources.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import geometric_mean

from rich.console import Console
from rich.table import Table

from unisono.core.errors import LaunchError
from unisono.core.sizes import format_size
from unisono.simulate.bounds import Carried, dimensions_carried, rank_order_carried, spread_carried
from unisono.simulate.files import platform as read_platform
from unisono.simulate.picture import Chart, draw
from unisono.simulate.platforms import Platform
from unisono.simulate.run import Run

FX10, FAT_TREE = read_platform("fx10"), read_platform("fat-tree")
SELECTORS = ("ompi", "mpich", "mvapich2", "impi")
PEER_SIZES = {
    "bcast": (8, 8192, 262144, 4 << 20),
    "allreduce": (8, 8192, 262144, 4 << 20),
    "allgather": (8, 1024, 32768),
    "alltoall": (8, 1024, 32768),
}
PEER_MACHINES = {"torus 4x4x4": FX10.resized((4, 4, 4)), "fat tree of 64": FAT_TREE}

LONG, SHORT = (8, 1024, 16384, 65536, 262144), (8, 64, 256, 1024)
# Collective, algorithm, sizes, and what it is called in the picture.
FX10_CASES = (
    ("bcast", "smpi", (*LONG, 1 << 20), "before: binomial tree over all"),
    ("bcast", "links", (*LONG, 1 << 20), "new: 6 trees, six processes drive"),
    ("bcast", "links_single", (*LONG, 1 << 20), "old: 6 trees, one process drives"),
    ("bcast", "tree3d", LONG, "new: 3D tree"),
    ("allreduce", "smpi", LONG, "before: binomial over all"),
    ("allreduce", "links", LONG, "new: reduce + bcast, all drive"),
    ("allreduce", "links_single", LONG, "old: reduce + bcast, one drives"),
    ("allreduce", "tree3d", LONG[:4], "new: 3D tree up and down"),
    ("allreduce", "lanes_halving", LONG, "ours for any network: lanes, halving"),
    ("allgather", "smpi", SHORT, "before: gather + bcast over all"),
    ("allgather", "gather_bcast", SHORT, "new: gather + bcast (6 trees)"),
    ("allgather", "gather_tree3d", SHORT[:3], "new: gather + bcast (3D tree)"),
    ("allgatherv", "smpi", SHORT, "before: gatherv + bcast over all"),
    ("allgatherv", "gather_bcast", SHORT, "new: gatherv + bcast (6 trees)"),
)
PPN = 16
MESSAGE = 0.5e-6
"""Seconds a process needs to start a message: assumed."""
MODEL_SIZES = tuple(1 << power for power in range(2, 19, 2))

Times = dict[tuple[str, str, int], float]


def simulated(run: Run, deadline: float) -> Times:
    """By collective, algorithm, size; nothing when it is out of reach."""
    try:
        results = run.results(deadline)
    except LaunchError as error:
        print(
            f"  {run.platform.name} {run.platform.nodes} x {run.ppn} {run.collective} {run.algorithms}: {error.reason}"
        )
        return {}
    return {(r.collective, r.algorithm, r.size): r.outcome for r in results if isinstance(r.outcome, float)}


def peers(deadline: float) -> dict[str, float]:
    """Ours against all selectors; geometric means of (best of SimGrid / best of ours) by machine and collective.

    Copies and combining cost nothing in this table, since SimGrid charges its own algorithms nothing for theirs.
    """
    table = Table(
        title="Simulated, 64 nodes x 1: best of ours against the best of four selectors", title_justify="left"
    )
    for name in ("machine", "collective", "size", "ours", "us", "SimGrid", "us", "ratio"):
        table.add_column(name, justify="right" if name in ("us", "size", "ratio") else "left")
    means: dict[str, float] = {}
    for machine, platform in PEER_MACHINES.items():
        for collective, sizes in PEER_SIZES.items():
            ours = simulated(Run(platform, 1, collective, ["all"], sizes, free_copies=True), deadline)
            theirs = {
                selector: simulated(Run(platform, 1, collective, ["smpi"], sizes, selector=selector), deadline)
                for selector in SELECTORS
            }
            ratios = []
            for size in sizes:
                mine = min(((t, a) for (_, a, s), t in ours.items() if s == size), default=None)
                other = min(
                    ((found[key], name) for name, found in theirs.items() for key in found if key[2] == size),
                    default=None,
                )
                if mine is None or other is None:
                    continue
                ratios.append(other[0] / mine[0])
                row = (mine[1], f"{mine[0] * 1e6:.1f}", other[1], f"{other[0] * 1e6:.1f}", f"{ratios[-1]:.2f}")
                table.add_row(machine, collective, format_size(size), *row)
            if ratios:
                means[f"{machine} {collective}"] = round(geometric_mean(ratios), 3)
    Console(width=110).print(table)
    return means


def fx10(deadline: float) -> Times:
    """Old against new at 6,144 processes, two simulations at a time. Copies and combining of ours take their time;
    those of the binomial trees, which are SimGrid's, nothing."""

    def one(case: tuple[str, str, tuple[int, ...], str]) -> Times:
        collective, algorithm, sizes, _ = case
        options = {"allgather": "GB", "allgatherv": "GB"} if algorithm == "smpi" else None
        options = {**(options or {}), "allreduce": "redbcast", "bcast": "binomial_tree"}
        return simulated(Run(FX10, PPN, collective, [algorithm], sizes, smpi=options), deadline)

    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(one, FX10_CASES))
    table = Table(title="Simulated, FX10 8x8x6 x 16 = 6,144 processes (us)", title_justify="left")
    table.add_column("collective")
    table.add_column("algorithm")
    sizes = sorted({size for _, _, sizes, _ in FX10_CASES for size in sizes})
    for size in sizes:
        table.add_column(format_size(size), justify="right")
    for (collective, algorithm, _, name), times in zip(FX10_CASES, found, strict=True):
        cells = [times.get((collective, algorithm, size)) for size in sizes]
        table.add_row(collective, name, *("" if t is None else f"{t * 1e6:.1f}" for t in cells))
    Console(width=150).print(table)
    return {key: time for times in found for key, time in times.items()}


def in_steps(carried: Carried, size: int, messages: int, blocks: int) -> float:
    """Modelled: a step sends `blocks` blocks of `size` bytes for each of `carried`, a process `messages` messages."""
    bandwidth = FX10.bandwidth.value
    return sum(max(messages * MESSAGE, blocks * size * load / bandwidth) for load in carried.by_step)


def alltoall(platform: Platform = FX10) -> tuple[dict[str, dict[int, float]], dict[str, float]]:
    """Modelled times of 6,144 processes by algorithm and size; counted shares of the bisection bound."""
    extents = platform.extents
    old = rank_order_carried(extents)
    simple = {ahead: spread_carried("simple", extents, ahead) for ahead in (1, PPN)}
    double = spread_carried("double", extents, 8)
    balanced = {ahead: spread_carried("balanced", extents, ahead) for ahead in (1, 24, 2 * PPN)}
    rings = dimensions_carried(extents, PPN)
    shares = {
        "rank order, links never waiting": old.share,
        "rank order, step by step": old.share_in_step,
        "simple spread, links never waiting": simple[1].share,
        "simple spread, all processes at one offset, step by step": simple[1].share_in_step,
        "simple spread, 16 processes at 16 offsets, step by step": simple[PPN].share_in_step,
        "double spread, 4 processes with 2 each, step by step": double.share_in_step,
        "balanced node spread, links never waiting": balanced[1].share,
        "balanced node spread, 1 process with 24 under way, step by step": balanced[24].share_in_step,
        "balanced node spread, 16 processes with 2 each, step by step": balanced[2 * PPN].share_in_step,
        "dimension by dimension, links never waiting": rings.share,
        "dimension by dimension, 16 processes beginning with three, phase by phase": rings.share_in_step,
    }
    table = Table(title="Counted, 8x8x6: share of the torus bisection bound (alltoall)", title_justify="left")
    table.add_column("order")
    table.add_column("share", justify="right")
    for name, share in shares.items():
        table.add_row(name, f"{share:.1%}")
    Console(width=110).print(table)
    curves: dict[str, dict[int, float]] = {
        "old: rank order": {m: PPN * in_steps(old, m, 1, PPN) for m in MODEL_SIZES},
        "new: simple spread (5-16 a node)": {m: PPN**2 * in_steps(simple[PPN], m, 1, 1) for m in MODEL_SIZES},
        "ours: node spread, balanced": {m: _node_spread(balanced[2 * PPN], m) for m in MODEL_SIZES},
        "ours: dimension by dimension": {m: _dimensions(rings, m) for m in MODEL_SIZES},
        "bisection bound": {m: PPN**2 * m * old.ideal / platform.bandwidth.value for m in MODEL_SIZES},
    }
    return curves, {name: round(share, 4) for name, share in shares.items()}


def _copied(size: int, times: int) -> float:
    """Every process copies all it has so often."""
    return times * PPN * FX10.nodes * size / FX10.copy.value


def _node_spread(carried: Carried, size: int) -> float:
    """With the phases on the node: sorted three times, and written and read by sixteen. In a step, which is 32 offsets,
    every process sends to each of them."""
    return in_steps(carried, size, 2 * PPN, PPN**2) + _copied(size, 5)


def _dimensions(carried: Carried, size: int) -> float:
    """The same, sorted once more for each dimension and at the end; at most six messages in each phase."""
    return in_steps(carried, size, 6, PPN**2) + _copied(size, 5 + len(FX10.extents) + 1)


def check_model(deadline: float) -> float | None:
    """Simulated over modelled time of the balanced node spread on 6x6x6, one process a node, 64 KiB; without copies."""
    platform = FX10.resized((6, 6, 6))
    times = simulated(Run(platform, 1, "alltoall", ["node_spread"], [65536], free_copies=True), deadline)
    found = times.get(("alltoall", "node_spread", 65536))
    carried = spread_carried("balanced", platform.extents, 24)
    return None if found is None else found / (sum(carried.by_step) * 65536 / platform.bandwidth.value)


def earlier(path: Path) -> Times:
    """What an earlier run said in its last line."""
    found: dict[str, float] = json.loads(path.read_text().splitlines()[-1]).get("fx10_us", {})
    keys = {key: key.split() for key in found}
    return {(words[0], words[1], int(words[2])): found[key] / 1e6 for key, words in keys.items()}


def draw_picture(path: Path, times: Times, model: dict[str, dict[int, float]]) -> None:
    def of(collective: str) -> dict[str, dict[int, float]]:
        chart: dict[str, dict[int, float]] = {}
        for name, algorithm, sizes, label in FX10_CASES:
            curve = {size: times[name, algorithm, size] for size in sizes if (name, algorithm, size) in times}
            if name == collective and curve:
                chart[label] = curve
        return chart

    counted = "modelled from exact link loads, 0.5 us a message assumed"
    charts = [
        Chart("Alltoall, 6,144 processes (figure 4-1)", counted, model),
        Chart("Allgather, 6,144 processes (figure 4-2)", "simulated: our sources under SimGrid", of("allgather")),
        Chart(
            "Alltoallv of equal sizes (figure 4-3)",
            counted,
            {k: v for k, v in model.items() if not k.startswith("ours")},
        ),
        Chart("Allgatherv of equal sizes (figure 4-4)", "simulated: our sources under SimGrid", of("allgatherv")),
        Chart("Bcast, 6,144 processes", "simulated: our sources under SimGrid", of("bcast")),
        Chart("Allreduce, 6,144 processes", "simulated: our sources under SimGrid", of("allreduce")),
    ]
    path.write_text(draw([chart for chart in charts if chart.curves]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=("peers", "fx10", "alltoall"), action="append")
    parser.add_argument("--picture", type=Path, metavar="FILE.svg")
    parser.add_argument(
        "--add", type=Path, metavar="OUTPUT", action="append", default=[], help="an earlier run's output"
    )
    parser.add_argument("--deadline", type=float, default=300.0, metavar="S", help="for each simulation")
    arguments = parser.parse_args()
    parts: Sequence[str] = arguments.part or (() if arguments.add else ("alltoall", "fx10", "peers"))
    print("FX10:", *(f"{name} {number.value:g} ({number.source})" for name, number in FX10.numbers.items()), sep="\n  ")
    model, shares = alltoall()
    answer: dict[str, object] = {"bisection_share": shares}
    times: Times = {}
    if "alltoall" in parts:
        answer["simulated_over_modelled_6x6x6"] = check_model(arguments.deadline)
    if "fx10" in parts:
        times = fx10(arguments.deadline)
        answer["fx10_us"] = {" ".join(map(str, key)): round(time * 1e6, 2) for key, time in times.items()}
    if "peers" in parts:
        answer["best_of_simgrid_over_ours"] = peers(arguments.deadline)
    for path in arguments.add:
        times = {**earlier(path), **times}
    if arguments.picture:
        draw_picture(arguments.picture, times, model)
    assumed = sorted(name for name, number in FX10.numbers.items() if number.assumed)
    answer["conditions"] = {"simulator": "SimGrid/SMPI, model CM02", "fx10_assumed": [*assumed, "seconds a message"]}
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
