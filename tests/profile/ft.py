"""The hot spot of Oracle's profiling guide: alltoall from two places, 25 calls of 3.1 GiB a rank from the second."""

from __future__ import annotations

import numpy as np

from unisono.profile.recorded import PAIR, Cells, Comm, Frame, Origin, Path, Profile, blank

SIZE = 512 << 10
CALLS = 25


def ft(ranks: int = 256, nodes: int = 8) -> Profile:
    """Shares and times are those of the as-is table: alltoall 39.8 %, all but 7 % of it from transpose_x_yz."""
    rank = np.arange(ranks)

    def part(path: int, function: int, seconds: float, **values: float) -> Cells:
        cells = blank(ranks)
        cells["path"], cells["function"], cells["rank"] = path, function, rank
        cells["time"] = seconds / 256 * (1 + 0.1 * np.sin(rank))
        for name, value in values.items():
            cells[name] = value
        return cells

    big = CALLS * ranks * SIZE
    message = {"comm": 0, "size": SIZE, "size_min": SIZE, "size_max": SIZE, "time_min": 0.4, "time_max": 0.7}
    cells = np.concatenate(
        [
            part(3, 1, 3400.0, calls=CALLS, sent=big, received=big, waiting=0.9, **message),
            part(4, 1, 231.26, calls=2, sent=2 * ranks * SIZE, received=2 * ranks * SIZE, waiting=0.05, **message),
            part(5, 2, 587.28, calls=25, comm=0, size=16, size_min=16, size_max=16, sent=400, received=0, waiting=2.2),
            part(0, 3, 248.91, calls=1),
            part(6, 0, 4667.0, calls=352_512),
        ]
    )
    return Profile(
        origin=Origin(
            "unisono",
            "mpirun -n 256 ./ft.D.x",
            "2026-01-01T00:00:00+00:00",
            "Open MPI v5.0.6",
            hosts=tuple(f"node{n * nodes // ranks}" for n in range(ranks)),
            depth=8,
            split_waiting=True,
            overhead_ns=90.0,
            as_is=(32.41,),
            profiled=32.74,
        ),
        functions=("", "MPI_Alltoall", "MPI_Reduce", "MPI_Init"),
        frames=(
            Frame("main", file="ft.f90", line=40),
            Frame("fft", file="ft.f90", line=300),
            Frame("transpose_x_yz", file="ft.f90", line=500),
            Frame("transpose_xy_z", file="ft.f90", line=600),
            Frame("checksum", file="ft.f90", line=700),
            Frame("fftz2", file="ft.f90", line=450),
        ),
        paths=(Path(-1, -1), Path(0, 0), Path(1, 1), Path(2, 2), Path(2, 3), Path(1, 4), Path(2, 5)),
        comms=(Comm(ranks, nodes),),
        phases=("",),
        cells=cells,
        wall=np.asarray(np.bincount(cells["rank"], cells["time"], ranks), np.float64),
        pairs=np.zeros(0, PAIR),
    )
