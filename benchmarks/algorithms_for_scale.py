"""The algorithms for many nodes on simulated machines: against our others, and against Open MPI's and MPICH's choice.

    python benchmarks/algorithms_for_scale.py --keep FILE.jsonl               simulates what the file has not yet
    python benchmarks/algorithms_for_scale.py --keep FILE.jsonl --markdown    prints the tables, simulates nothing
    python benchmarks/algorithms_for_scale.py --keep FILE.jsonl --markdown --picture FILE.svg    and draws who wins
    python benchmarks/algorithms_for_scale.py --keep FILE.jsonl --models      asks our cost models about all of them
    python benchmarks/algorithms_for_scale.py --keep OTHER.jsonl --collective reduce --simgrid=--cfg=smpi/or:0:0.2e-6:0

The models choose where nothing was measured: how good is that choice? The last command asks what if a message took its
receiver as long as its sender. `algorithms-for-scale-receivers.jsonl` has that of short messages,
`algorithms-for-scale-eager.jsonl` what is if these set off before their receiver expects them.

`benchmarks/data/algorithms-for-scale.jsonl` is what docs/algorithms-for-scale.md has. Simulated with SimGrid: our C
sources, and SimGrid's forms of what Open MPI's and MPICH's own rules choose. Copies and combining cost nothing on both
sides, as SimGrid charges nothing for those of its own algorithms. Every message takes its sender `START` seconds, which
is assumed: without it many messages at once would look better than they are.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import geometric_mean
from typing import Any, NotRequired, TypedDict

from unisono.core.errors import LaunchError
from unisono.core.sizes import format_size
from unisono.simulate.files import platform as read_platform
from unisono.simulate.platforms import Number, Platform
from unisono.simulate.programs import unavailable
from unisono.simulate.run import Run
from unisono.simulate.winners import Winners, draw

START = Number(0.2e-6, "assumed: what an adapter of 100 Gbit/s takes for a short message, roughly")
NEW = {
    "allreduce": ("leader_multiplying", "leader_dividing", "lanes_dividing", "leader_bine", "leader_pat"),
    "reduce_scatter_block": ("lanes_dividing", "lanes_bine", "lanes_pat"),
    "allgather": ("leader_multiplying", "leader_bine", "leader_pat"),
    "alltoall": ("leader",),
    "bcast": ("leader_postal", "circulant", "two_trees"),
    "reduce": ("leader_postal", "circulant", "two_trees"),
    "barrier": ("leader_radix",),
}
OLD = {
    "allreduce": ("leader", "leader_halving", "ring", "leader_ring", "swing", "lanes", "lanes_halving", "lanes_ring"),
    "reduce_scatter_block": ("leader", "flat_halving", "lanes", "flat_pairwise"),
    "allgather": ("leader", "flat_doubling", "lanes", "ring", "rings", "gather_bcast", "gather_tree3d"),
    "alltoall": ("nodes", "lanes", "paced"),
    "bcast": ("leader", "binary", "chain", "ring", "doubling", "lanes", "links", "tree3d"),
    "reduce": ("leader", "chain", "lanes"),
    "barrier": ("leader",),
}
SELECTORS = ("ompi", "mpich")
LONG = (8, 1024, 8192, 65536, 524288, 4 << 20)
BLOCKS = (8, 512, 4096, 32768)
SIZES = {
    "allreduce": LONG,
    "reduce_scatter_block": BLOCKS,
    "allgather": BLOCKS,
    "alltoall": BLOCKS[:2],
    "bcast": LONG,
    "reduce": LONG,
    "barrier": (0,),
}
FEW = {
    "allreduce": (8, 1024, 8192),
    "reduce_scatter_block": (8,),
    "allgather": (8,),
    "alltoall": (8,),
    "bcast": (8, 8192, 65536),
    "reduce": (8, 8192, 65536),
    "barrier": (0,),
}
"""Of the largest machines: what is simulated in minutes."""
MANY = 1000
"""Ranks of machines where each algorithm has the time of a simulation for itself, as some do not end in it."""


class Row(TypedDict):
    """Times in microseconds, by algorithm of ours and by MPI; None: it does not apply, or did not end in time.
    `models`: what our cost models say, with copies at no cost as in the simulations."""

    machine: str
    nodes: int
    ppn: int
    collective: str
    size: int
    ours: dict[str, float | None]
    peers: dict[str, float]
    models: NotRequired[dict[str, float]]


def cases() -> Iterator[tuple[Platform, int, str, tuple[int, ...]]]:
    for nodes in (64, 96, 97):
        for name in ("fat-tree-tapered", "dragonfly", "torus"):
            if name != "torus" or nodes != 97:  # which would be a ring
                for collective, sizes in SIZES.items():
                    yield machine_of(name, nodes), 1, collective, sizes
    for collective, sizes in SIZES.items():
        yield machine_of("fat-tree-tapered", 48), 4, collective, sizes
    for nodes, ppn in ((384, 1), (256, 16)):
        for name in ("fat-tree-tapered", "dragonfly"):
            for collective, sizes in FEW.items():
                yield machine_of(name, nodes), ppn, collective, sizes


def machine_of(name: str, nodes: int) -> Platform:
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


def lacking(kept: list[Row], collective: str, wanted: Sequence[str] = ()) -> tuple[str, ...]:
    """Algorithms that no row of the case has, of those that are wanted (none: of all)."""
    known = {name for row in kept for name in row["ours"]}
    return tuple(n for n in NEW[collective] + OLD[collective] if n not in known and (not wanted or n in wanted))


def one(
    platform: Platform,
    ppn: int,
    collective: str,
    sizes: tuple[int, ...],
    deadline: float,
    kept: list[Row],
    options: Sequence[str] = (),
    wanted: Sequence[str] = (),
) -> list[Row]:
    """The rows of a case: what was kept, and what was lacking."""
    names = lacking(kept, collective, wanted)
    ours: dict[int, dict[str, float]] = {}
    for some in (names,) if platform.nodes * ppn < MANY else [(name,) for name in names]:
        run = Run(platform, ppn, collective, some, sizes, free_copies=True, options=options)
        for size, times in simulated(run, deadline).items():
            ours.setdefault(size, {}).update(times)
    by_size = {row["size"]: row for row in kept}
    if not kept:
        runs = {s: Run(platform, ppn, collective, ["smpi"], sizes, selector=s, options=options) for s in SELECTORS}
        peers = {s: simulated(run, deadline) for s, run in runs.items()}
        for size in ours:
            by_size[size] = Row(
                machine=platform.name,
                nodes=platform.nodes,
                ppn=ppn,
                collective=collective,
                size=size,
                ours={},
                peers={s: found[size]["smpi"] for s, found in peers.items() if size in found},
            )
    for size, row in by_size.items():
        row["ours"].update({name: ours.get(size, {}).get(name) for name in names})
    return [row for _size, row in sorted(by_size.items())]


def _times(row: Row) -> dict[str, float]:
    return {name: time for name, time in row["ours"].items() if time is not None}


def _ratios(row: Row) -> tuple[str, float, float | None] | None:
    """The best of the new, how many times as fast as the best of our others it is, and as the best of the peers."""
    ours, peers = _times(row), row["peers"]
    new = min(((ours[n], n) for n in NEW[row["collective"]] if n in ours), default=None)
    old = min((ours[n] for n in OLD[row["collective"]] if n in ours), default=None)
    if new is None or old is None:
        return None
    return new[1], old / new[0], min(peers.values()) / new[0] if peers else None


def _lead(row: Row) -> tuple[str, float] | None:
    """The best of all of ours, and how many times as fast as the next it is."""
    best = sorted((time, name) for name, time in _times(row).items())[:2]
    return (best[0][1], best[1][0] / best[0][0]) if len(best) == 2 else None


def _winner(row: Row) -> tuple[str, float] | None:
    """The fastest of all of ours, and how many times as fast as the better of the peers' choices it is."""
    best = min(((time, name) for name, time in _times(row).items()), default=None)
    return (best[1], min(row["peers"].values()) / best[0]) if best and row["peers"] else None


def _summary(rows: list[Row]) -> list[str]:
    """A line for each collective and message size: who wins on how many machines, and how far ahead of the peers."""
    lines = ["| collective | message | fastest of ours, on so many machines | against Open MPI and MPICH |"]
    lines.append("|---" * 4 + "|")
    for collective, sizes in SIZES.items():
        for size in sizes:
            some = [row for row in rows if (row["collective"], row["size"]) == (collective, size)]
            found = [winner for row in some if (winner := _winner(row)) is not None]
            if not found:  # of another run than of everything
                continue
            names = ", ".join(f"`{name}` {n}" for name, n in Counter(name for name, _ in found).most_common())
            ratios = [ratio for _, ratio in found]
            gain = f"{geometric_mean(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
            lines.append(f"| {collective} | {format_size(size) if size else ''} | {names} | {gain} |")
    return [*lines, ""]


def _picture(rows: list[Row]) -> str:
    """A map for each collective: machines down, message sizes across."""
    maps = []
    for collective, sizes in SIZES.items():
        columns = {size: format_size(size) if size else "barrier" for size in sizes}
        cells: dict[str, dict[str, tuple[str, float]]] = {}
        for row in rows:
            winner = _winner(row) if row["collective"] == collective else None
            if winner is not None:
                machine = f"{row['machine']}, {row['nodes']} x {row['ppn']}"
                cells.setdefault(machine, {})[columns[row["size"]]] = winner
        note = "our fastest algorithm, and how many times as fast it is as the better of Open MPI's and MPICH's choice"
        maps.append(Winners(collective, note, list(columns.values()), cells))
    return draw(maps)


def _table(rows: list[Row], collective: str) -> list[str]:
    """A line for each machine; in a cell the two ratios, and which of the new it was where there are several."""
    cells: dict[str, dict[int, str]] = {}
    for row in rows:
        found = _ratios(row) if row["collective"] == collective else None
        if found is not None:
            name, others, peer = found
            which = f" `{name}`" if len(NEW[collective]) > 1 else ""
            text = f"{others:.2f}, {'-' if peer is None else f'{peer:.2f}'}{which}"
            cells.setdefault(f"{row['machine']}, {row['nodes']} x {row['ppn']}", {})[row["size"]] = text
    sizes = sorted({size for line in cells.values() for size in line})
    heads = [collective, *(format_size(size) if size else "" for size in sizes)]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    return [*lines, *(f"| {name} | {' | '.join(line.get(s, '') for s in sizes)} |" for name, line in cells.items()), ""]


def read_kept(parser: argparse.ArgumentParser, path: Path, *, simulates: bool) -> list[Any]:
    """The rows of --keep, none where there is no such file. What is wrong ends the program before anything is
    simulated: no folder, a file of something else, no SimGrid."""
    if not path.parent.is_dir():
        parser.error(f"--keep {path}: there is no folder {path.parent}")
    missing = unavailable() if simulates else None
    if missing is not None:
        parser.error(missing)
    try:
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    except (OSError, ValueError) as error:
        parser.error(f"--keep {path}: not a file of rows, one JSON object a line ({error})")


def keep(path: Path, rows: Sequence[Any]) -> None:
    """Whole or not at all: a run that is killed, or a full disk, leaves what was there, hours of simulations."""
    part = path.with_name(f"{path.name}.part")
    part.write_text("".join(json.dumps(row) + "\n" for row in rows))
    part.replace(path)


def ask_models(rows: list[Row]) -> None:
    """Sets `models` of all rows."""
    for platform, ppn, collective, _sizes in cases():
        key = (platform.name, platform.nodes, ppn, collective)
        some = {r["size"]: r for r in rows if (r["machine"], r["nodes"], r["ppn"], r["collective"]) == key}
        names = (*NEW[collective], *OLD[collective])
        said = (
            simulated(Run(platform, ppn, collective, names, list(some), free_copies=True, cost=True), 300)
            if some
            else {}
        )
        for size, row in some.items():
            row["models"] = said.get(size, {})


def _choices(rows: list[Row]) -> list[str]:
    """A line for each collective: the best of ours over what the models choose, and the better peer over that."""
    lines = [
        "| collective | cells | best of ours / choice | least | Open MPI and MPICH / choice | least |",
        "|---" * 6 + "|",
    ]
    for collective in NEW:
        ours, peers = [], []
        for row in rows:
            times = _times(row)
            said = {name: cost for name, cost in row.get("models", {}).items() if name in times}
            if row["collective"] == collective and said:
                name = min(said, key=said.__getitem__)
                where = f"`{name}`, {row['machine']}, {row['nodes']} x {row['ppn']}"
                where += f", {format_size(row['size'])}" if row["size"] else ""
                ours.append((min(times.values()) / times[name], where))
                peers.extend([(min(row["peers"].values()) / times[name], where)] if row["peers"] else [])
        if ours:
            words = [
                f"{geometric_mean([ratio for ratio, _ in some]):.2f} | {min(some)[0]:.2f} ({min(some)[1]})"
                if some
                else "- | -"
                for some in (ours, peers)
            ]
            lines.append(f"| {collective} | {len(ours)} | {' | '.join(words)} |")
    return [*lines, ""] if len(lines) > 2 else []


def markdown(rows: list[Row]) -> str:
    """Who wins where, a table for each collective, what the cost models choose, and where each algorithm is the best of
    ours by more than 2 %."""
    lines = [*_summary(rows), *(line for collective in NEW for line in _table(rows, collective)), *_choices(rows)]
    won: dict[tuple[str, str], list[tuple[float, bool]]] = {}
    cells: dict[str, int] = {}
    for row in rows:
        best, collective = _lead(row), row["collective"]
        cells[collective] = cells.get(collective, 0) + 1
        if best is not None and best[0] in NEW[collective] and best[1] > 1.02:
            mine = row["ours"][best[0]]
            ahead = bool(row["peers"]) and mine is not None and mine < min(row["peers"].values())
            won.setdefault((collective, best[0]), []).append((best[1], ahead))
    lines.append("| algorithm | best of ours in so many cells | by, geometric mean | at most | ahead of both peers |")
    lines.append("|---|---|---|---|---|")
    for collective, names in NEW.items():
        for name in names if collective in cells else ():  # else another run than of everything
            ratios = won.get((collective, name))
            if ratios is None:
                lines.append(f"| {collective} `{name}` | 0 of {cells.get(collective, 0)} | | | |")
                continue
            mean, most = geometric_mean([r for r, _ in ratios]), max(r for r, _ in ratios)
            of, both = f"{len(ratios)} of {cells[collective]}", sum(ahead for _, ahead in ratios)
            lines.append(f"| {collective} `{name}` | {of} | {mean:.2f} | {most:.2f} | {both} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=Path, required=True, metavar="FILE.jsonl")
    parser.add_argument("--markdown", action="store_true", help="print what is kept, simulate nothing")
    parser.add_argument("--picture", type=Path, metavar="FILE.svg", help="draw which algorithm is the fastest where")
    parser.add_argument(
        "--models", action="store_true", help="ask our cost models about all that is kept, simulate nothing"
    )
    parser.add_argument("--deadline", type=float, default=200.0, metavar="S", help="for each simulation")
    parser.add_argument("--most", type=int, default=4096, metavar="RANKS", help="machines of so many, and smaller ones")
    parser.add_argument("--least", type=int, default=0, metavar="RANKS", help="machines of so many, and larger ones")
    parser.add_argument("--collective", choices=SIZES, action="append", metavar="NAME", help="these alone")
    parser.add_argument("--algorithm", action="append", default=[], metavar="NAME", help="these of ours alone")
    parser.add_argument("--longest", type=int, default=4 << 20, metavar="BYTES", help="messages up to so many")
    parser.add_argument("--size", type=int, action="append", metavar="BYTES", help="instead of those of the page")
    parser.add_argument(
        "--simgrid", action="append", default=[], metavar="OPTION", help="also for smpirun: --simgrid=--cfg=..."
    )
    given = parser.parse_args()
    known = {name for names in (*NEW.values(), *OLD.values()) for name in names}
    for name in given.algorithm:
        if name not in known:
            parser.error(f"--algorithm {name}: not one of {', '.join(sorted(known))}")
    rows: list[Row] = read_kept(parser, given.keep, simulates=not given.markdown)
    for platform, ppn, collective, sizes in () if given.markdown or given.models else cases():
        key = (platform.name, platform.nodes, ppn, collective)
        kept = [row for row in rows if (row["machine"], row["nodes"], row["ppn"], row["collective"]) == key]
        if not given.least <= platform.nodes * ppn <= given.most or (
            kept and not lacking(kept, collective, given.algorithm)
        ):
            continue
        sizes = tuple(size for size in given.size or sizes if size <= given.longest)
        if given.collective and collective not in given.collective:
            continue
        found = one(platform, ppn, collective, sizes, given.deadline, kept, given.simgrid, given.algorithm)
        at = rows.index(kept[0]) if kept else len(rows)
        rows = [*rows[:at], *found, *(row for row in rows[at:] if row not in kept)]
        keep(given.keep, rows)
    if given.models:
        ask_models(rows)
        keep(given.keep, rows)
    if given.picture:
        given.picture.write_text(_picture(rows))
    print(markdown([row for row in rows if given.least <= row["nodes"] * row["ppn"] <= given.most]))


if __name__ == "__main__":
    main()
