"""What the links between 4,096 ranks carry: allgather, alltoall and reduce_scatter_block, where simulations end.

    python benchmarks/link_loads.py --keep FILE.jsonl               counts what the file has not yet
    python benchmarks/link_loads.py --keep FILE.jsonl --markdown    prints the tables, counts nothing

`benchmarks/data/link-loads.jsonl` is what docs/algorithms-for-scale.md has. The C sources of our algorithms run, but
each message is only counted, from node to node, and takes no time (native/simulate/counted.c). SimGrid says which links
a message goes over. A number is how many blocks go over the fullest link in one direction, or leave or reach the
fullest node.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import TypedDict

from algorithms_for_scale import NEW, OLD, keep, machine_of, read_kept

from unisono.core.errors import LaunchError
from unisono.core.sizes import format_size
from unisono.simulate.run import Loads, Run

MACHINES = ("fat-tree-tapered", "dragonfly", "torus")
COLLECTIVES = ("reduce_scatter_block", "allgather", "alltoall")
DIRECT = ("flat_pairwise", "paced")
"""Each rank sends every other one its block: as many bytes from node to node as by `nodes` of alltoall, in 16 million
messages."""


class Row(TypedDict):
    """`loads`: by algorithm, blocks on the fullest link and of the fullest node; None: it does not apply there, or did
    not end in time."""

    machine: str
    nodes: int
    ppn: int
    collective: str
    size: int
    loads: dict[str, tuple[float, float] | None]


def names_of(collective: str) -> list[str]:
    return [name for name in NEW[collective] + OLD[collective] if name not in DIRECT]


def count(row: Row, names: Sequence[str], deadline: float) -> None:
    """Adds these algorithms to the row: those that answer before the deadline, of the others None."""
    platform = machine_of(row["machine"], row["nodes"])
    run = Run(platform, row["ppn"], row["collective"], names, [row["size"]], free_copies=True, count=True)
    row["loads"].update(dict.fromkeys(names))
    try:
        for result in run.results(deadline):
            if isinstance(result.outcome, Loads):
                row["loads"][result.algorithm] = (result.outcome.link / row["size"], result.outcome.node / row["size"])
    except LaunchError as error:
        print(f"  {row['machine']} {row['collective']}: {error.reason}")


def row_of(rows: list[Row], case: Row) -> Row:
    """The one of this case, which is added where there is none."""
    for row in rows:
        if all(row[key] == case[key] for key in ("machine", "nodes", "ppn", "collective", "size")):
            return row
    rows.append(case)
    return case


def markdown(rows: list[Row]) -> str:
    """A table for each collective and block size: a line for each algorithm, the fullest link and the fullest node."""
    lines: list[str] = []
    for collective in COLLECTIVES:
        for size in sorted({row["size"] for row in rows if row["collective"] == collective}):
            some = {
                row["machine"]: row["loads"] for row in rows if (row["collective"], row["size"]) == (collective, size)
            }
            machines = [name for name in MACHINES if name in some]
            heads = [f"{collective}, blocks of {format_size(size)}", *(f"{name}: link (node)" for name in machines)]
            lines += [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
            names = [n for n in names_of(collective) if any(loads.get(n) for loads in some.values())]
            for name in names:
                cells = [_cell(some[machine].get(name)) for machine in machines]
                lines.append(f"| `{name}` | {' | '.join(cells)} |")
            lines.append("")
    return "\n".join(lines)


def _cell(loads: tuple[float, float] | None) -> str:
    return "-" if loads is None else f"{loads[0]:,.0f} ({loads[1]:,.0f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=Path, required=True, metavar="FILE.jsonl")
    parser.add_argument("--markdown", action="store_true", help="print what is kept, count nothing")
    parser.add_argument("--nodes", type=int, default=256, metavar="N")
    parser.add_argument("--ppn", type=int, default=16, metavar="N")
    parser.add_argument("--size", type=int, default=8, metavar="BYTES", help="of one rank's block")
    parser.add_argument("--deadline", type=float, default=400.0, metavar="S", help="for a collective on a machine")
    parser.add_argument("--collective", choices=COLLECTIVES, action="append", metavar="NAME", help="these alone")
    given = parser.parse_args()
    rows: list[Row] = read_kept(parser, given.keep, simulates=not given.markdown)
    for machine, collective in () if given.markdown else product(MACHINES, given.collective or COLLECTIVES):
        empty = Row(machine=machine, nodes=given.nodes, ppn=given.ppn, collective=collective, size=given.size, loads={})
        row = row_of(rows, empty)
        names = [name for name in names_of(collective) if name not in row["loads"]]
        if names:
            count(row, names, given.deadline)
            keep(given.keep, rows)
    print(markdown(rows))


if __name__ == "__main__":
    main()
