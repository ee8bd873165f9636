"""Draws the charts of docs/collectives.md and docs/how-fast-our-collectives-are.md from the kept measurements.

    python benchmarks/collectives_charts.py docs/images

Reads the files of benchmarks/data that collectives_one_node.py and collectives_nodes.py have kept, measures nothing,
and writes one SVG file for each chart. All ratios are the time of the best other way / the time of the best of our
algorithms, as those two commands print them.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from pathlib import Path

import collectives_nodes
from one_node_kept import Kept, rows
from one_node_tables import mean, number

from unisono.simulate.picture import Chart, Panel, draw

DATA = Path(__file__).parent / "data"
CPUS = {
    "AMD EPYC, Zen 5": "amd-26-2/collectives-one-node-near.jsonl",
    "Intel Xeon, model 85": "intel-6-85/collectives-one-node.jsonl",
    "AMD EPYC, Zen 4": "amd-25-17/collectives-one-node.jsonl",
    "Intel Xeon, model 167 *": "intel-6-167/collectives-one-node.jsonl",
    "Intel Xeon, model 207 *": "intel-6-207/collectives-one-node.jsonl",
}
OLDER = " * too high up to 4 KiB (see the page)."
CPU_COLOURS = ("chosen", "series-2", "series-8", "worse", "worse-mid")
CROWDED_COLOURS = ("chosen", "series-8", "series-2", "better-mid", "series-5", "series-7", "worse", "worse-mid")
CROWDED = {
    "Zen 5, 4 ranks": ("amd-26-2/collectives-4-ranks-near.jsonl", 4),
    "Zen 5, 8 ranks": ("amd-26-2/collectives-8-ranks-far.jsonl", 8),
    "Xeon 85, 4 ranks": ("intel-6-85/collectives-4-ranks.jsonl", 4),
    "Xeon 85, 8 ranks": ("intel-6-85/collectives-8-ranks.jsonl", 8),
    "Zen 4, 4 ranks": ("amd-25-17/collectives-4-ranks.jsonl", 4),
    "Zen 4, 8 ranks": ("amd-25-17/collectives-8-ranks.jsonl", 8),
    "Xeon 207, 4 ranks": ("intel-6-207/collectives-4-ranks.jsonl", 4),
    "Xeon 207, 8 ranks": ("intel-6-207/collectives-8-ranks.jsonl", 8),
}
NODES = {"4 nodes of 2 ranks": "4x2", "2 nodes of 4 ranks": "2x4"}
COLLECTIVES = ("bcast", "allreduce", "alltoall", "allgather", "alltoallv", "allgatherv")

THIRD = Panel(300, 230, 44, 14, 30, 30, alone=False)
HALF = Panel(450, 220, 44, 18, 30, 30, alone=False)
WHOLE = Panel(900, 300, 44, 24, 12, 30, alone=False)
ABOVE_ONE = "Above 1 (white) our library is faster, below 1 (grey) it is slower."

Curves = Mapping[str, Mapping[str, Mapping[int, float]]]
"""Collective -> name of the curve -> message size -> ratio."""


def one_node(files: Mapping[str, tuple[str, int]]) -> Curves:
    """Best other way / ours, a curve for each kept file."""
    found: dict[str, dict[str, dict[int, float]]] = {}
    for name, (file, ranks) in files.items():
        kept = Kept(DATA / file)
        for row in rows(kept, kept.collectives, kept.sizes, ranks):
            curves = found.setdefault(str(row["collective"]), {})
            curves.setdefault(name, {})[int(str(row["size"]))] = number(row, "ratio") or 0.0
    return found


def over_collectives(of: Curves) -> dict[str, dict[int, float]]:
    """Geometric means over the collectives."""
    values: dict[str, dict[int, list[float]]] = {}
    for curves in of.values():
        for name, curve in curves.items():
            for size, ratio in curve.items():
                values.setdefault(name, {}).setdefault(size, []).append(ratio)
    return {name: {size: mean(some) or 0.0 for size, some in curve.items()} for name, curve in values.items()}


def times_the_limit(file: str) -> Curves:
    """The time of the best other way and of ours, each / the physical limit."""
    kept = Kept(DATA / file)
    found: dict[str, dict[str, dict[int, float]]] = {}
    for row in rows(kept, kept.collectives, kept.sizes, 2):
        for name, share in (("the best other way", "rival_of_limit"), ("our library", "of_limit")):
            of_limit = number(row, share)
            if of_limit:
                curves = found.setdefault(str(row["collective"]), {})
                curves.setdefault(name, {})[int(str(row["size"]))] = 1 / of_limit
    return found


def several_nodes() -> Curves:
    """Best other MPI / ours over the best MPI, a curve for each layout."""
    kept = collectives_nodes.Kept(DATA / "collectives-nodes.jsonl")
    return {
        collective: {
            name: {row.size: row.ratio for row in collectives_nodes.rows(kept, layout, collective)}
            for name, layout in NODES.items()
        }
        for collective in COLLECTIVES
    }


def charts(of: Curves, colours: Iterable[str]) -> list[Chart]:
    """One for each collective."""
    names = [name for name in COLLECTIVES if name in of]
    return [Chart(name, "", of[name], unit="times", roles=tuple(colours), marked=True) for name in names]


def pictures() -> dict[str, str]:
    """Name of the file -> SVG."""
    cpus = one_node({name: (file, 2) for name, file in CPUS.items()})
    middle = Chart("", "", over_collectives(cpus), unit="times", roles=CPU_COLOURS, marked=True)
    crowded = charts(one_node(CROWDED), CROWDED_COLOURS)
    zen5, xeon85 = (
        charts(times_the_limit(CPUS[name]), ("default", "chosen"))
        for name in ("AMD EPYC, Zen 5", "Intel Xeon, model 85")
    )
    nodes = charts(several_nodes(), ("chosen", "worse"))
    against = "time of the best other way / time of ours"
    return {
        "collectives-means": draw(
            [middle],
            1,
            WHOLE,
            f"2 ranks on one node: {against}",
            f"Geometric means of six collectives. {ABOVE_ONE}{OLDER}",
        ),
        "collectives-one-node": draw(
            charts(cpus, CPU_COLOURS), 3, THIRD, f"2 ranks on one node: {against}", ABOVE_ONE + OLDER
        ),
        "collectives-limit": draw(
            zen5,
            3,
            THIRD,
            "2 ranks on the Zen 5: time of a call / physical limit",
            "The lower, the faster. Nothing can be below 1.",
        ),
        "collectives-limit-xeon": draw(
            xeon85,
            3,
            THIRD,
            "2 ranks on the Xeon 85: time of a call / physical limit, with a rank's own block",
            "The lower, the faster. Nothing can be below 1.",
        ),
        "collectives-more-ranks": draw(crowded, 2, HALF, f"More ranks than the 2 cores: {against}", ABOVE_ONE),
        "collectives-nodes": draw(nodes, 3, THIRD, f"Virtual nodes, links of 1 Gbit/s: {against}", ABOVE_ONE),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the SVG files go")
    folder: Path = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    for name, svg in pictures().items():
        (folder / f"{name}.svg").write_text(svg)
        print(folder / f"{name}.svg")


if __name__ == "__main__":
    main()
