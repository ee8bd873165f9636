"""The algorithms for many nodes on simulated machines: against our others, and against Open MPI's and MPICH's choice.

    python benchmarks/algorithms_for_scale.py --keep FILE.jsonl               simulates what the file has not yet
    python benchmarks/algorithms_for_scale.py --keep FILE.jsonl --markdown    prints the tables, simulates nothing

`benchmarks/data/algorithms-for-scale.jsonl` is what docs/algorithms-for-scale.md has. Simulated with SimGrid: our C sources,
and SimGrid's forms of what Open MPI's and MPICH's own rules choose. Copies and combining cost nothing on either side, as
SimGrid charges nothing for those of its own algorithms. Every message takes its sender `START` seconds, which is assumed:
without it many messages at once would look better than they are.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from statistics import geometric_mean

from unisono.errors import LaunchError
from unisono.simulate.files import platform as read_platform
from unisono.simulate.platforms import Number, Platform
from unisono.simulate.run import Run
from unisono.sizes import format_size

START = Number(0.2e-6, "assumed: what an adapter of 100 Gbit/s takes for a short message, roughly")
NEW = {
    "allreduce": ("leader_multiplying", "leader_dividing", "lanes_dividing"),
    "reduce_scatter_block": ("lanes_dividing",),
    "allgather": ("leader_multiplying",),
    "barrier": ("leader_radix",),
}
OLD = {
    "allreduce": ("leader", "leader_halving", "ring", "leader_ring", "swing", "lanes", "lanes_halving", "lanes_ring"),
    "reduce_scatter_block": ("leader", "flat_halving", "lanes", "flat_pairwise"),
    "allgather": ("leader", "flat_doubling", "lanes", "ring", "rings", "gather_bcast", "gather_tree3d"),
    "barrier": ("leader",),
}
SELECTORS = ("ompi", "mpich")
LONG = (8, 1024, 8192, 65536, 524288, 4 << 20)
BLOCKS = (8, 512, 4096, 32768)
SIZES = {"allreduce": LONG, "reduce_scatter_block": BLOCKS, "allgather": BLOCKS, "barrier": (0,)}
FEW = {"allreduce": (8, 1024, 8192), "reduce_scatter_block": (8,), "allgather": (8,), "barrier": (0,)}
"""Of the largest machines: what is simulated in minutes."""
Key = tuple[str, int, int, str]


def cases() -> Iterator[tuple[Platform, int, str, tuple[int, ...]]]:
    for nodes in (64, 96, 97):
        for name in ("fat-tree-tapered", "dragonfly", "torus"):
            if name != "torus" or nodes != 97:  # which would be a ring
                for collective, sizes in SIZES.items():
                    yield _machine(name, nodes), 1, collective, sizes
    for collective, sizes in SIZES.items():
        yield _machine("fat-tree-tapered", 48), 4, collective, sizes
    for nodes in (384, 1000):
        for name in ("fat-tree-tapered", "dragonfly"):
            for collective, sizes in FEW.items():
                yield _machine(name, nodes), 1, collective, sizes


def _machine(name: str, nodes: int) -> Platform:
    return replace(read_platform(name).sized(nodes), start=START)


def simulated(run: Run, deadline: float) -> dict[int, dict[str, float]]:
    """Microseconds by size and algorithm."""
    found: dict[int, dict[str, float]] = {}
    try:
        results = run.results(deadline)
    except LaunchError as error:
        print(f"  {run.platform.name} {run.platform.nodes} x {run.ppn} {run.collective}: {error.reason}")
        return {}
    for result in results:
        if isinstance(result.outcome, float):
            found.setdefault(result.size, {})[result.algorithm] = round(result.outcome * 1e6, 3)
    return found


def one(
    platform: Platform, ppn: int, collective: str, sizes: tuple[int, ...], deadline: float
) -> list[dict[str, object]]:
    names = NEW[collective] + OLD[collective]
    ours = simulated(Run(platform, ppn, collective, names, sizes, free_copies=True), deadline)
    peers = {s: simulated(Run(platform, ppn, collective, ["smpi"], sizes, selector=s), deadline) for s in SELECTORS}
    where = {"machine": platform.name, "nodes": platform.nodes, "ppn": ppn, "collective": collective}
    return [
        {
            **where,
            "size": size,
            "ours": times,
            "peers": {s: found[size]["smpi"] for s, found in peers.items() if size in found},
        }
        for size, times in sorted(ours.items())
    ]


def markdown(rows: list[dict[str, object]]) -> str:
    """A line for each machine, collective and size: the best of the new, of the others, of the peers, and the ratios."""
    lines = ["| machine | collective | size | new | us | others of ours | us | Open MPI's or MPICH's choice | us |"]
    lines[0] += " others / new | peer / new |"
    lines.append("|---|---|---|---|---|---|---|---|---|---|---|")
    won: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for row in rows:
        collective, size = str(row["collective"]), int(str(row["size"]))
        ours: dict[str, float] = row["ours"]  # type: ignore[assignment]
        peers: dict[str, float] = row["peers"]  # type: ignore[assignment]
        new = min(((ours[n], n) for n in NEW[collective] if n in ours), default=None)
        old = min(((ours[n], n) for n in OLD[collective] if n in ours), default=None)
        peer = min(((t, n) for n, t in peers.items()), default=None)
        if new is None or old is None:
            continue
        behind = "" if peer is None else f"{peer[1]} | {peer[0]:.1f} | {old[0] / new[0]:.2f} | {peer[0] / new[0]:.2f}"
        behind = behind or f" | | {old[0] / new[0]:.2f} | "
        machine = f"{row['machine']}, {row['nodes']} x {row['ppn']}"
        what = f"{collective} | {'' if collective == 'barrier' else format_size(size)}"
        lines.append(f"| {machine} | {what} | `{new[1]}` | {new[0]:.1f} | `{old[1]}` | {old[0]:.1f} | {behind} |")
        if new[0] < 0.98 * old[0]:
            ratio = min(old[0], peer[0] if peer else old[0]) / new[0]
            won.setdefault((collective, new[1]), []).append((old[0] / new[0], ratio))
    lines += [
        "",
        "| algorithm | best of ours in so many cells | by, geometric mean | at most | of these, ahead of all peers |",
    ]
    lines.append("|---|---|---|---|---|")
    for (collective, name), ratios in sorted(won.items()):
        mean, most = geometric_mean([r for r, _ in ratios]), max(r for r, _ in ratios)
        ahead = sum(r > 1 for _, r in ratios)
        lines.append(f"| {collective} `{name}` | {len(ratios)} | {mean:.2f} | {most:.2f} | {ahead} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=Path, required=True, metavar="FILE.jsonl")
    parser.add_argument("--markdown", action="store_true", help="print what is kept, simulate nothing")
    parser.add_argument("--deadline", type=float, default=200.0, metavar="S", help="for each simulation")
    given = parser.parse_args()
    rows = [json.loads(line) for line in given.keep.read_text().splitlines()] if given.keep.exists() else []
    known = {(row["machine"], row["nodes"], row["ppn"], row["collective"]) for row in rows}
    for platform, ppn, collective, sizes in () if given.markdown else cases():
        if (platform.name, platform.nodes, ppn, collective) in known:
            continue
        found = one(platform, ppn, collective, sizes, given.deadline)
        rows += found
        with given.keep.open("a") as file:
            file.writelines(json.dumps(row) + "\n" for row in found)
    print(markdown(rows))


if __name__ == "__main__":
    main()
