"""The words of the project as types: collective, case, setting, sample (see docs/words.md)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

from unisono.core.language import N_

COLLECTIVES: dict[str, str] = {
    "allreduce": N_("the whole vector, on every rank"),
    "reduce": N_("the whole vector"),
    "bcast": N_("the whole vector"),
    "allgather": N_("what each rank contributes (per pair)"),
    "allgatherv": N_("what each rank contributes on average (per pair)"),
    "alltoall": N_("what each rank sends to each other (per pair)"),
    "alltoallv": N_("what each rank sends to each other on average (per pair)"),
    "alltoallw": N_("what each rank sends to each other, in parts of 64 bytes with gaps (per pair)"),
    "gather": N_("what each rank contributes (per pair)"),
    "gatherv": N_("what each rank contributes on average (per pair)"),
    "scatter": N_("what each rank receives (per pair)"),
    "scatterv": N_("what each rank receives on average (per pair)"),
    "reduce_scatter": N_("the whole vector"),
    "reduce_scatter_block": N_("what each rank receives (per pair)"),
    "scan": N_("the whole vector"),
    "exscan": N_("the whole vector"),
    "neighbor_allgather": N_("what each rank sends to each of its up to 6 neighbours in a grid of ranks"),
    "neighbor_allgatherv": N_("what each rank sends on average to each of its up to 6 neighbours in a grid of ranks"),
    "neighbor_alltoall": N_("what each rank sends to each of its up to 6 neighbours in a grid of ranks"),
    "neighbor_alltoallv": N_("what each rank sends on average to each of its up to 6 neighbours in a grid of ranks"),
    "neighbor_alltoallw": N_("what each rank sends to each neighbour in a grid, in parts of 64 bytes with gaps"),
    "barrier": N_("none (0)"),
    "iallgather": N_("what each rank contributes (per pair)"),
    "iallgatherv": N_("what each rank contributes on average (per pair)"),
    "iallreduce": N_("the whole vector, on every rank"),
    "ialltoall": N_("what each rank sends to each other (per pair)"),
    "ialltoallv": N_("what each rank sends to each other on average (per pair)"),
    "ialltoallw": N_("what each rank sends to each other, in parts of 64 bytes with gaps (per pair)"),
    "ibarrier": N_("none (0)"),
    "ibcast": N_("the whole vector"),
    "iexscan": N_("the whole vector"),
    "igather": N_("what each rank contributes (per pair)"),
    "igatherv": N_("what each rank contributes on average (per pair)"),
    "ineighbor_allgather": N_("what each rank sends to each of its up to 6 neighbours in a grid of ranks"),
    "ineighbor_allgatherv": N_("what each rank sends on average to each of its up to 6 neighbours in a grid of ranks"),
    "ineighbor_alltoall": N_("what each rank sends to each of its up to 6 neighbours in a grid of ranks"),
    "ineighbor_alltoallv": N_("what each rank sends on average to each of its up to 6 neighbours in a grid of ranks"),
    "ineighbor_alltoallw": N_("what each rank sends to each neighbour in a grid, in parts of 64 bytes with gaps"),
    "ireduce": N_("the whole vector"),
    "ireduce_scatter": N_("the whole vector"),
    "ireduce_scatter_block": N_("what each rank receives (per pair)"),
    "iscan": N_("the whole vector"),
    "iscatter": N_("what each rank receives (per pair)"),
    "iscatterv": N_("what each rank receives on average (per pair)"),
    "pingpong": N_("one message between rank 0 and the farthest rank"),
    "allreduce5": N_("the whole vector of each of five allreduces in a row; the time is that of one (Nakajima 2009)"),
    "halo26": N_("what each rank sends to each of its up to 26 neighbours in a cube of ranks (Nakajima 2009)"),
    "exchange": N_("what each rank sends to each of its partners: a program's own, else its neighbours in a ring"),
}
"""Every operation that is measured, and what its message size counts (the convention of IMB)."""

MICROBENCHMARKS = ("pingpong", "allreduce5", "halo26", "exchange")
"""No collectives of MPI: measured when asked for, and never weighed against collectives."""


@dataclass(frozen=True, order=True, slots=True)
class Case:
    """One (collective, nodes, processes per node)."""

    collective: str
    nodes: int
    ppn: int

    @property
    def ranks(self) -> int:
        return self.nodes * self.ppn

    def __str__(self) -> str:
        return N_("{collective}, {nodes} x {ppn} ranks").format(
            collective=self.collective, nodes=self.nodes, ppn=self.ppn
        )


@dataclass(frozen=True, order=True, slots=True)
class Condition:
    """What of a program is replayed around a benchmark's calls; nothing of it is the usual condition."""

    cold: str = ""
    """"": buffers stay in the caches; "buffers": they take turns through more than the last-level cache; "caches": all
    caches are emptied before every call, the MPI library's own memory included."""
    late: tuple[float, ...] = ()
    """Seconds after the first at which each rank comes, always; fewer numbers than ranks are shared by neighbours."""
    drawn: float = 0.0
    """Seconds that one rank, another in each repetition, comes later still."""
    seed: int = 1
    """By which that rank is drawn."""
    partners: tuple[tuple[int, int], ...] = ()
    """Who sends to whom in `exchange`: (source, target) of each message of a step."""
    step: tuple[tuple[int, int, int, int, int], ...] = ()
    """What each rank does in a step of `exchange`, in its order: (rank, operation, peer, bytes, tag), as profile.steps
    has them. A sample's size is then that of the largest message."""

    @property
    def key(self) -> str:
        """Canonical JSON of what differs from the usual; "" for that."""
        values = {
            "cold": self.cold,
            "late": list(self.late),
            "drawn": self.drawn,
            "partners": self.partners,
            "step": self.step,
        }
        found = {name: value for name, value in values.items() if value}
        if self.drawn:
            found["seed"] = self.seed
        return json.dumps(found, sort_keys=True, separators=(",", ":")) if found else ""

    @property
    def comes_late(self) -> bool:
        return bool(any(self.late) or self.drawn)

    def __str__(self) -> str:
        parts = {"": [], "buffers": [N_("cold buffers")], "caches": [N_("cold caches")]}[self.cold]
        parts += [N_("late ranks")] if self.comes_late else []
        parts += [N_("the program's partners")] if self.partners else []
        return " and ".join([*parts, *([N_("the program's messages")] if self.step else [])])


USUAL = Condition()
"""All ranks at once, with buffers that stay in the caches."""

PARTNERS_MOST = 512
"""Messages of a step that `exchange` can have (native/bench/partners.h)."""

STEP_MOST = 1024
"""Operations of all ranks in a step that `exchange` can have."""

COLD = ("", "buffers", "caches")


class Setting(Mapping[str, str]):
    """Values for some parameters, hashable, in one canonical order. The empty one is the default setting."""

    def __init__(self, values: Mapping[str, str] | None = None) -> None:
        self._values = {name: str(value) for name, value in sorted((values or {}).items())}

    def __getitem__(self, name: str) -> str:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    @cached_property
    def key(self) -> str:
        """Canonical JSON: equal settings have equal keys, in every study."""
        return json.dumps(self._values, sort_keys=True, separators=(",", ":"))

    @classmethod
    def from_key(cls, key: str) -> Setting:
        return cls(json.loads(key))

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Setting) and self._values == other._values

    def __lt__(self, other: Setting) -> bool:
        return (len(self), self.key) < (len(other), other.key)

    def __or__(self, other: Mapping[str, str]) -> Setting:
        return Setting({**self._values, **other})

    def without(self, *names: str) -> Setting:
        return Setting({name: value for name, value in self._values.items() if name not in names})

    def only(self, *names: str) -> Setting:
        return Setting({name: value for name, value in self._values.items() if name in names})

    @property
    def is_default(self) -> bool:
        return not self._values

    def __str__(self) -> str:
        return ", ".join(f"{name}={value}" for name, value in self._values.items()) or "default"

    __repr__ = __str__


DEFAULT = Setting()

CALL_SCOPE = ("coll", "algorithm", "segment")
"""Parameters that can change between two calls of one launch. Everything else in a setting needs a launch.

`coll` is the preferred component; `algorithm` (by name) and `segment` (bytes) are coll/tuned's and always come
with coll=tuned, ours with coll=unisono, or MPICH's with coll=mpich, which cut no segments. How many of the three an
MPI really switches inside a launch is in `Mpi.call_scope`; ours are always switched inside.
"""

PRELOAD = "preload"
"""The launch-scope parameter that puts a library into the ranks. A plan with preload=unisono may use anything for any
call; one without only what Open MPI's own files can say."""

UNISONO = "unisono"
"""Its value, and that of `coll` for our own collectives."""
LIBRARY_NAME = "libunisono.so"
"""The file of our library that goes into ranks."""

TWO_RANKS = "two_proc"
"""coll/tuned's algorithm that serves two ranks, and fails for others."""

MPICH = "mpich"
"""The value of `coll` for an algorithm of MPICH itself, by the name that its variable takes
(MPIR_CVAR_<COLLECTIVE>_INTRA_ALGORITHM)."""

INTEL = "intel"
"""The value of `coll` for one of Intel MPI's presets; `algorithm` is its number (I_MPI_ADJUST_<COLLECTIVE>). They are
read at the start, so that each needs a launch."""

LIBNBC = "libnbc"
"""The value of `coll` for an algorithm of Open MPI's coll/libnbc (coll_libnbc_<collective>_algorithm). Open MPI's files
name one for all sizes; our library gives each call its own (native/dispatch/libnbc.h)."""

NATIVE = ("tuned", MPICH, INTEL, LIBNBC)
"""The values of `coll` under which an algorithm is the MPI's own, which its files can name."""

LEFT_TO_THE_MPI = (MPICH, INTEL)
"""Those of them that our library leaves to the MPI, which has them from its own files."""

OF_THE_MPI = "algorithm"
"""What comparisons call the algorithms of coll/tuned, as ours are UNISONO and MPICH's are MPICH."""


def whose(setting: Mapping[str, str]) -> str:
    """Whose algorithm serves the call, as comparisons call it: OF_THE_MPI, UNISONO, LIBNBC, MPICH or INTEL."""
    return setting["coll"] if setting.get("coll") in (UNISONO, LIBNBC, *LEFT_TO_THE_MPI) else OF_THE_MPI


NEIGHBOURHOODS = tuple(name for name in COLLECTIVES if name.startswith("neighbor_"))
"""Collectives of ranks with their neighbours in a communicator's topology, that block."""

NONBLOCKING = (
    *("iallgather", "iallgatherv", "iallreduce", "ialltoall", "ialltoallv", "ialltoallw", "ibarrier", "ibcast"),
    *("iexscan", "igather", "igatherv", *(f"i{name}" for name in NEIGHBOURHOODS), "ireduce", "ireduce_scatter"),
    *("ireduce_scatter_block", "iscan", "iscatter", "iscatterv"),
)
"""Nonblocking collectives: what is measured is the call and the wait for it, one after the other."""

PERSISTENT = tuple(f"{name[1:]}_init" for name in NONBLOCKING)
"""Persistent collectives, as the call that makes their request is named: what is measured is a start and the wait for
it, one after the other."""

COLLECTIVES |= {name: COLLECTIVES[name.removesuffix("_init")] for name in PERSISTENT}

WITH_REQUEST = (*NONBLOCKING, *PERSISTENT)
"""The collectives of which a program waits for a request."""

KINDS = {
    "blocking": tuple(name for name in COLLECTIVES if name not in (*MICROBENCHMARKS, *NEIGHBOURHOODS, *WITH_REQUEST)),
    "neighborhood": NEIGHBOURHOODS,
    "nonblocking": NONBLOCKING,
    "persistent": PERSISTENT,
}
"""Words for several collectives at once, where a study names them."""

POSTED_MOST = 32 << 10
"""Bytes that a rank gives at most in a nonblocking or persistent collective that our library serves: a quarter of the
arena in native/collectives/node/posts_memory.c."""


def blocking(collective: str) -> str:
    """The collective that blocks until it is over, and otherwise does the same."""
    return started(collective)[1:] if collective in WITH_REQUEST else collective


def started(collective: str) -> str:
    """Of a persistent collective the nonblocking one, which each of its starts is; others are themselves."""
    return f"i{collective.removesuffix('_init')}" if collective in PERSISTENT else collective


DISPATCHED = (
    *("allgather", "allgatherv", "allreduce", "alltoall", "alltoallv", "alltoallw", "barrier", "bcast", "exscan"),
    *("gather", "gatherv", *NEIGHBOURHOODS, "reduce", "reduce_scatter", "reduce_scatter_block"),
    *("scan", "scatter", "scatterv", *WITH_REQUEST),
)
"""The collectives that our library can give to whatever its rules name (native/collectives/table.c)."""


Level = Literal["runs", "placement", "ranks"]
REPRODUCIBLE: tuple[Level, ...] = get_args(Level)
"""What the results of reductions may be asked not to depend on, each with all before it: who is quick, where ranks are,
how many ranks bring the same numbers (native/dispatch/ordered.h)."""

REPRODUCIBLE_VARIABLE = "UNISONO_REPRODUCIBLE"
"""Says it to our library."""

REDUCTIONS = ("allreduce", "reduce", "reduce_scatter", "reduce_scatter_block")
"""The collectives of which this can be promised."""

COMBINING = (*REDUCTIONS, "scan", "exscan")
"""The collectives that combine elements; their nonblocking and persistent forms do so, too."""

IMPORTED = "imported"
"""The method of a study that other benchmarks measured; how its ranks started together is not known."""

SIMULATED = "simulated"
"""The method of a study that nothing was measured for, and how its ranks started together."""

EXACT = 1 << 20
"""The round of what would be the same in every launch: a simulation's. It has no noise, so it has no intervals. No
study has so many rounds."""

NODES_MOST = 1 << 20
PPN_MOST = 1 << 16
RANKS_MOST = 1 << 24
"""More than any machine has: a number above these is a mistake, or damage, that would only take time and memory."""


def launch_part(setting: Setting, call_scope: Sequence[str] = CALL_SCOPE) -> Setting:
    """What of a setting is fixed when mpirun starts."""
    return setting.without(*_inside(setting, call_scope))


def call_part(setting: Setting, call_scope: Sequence[str] = CALL_SCOPE) -> Setting:
    """What of a setting can be switched inside one launch."""
    return setting.only(*_inside(setting, call_scope))


def _inside(setting: Setting, call_scope: Sequence[str]) -> Sequence[str]:
    if setting.get("coll") == INTEL:
        return ()
    return CALL_SCOPE if call_scope and (is_ours(setting) or of_libnbc(setting)) else call_scope


def as_measured(launch: Setting) -> Setting:
    """The launch part that stands for a plan's in a study: our library leaves alone what it is not told to serve."""
    return launch.without(PRELOAD)


def of_libnbc(setting: Mapping[str, str]) -> bool:
    """Whether an algorithm of coll/libnbc serves the call; the component alone is one like others."""
    return setting.get("coll") == LIBNBC and "algorithm" in setting


def is_ours(setting: Mapping[str, str]) -> bool:
    """Whether one of our own algorithms serves the call."""
    return setting.get("coll") == UNISONO


@dataclass(frozen=True, slots=True)
class Sample:
    """The timings of one (case, message size, setting) in one launch; times in seconds.

    A repetition's time is that of its completion: from the agreed start to the last rank's exit.
    `sync` is "clock" (agreed start time) or "barrier" (more ranks than CPUs). `discarded` counts repetitions
    in which a rank came late. `correct` is False when the result was checked and wrong, None when not checked.
    """

    launch: int
    round: int
    case: Case
    size: int
    setting: Setting
    repetitions: int
    discarded: int
    sync: str
    minimum: float
    q1: float
    median: float
    q3: float
    p95: float
    mean: float
    trimmed: float
    correct: bool | None
    state: float | None = None
    """Nanoseconds the ranks of a node took to reach each other by flags around this sample; None: not known."""
    condition: Condition = USUAL
    inside: float | None = None
    """Seconds a rank was inside the call on average, waiting for late ones included; None: not known."""
