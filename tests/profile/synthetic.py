"""Profiles of a program that never ran: as many ranks, call paths and message sizes as a test wants."""

from __future__ import annotations

import numpy as np

from unisono.profile.recorded import PAIR, ROOT, UNKNOWN, Cells, Comm, Frame, Origin, Path, Profile, blank

FUNCTIONS = ("", "MPI_Alltoall", "MPI_Allreduce", "MPI_Waitall", "MPI_Isend", "MPI_Barrier", "MPI_Allgather")
WITHOUT_MESSAGE = ("MPI_Waitall",)


def synthetic(
    ranks: int = 8,
    paths: int = 20,
    *,
    nodes: int = 2,
    sizes: int = 2,
    split_waiting: bool = True,
    seed: int = 0,
) -> Profile:
    """A sound profile, always the same for the same arguments.

    `paths` call paths besides the root form a tree at most 8 deep; every leaf calls one function with `sizes` exact
    message sizes on every rank. Every rank's own time is one row at the root: wall is the sum of a rank's rows.
    """
    random = np.random.default_rng(seed)
    frames = [Frame(f"part_{n}", "solver", 0x1000 + 16 * n, f"/src/part{n % 7}.c", 10 + n) for n in range(paths)]
    tree = [Path(UNKNOWN, UNKNOWN)]
    depth = [0]
    for index in range(paths):
        candidates = [n for n in range(max(0, index - 5), index + 1) if depth[n] < 8] or [ROOT]
        parent = int(random.choice(candidates))
        tree.append(Path(parent, index))
        depth.append(depth[parent] + 1)
    inner = {path.parent for path in tree}
    leaves = [n for n in range(1, len(tree)) if n not in inner] or [ROOT]
    comms = (Comm(ranks, nodes), Comm(max(1, ranks // nodes), 1, nodes))
    rows = [
        row
        for place, leaf in enumerate(leaves)
        for row in _calls(random, leaf, 1 + place % (len(FUNCTIONS) - 1), comms, ranks, sizes, split_waiting)
    ]
    own = blank(ranks)
    own["rank"] = np.arange(ranks)
    own["time"] = random.uniform(1.0, 1.2, ranks)
    cells = np.concatenate([own, *rows])
    wall = np.asarray(np.bincount(cells["rank"], cells["time"], ranks), np.float64)
    ring = np.zeros(ranks, PAIR)
    ring["source"] = np.arange(ranks)
    ring["target"] = (np.arange(ranks) + 1) % ranks
    ring["calls"] = 10
    ring["bytes"] = 10 * 4096
    return Profile(
        origin=Origin(
            "unisono",
            "mpirun -n 8 ./solver",
            "2026-01-01T00:00:00+00:00",
            "Open MPI v5.0.6",
            hosts=tuple(f"node{rank * nodes // ranks}" for rank in range(ranks)),
            depth=8,
            split_waiting=split_waiting,
            overhead_ns=80.0,
            as_is=(2.0, 2.1, 2.05),
            profiled=2.06,
        ),
        functions=FUNCTIONS,
        frames=tuple(frames),
        paths=tuple(tree),
        comms=comms,
        phases=("", "solve"),
        cells=cells,
        wall=wall,
        pairs=ring,
        notes=("made up for a test",),
    )


def _calls(
    random: np.random.Generator,
    path: int,
    function: int,
    comms: tuple[Comm, ...],
    ranks: int,
    sizes: int,
    split_waiting: bool,
) -> list[Cells]:
    """Rows of one call path: a function, `sizes` message sizes, all ranks."""
    has_message = FUNCTIONS[function] not in WITHOUT_MESSAGE
    comm = UNKNOWN if not has_message else path % len(comms)
    rows = []
    for step in range(sizes if has_message else 1):
        part = blank(ranks)
        size = (0 if FUNCTIONS[function] == "MPI_Barrier" else 8 << (3 * step + path % 5)) if has_message else UNKNOWN
        calls = int(random.integers(1, 200))
        total = UNKNOWN if size < 0 else calls * size * (comms[comm].size if function in (1, 2, 6) else 1)
        part["path"], part["function"], part["comm"], part["phase"] = path, function, comm, path % 2
        part["rank"] = np.arange(ranks)
        part["size"] = part["size_min"] = part["size_max"] = size
        part["calls"] = calls
        part["sent"] = part["received"] = total
        mean = random.uniform(2e-6, 2e-4, ranks)
        part["time"] = calls * mean
        part["time_min"], part["time_max"] = mean * 0.5, mean * 3
        part["waiting"] = calls * mean * random.uniform(0, 0.4, ranks) if split_waiting else np.nan
        rows.append(part)
    return rows
