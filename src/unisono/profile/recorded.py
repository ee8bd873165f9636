"""A profile: call path x function x communicator x message size x rank -> calls, bytes, time, waiting.

Everything countable is in one array of `CELL`s, so that every view of it is a sum over rows. Paths form the call tree
of the application; the MPI function is not part of the path, it is what was called at its end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from unisono.core.vocabulary import COLLECTIVES, MICROBENCHMARKS
from unisono.profile.steps import STEP

NO_FUNCTION = 0
"""`functions[0]` is "": the row is the program's own time on that path (exclusive), not a call of MPI."""
ROOT = 0
"""`paths[0]`: the whole program; it has no frame and no parent."""
UNKNOWN = -1
"""A communicator, size or number of calls that the source of the profile does not hold."""

CELL = np.dtype(
    [
        ("path", np.int32),  # index into paths: who called
        ("function", np.int32),  # index into functions
        ("comm", np.int32),  # index into comms, or UNKNOWN
        ("phase", np.int32),  # index into phases; 0: outside any
        ("rank", np.int32),  # in MPI_COMM_WORLD
        ("size", np.int64),  # message size in bytes as IMB counts it (model.COLLECTIVES), mean of the row, or UNKNOWN
        ("size_min", np.int64),  # smallest and largest message size in the row; equal: `size` is exact; UNKNOWN: a mean
        ("size_max", np.int64),
        ("calls", np.int64),
        ("sent", np.int64),  # bytes this rank contributed, by Score-P's convention, or UNKNOWN
        ("received", np.int64),  # bytes it received, likewise
        ("time", np.float64),  # seconds, exclusive of the program's own functions, all calls together
        ("time_min", np.float64),  # shortest and longest single call, NaN where not known
        ("time_max", np.float64),
        ("waiting", np.float64),  # seconds of `time` spent until the last rank arrived; NaN where not measured
        # Of a nonblocking collective's `calls`, those seen to complete; of a persistent one, whose `calls` make
        # requests, so many starts of these; UNKNOWN elsewhere.
        ("completed", np.int64),
        # Seconds waited for a nonblocking collective in calls of COMPLETING, and of a persistent one in those that
        # start it, too, which have them in their `time`; in a row of such a call the part of its `time` that is so
        # spent, and stands in those rows; NaN where not measured.
        ("completion", np.float64),
    ]
)
Cells = npt.NDArray[np.void]

COMPLETING = frozenset(
    f"MPI_{name}" for name in ("Wait", "Waitall", "Waitany", "Waitsome", "Test", "Testall", "Testany", "Testsome")
)
"""The functions that complete requests."""
STARTING = frozenset({"MPI_Start", "MPI_Startall"})
"""Those that start persistent ones."""

PAIR = np.dtype([("source", np.int32), ("target", np.int32), ("calls", np.int64), ("bytes", np.int64)])
"""Point-to-point messages from one rank of MPI_COMM_WORLD to another."""

LATE = np.dtype(
    [
        ("path", np.int32),  # these four as in CELL
        ("function", np.int32),
        ("comm", np.int32),
        ("phase", np.int32),
        ("rank", np.int32),  # who waited
        ("peer", np.int32),  # and for whom, in MPI_COMM_WORLD
        ("receiver", np.bool_),  # whether the one waited for was to receive; else it was to send
        ("time", np.float64),  # seconds
    ]
)
"""Which ranks waited in a point-to-point call, and for whom; only of rows whose `waiting` is measured."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One place in the program."""

    function: str
    """Its symbol, demangled; for an imported profile the region's name; "" where there is none."""
    module: str = ""
    """The executable's or library's file name; "" where not known."""
    offset: int = UNKNOWN
    """Bytes from the module's first address: what remains the same from run to run."""
    file: str = ""
    line: int = 0
    inlined: bool = False
    """Inlined into the frame above it in the path."""
    group: str = ""
    """Score-P's kind of region where the source says it: "USR", "COM", "OMP", "SCOREP" ...; else ""."""

    @property
    def label(self) -> str:
        """What to call it in a table: the function, else module+offset."""
        if self.function:
            return self.function
        return f"{self.module or '?'}+{self.offset:#x}" if self.offset >= 0 else "?"

    @property
    def place(self) -> str:
        """ "fft.c:120", or ""."""
        name = self.file.rsplit("/", 1)[-1]
        return f"{name}:{self.line}" if name and self.line else name


@dataclass(frozen=True, slots=True)
class Path:
    """A node of the call tree: `frame` called from `parent`."""

    parent: int
    frame: int


@dataclass(frozen=True, slots=True)
class Comm:
    """All communicators of one shape."""

    size: int
    """Ranks, or UNKNOWN."""
    nodes: int
    """Nodes they are on, or UNKNOWN."""
    created: int = 1
    """How many of that shape there were."""

    @property
    def ppn(self) -> int:
        """Ranks a node, rounded up; UNKNOWN where either is."""
        return -(-self.size // self.nodes) if self.size > 0 and self.nodes > 0 else UNKNOWN


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a profile comes from and under which conditions."""

    source: str
    """"unisono", or the NAME of the importer that read it."""
    command: str = ""
    created: str = ""
    """ISO 8601, UTC."""
    mpi: str = ""
    """The library's own name and version."""
    ended: str = "finalize"
    """"finalize", "abort", or "signal NAME": when it was written."""
    hosts: tuple[str, ...] = ()
    """Per rank."""
    depth: int = UNKNOWN
    """Frames of a call path that were kept, at most."""
    split_waiting: bool = False
    overhead_ns: float = float("nan")
    """Estimated cost of recording one call, in ns."""
    dropped: int = 0
    """Calls that did not fit into the tables: they are in no row."""
    as_is: tuple[float, ...] = ()
    """Seconds of runs without the profiler: wall time, mpirun included, or what `metric` finds."""
    profiled: float = float("nan")
    """The same of the profiled run."""
    metric: str = ""
    """The regular expression that found these times in the program's output; "": they are wall times."""
    machine: dict[str, str] = field(default_factory=dict)
    """Fingerprint, where the profile was made by us."""
    summed: bool = False
    """The source holds sums over all ranks only: every rank was given an equal part, so ranks cannot be compared."""

    @property
    def library(self) -> str:
        """Name and version of `mpi`: what follows a comma, or stands on other lines, is how it was built."""
        return " ".join(self.mpi.partition("\n")[0].partition(",")[0].replace("Version:", "").split())


@dataclass(frozen=True)
class Profile:
    """Indices into the tuples are what the cells hold."""

    origin: Origin
    functions: tuple[str, ...]
    """MPI functions by their C name ("MPI_Alltoall", also for Fortran callers); [0] is ""."""
    frames: tuple[Frame, ...]
    paths: tuple[Path, ...]
    """A tree: every parent comes before its children; [0] is the root."""
    comms: tuple[Comm, ...]
    phases: tuple[str, ...]
    """[0] is ""."""
    cells: Cells
    wall: npt.NDArray[np.float64]
    """Seconds per rank from the end of MPI_Init to the beginning of MPI_Finalize (imported: the program's)."""
    pairs: npt.NDArray[np.void]
    late: npt.NDArray[np.void] = field(default_factory=lambda: np.zeros(0, LATE))
    """Empty where nobody waited for a message, or it was not measured."""
    step: npt.NDArray[np.void] = field(default_factory=lambda: np.zeros(0, STEP))
    """A step of the program's point-to-point messages, as it is replayed; empty where it is not known."""
    notes: tuple[str, ...] = ()
    """What a reader must know: what the format does not hold and was assumed, what was lost."""

    @property
    def ranks(self) -> int:
        return len(self.wall)

    @property
    def mpi_rows(self) -> Cells:
        """The rows of MPI calls."""
        rows: Cells = self.cells[self.cells["function"] != NO_FUNCTION]
        return rows

    def chain(self, path: int) -> Iterator[Frame]:
        """Its frames, the innermost (the caller of MPI) first."""
        while path != ROOT:
            node = self.paths[path]
            yield self.frames[node.frame]
            path = node.parent


def blank(rows: int) -> Cells:
    """Rows in which everything that can be unknown is."""
    cells = np.zeros(rows, CELL)
    for name in ("comm", "size", "size_min", "size_max", "sent", "received", "completed"):
        cells[name] = UNKNOWN
    for name in ("time_min", "time_max", "waiting", "completion"):
        cells[name] = np.nan
    return cells


_NAMES = (
    "(barrier|bcast|gatherv?|scatterv?|reduce|reduce_scatter|reduce_scatter_block|allreduce|scan|exscan"
    "|(neighbor_)?(allgatherv?|alltoall[vw]?))"
)
_NONBLOCKING = re.compile(f"MPI_I{_NAMES}(_c)?")
_PERSISTENT = re.compile(f"mpi_{_NAMES}_init(_c)?")


def is_nonblocking(function: str) -> bool:
    """Whether a function begins a collective that another one completes ("MPI_Ialltoall", not "MPI_Alltoall_init")."""
    return _NONBLOCKING.fullmatch(function) is not None


def is_persistent(function: str) -> bool:
    """Whether a function makes the request of a persistent collective ("MPI_Alltoall_init")."""
    return _PERSISTENT.fullmatch(function.lower()) is not None


def has_request(function: str) -> bool:
    """Whether a program waits for a request of this collective."""
    return is_nonblocking(function) or is_persistent(function)


def measured_as(function: str) -> str | None:
    """By which name a collective is measured ("MPI_Iallreduce" -> "iallreduce"); None: it is none."""
    if has_request(function):
        return function.removeprefix("MPI_").removesuffix("_c").lower()
    return collective_of(function)


def collective_of(function: str) -> str | None:
    """The collective a function is one of ("MPI_Ialltoall", "MPI_Alltoall_init" -> "alltoall"); None: it is none."""
    name = function.removeprefix("MPI_").removesuffix("_c").removesuffix("_init").lower()
    blocking = name.removeprefix("i")
    return blocking if blocking in COLLECTIVES and blocking not in MICROBENCHMARKS else None
