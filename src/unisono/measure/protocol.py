"""What the native benchmark says: one JSON object a line behind "@U ", as types.

Everything else on its standard output is noise (libraries print there) and ignored. See native/bench/README.md for
the protocol itself. Raises LaunchError "protocol" for a line that claims to be an answer and is not one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, ValidationError

from unisono.core.errors import LaunchError
from unisono.core.language import N_
from unisono.core.quantiles import quantiles
from unisono.core.toml import key_words

PROTOCOL = 1
_MARK = "@U "
_TRIM = 0.1
"""Share of repetitions dropped at each end for the trimmed mean."""

REFUSALS = (
    N_("{use} does not apply to this size"),
    N_("{use} cannot serve {collective} on these ranks"),
    N_("memory: needs {needed} of {available} bytes available on a node"),
    N_("deadline: no time was left to measure it"),
    N_("noise: in none of {count} repetitions did all ranks start together"),
    N_("wrong result on rank {rank}: {what}"),
)
"""What the benchmark refuses with, in its own words: for the catalogue."""

Answer = Mapping[str, Any]


class _Message(BaseModel):
    model_config = ConfigDict(extra="allow", frozen=True, strict=True)


class Place(_Message):
    """Where one rank runs, by its own account."""

    rank: int
    host: str
    node: int
    cpus: list[int]
    """The CPUs it may use: its affinity mask."""
    numa: list[int]
    pid: int


class Hello(_Message):
    """What the benchmark says when all its ranks are there."""

    protocol: int
    mpi: str
    ranks: int
    nodes: int
    oversubscribed: bool
    sync: Literal["clock", "barrier"]
    where: list[Place]
    memory_available: int
    """Bytes, the least over all nodes, a reserve taken off."""
    mpi_t: bool

    @property
    def document(self) -> dict[str, Any]:
        return self.model_dump()


class _SampleMessage(_Message):
    sample: int
    coll: str
    bytes: int
    reps: int
    discarded: int
    sync: Literal["clock", "barrier"]
    correct: bool | None
    reason: str = ""
    times_ns: list[int]
    entry_spread_ns: int
    inside_ns: int = 0
    loop: int = 0
    loop_ns: float = 0.0


class _RefusedMessage(_Message):
    sample: int
    refused: str


class _AlgorithmMessage(_Message):
    algorithm: str
    coll: str
    segment: int
    meaning: str = ""
    reference: str = ""


@dataclass(frozen=True)
class OwnAlgorithm:
    """One of our own algorithms that can serve the ranks of a launch."""

    collective: str
    name: str
    """Without the collective: "pull"."""
    segment: int = 0
    """Bytes it cuts messages into unless told otherwise; 0: it has no segments."""
    meaning: str = ""
    reference: str = ""


class Rate(_Message):
    """GB/s (1e9 bytes a second) at one size: one rank alone, all together, all together within their own memories (None
    between nodes, and where an earlier version measured)."""

    bytes: int
    gbps_one: float
    gbps_all: float
    gbps_own: float | None = None


class Link(_Message):
    """Messages between the first two nodes: half a round trip of one byte; what each short message more takes of those
    that a rank sends and receives at once, None where an earlier version measured; rates of one pair of ranks, and of
    as many pairs as both nodes have, each way."""

    latency_ns: float
    message_ns: float | None = None
    bandwidth: list[Rate]


class Limits(_Message):
    """What the machine itself can do between the ranks of one node; `unavailable` says why nothing was measured."""

    unavailable: str | None = None
    latency_ns: float | None = None
    """One way, between the quickest two cores."""
    flags_ns: float | None = None
    """All ranks of the node hear of all."""
    pairs: list[tuple[int, int, float]] = []
    """Two local ranks and the one-way latency between their cores, ns."""
    copy_rates: list[Rate] = []
    """Copying what a neighbour has just written into one's own memory."""
    link: Link | None = None

    @property
    def document(self) -> dict[str, Any]:
        """As the benchmark printed it."""
        document = self.model_dump(exclude_none=True, mode="json")
        document["copy"] = document.pop("copy_rates")
        return document


@dataclass(frozen=True, slots=True)
class Between:
    """Half round trips between two nodes, seconds: of one byte and of a large message, the shortest and the median."""

    first: int
    second: int
    latency: float
    latency_median: float
    large: float
    large_median: float


@dataclass(frozen=True, slots=True)
class Computed:
    """A chunk of work on a node's processor, seconds: the shortest and the median, and of the processor's own time."""

    shortest: float
    median: float
    processor: float


class _BetweenMessage(_Message):
    fabric: list[list[int]]


class _ComputedMessage(_Message):
    compute: list[list[int]]


@dataclass(frozen=True)
class Timing:
    """The repetitions of one setting; times in seconds, `raw` in nanoseconds as measured and in order.

    When `refused` is set nothing was measured and the statistics must not be asked for.
    """

    id: int
    collective: str = ""
    size: int = 0
    discarded: int = 0
    sync: str = "clock"
    correct: bool | None = None
    reason: str = ""
    """What was wrong with the result when `correct` is False."""
    entry_spread: float = 0.0
    """Median over repetitions of last entry - first entry."""
    inside: float = 0.0
    """Seconds that a rank was inside the operation: mean over ranks and repetitions."""
    loop: int = 0
    """Calls right after one another, without synchronisation, besides; 0: none."""
    loop_mean: float = 0.0
    """Seconds each of these took on the slowest rank."""
    refused: str | None = None
    raw: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    @property
    def repetitions(self) -> int:
        return int(self.raw.size)

    @cached_property
    def _sorted(self) -> NDArray[np.float64]:
        return np.sort(self.raw).astype(np.float64) * 1e-9

    @cached_property
    def _quantiles(self) -> tuple[float, ...]:
        return quantiles(self._sorted, (0.25, 0.5, 0.75, 0.95))

    @property
    def minimum(self) -> float:
        return float(self._sorted[0])

    @property
    def q1(self) -> float:
        return self._quantiles[0]

    @property
    def median(self) -> float:
        return self._quantiles[1]

    @property
    def q3(self) -> float:
        return self._quantiles[2]

    @property
    def p95(self) -> float:
        return self._quantiles[3]

    @property
    def mean(self) -> float:
        return float(self._sorted.mean())

    @property
    def trimmed(self) -> float:
        """Mean without the fastest and the slowest tenth (each rounded down)."""
        drop = int(_TRIM * self._sorted.size)
        return float(self._sorted[drop : self._sorted.size - drop].mean())


def parse_line(line: str) -> Answer | None:
    """The object of an answer, None for a line that is none."""
    if not line.startswith(_MARK):
        return None
    try:
        answer = json.loads(line[len(_MARK) :])
    except (ValueError, RecursionError) as error:
        raise _garbage(line, N_("it is not JSON: {error}").format(error=error)) from None
    if not isinstance(answer, dict):
        raise _garbage(line, N_("it is not an object"))
    return answer


_M = TypeVar("_M", bound=_Message)


def _typed(kind: type[_M], answer: Answer) -> _M:
    try:
        return kind.model_validate(answer)
    except ValidationError as error:
        first = error.errors()[0]
        key = key_words(first["loc"])
        raise _garbage(json.dumps(answer), f"{key}: {first['msg']}") from None


def parse_hello(answer: Answer) -> Hello:
    hello = _typed(Hello, answer)
    if hello.protocol != PROTOCOL:
        raise LaunchError(
            "protocol",
            N_("the benchmark speaks protocol {protocol}, this is {protocol2}: rebuild it").format(
                protocol=hello.protocol, protocol2=PROTOCOL
            ),
        )
    if len(hello.where) != hello.ranks:
        raise LaunchError(
            "protocol", N_("{ranks} ranks but {count} places").format(ranks=hello.ranks, count=len(hello.where))
        )
    return hello


def parse_sample(answer: Answer) -> Timing:
    if "refused" in answer:
        refusal = _typed(_RefusedMessage, answer)
        return Timing(refusal.sample, refused=refusal.refused)
    sample = _typed(_SampleMessage, answer)
    if sample.reps != len(sample.times_ns) or sample.reps == 0:
        raise LaunchError(
            "protocol",
            N_("{reps} repetitions announced, {count} times given").format(
                reps=sample.reps, count=len(sample.times_ns)
            ),
        )
    try:
        raw = np.array(sample.times_ns, dtype=np.int64)
    except OverflowError:
        raise LaunchError("protocol", N_("a time does not fit 64 bits")) from None
    return Timing(
        id=sample.sample,
        collective=sample.coll,
        size=sample.bytes,
        discarded=sample.discarded,
        sync=sample.sync,
        correct=sample.correct,
        reason=sample.reason,
        entry_spread=sample.entry_spread_ns * 1e-9,
        inside=sample.inside_ns * 1e-9,
        loop=sample.loop,
        loop_mean=sample.loop_ns * 1e-9,
        raw=raw,
    )


def parse_algorithm(answer: Answer) -> OwnAlgorithm:
    said = _typed(_AlgorithmMessage, answer)
    return OwnAlgorithm(said.coll, said.algorithm, said.segment, said.meaning, said.reference)


def parse_limits(answer: Answer) -> Limits:
    """Also reads what a study stored: `Limits.document` and the benchmark's own line are the same."""
    renamed = {("copy_rates" if key == "copy" else key): value for key, value in answer.items()}
    renamed["pairs"] = [tuple(pair) if isinstance(pair, list) else pair for pair in _list(renamed.get("pairs"))]
    return _typed(Limits, renamed)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _garbage(line: str, why: str) -> LaunchError:
    shown = line if len(line) <= 120 else line[:117] + "..."
    return LaunchError("protocol", N_("the benchmark said {shown!r}; {why}").format(shown=shown, why=why))


def parse_between(answer: Answer, pairs: Sequence[tuple[int, int]]) -> list[Between]:
    rows = _typed(_BetweenMessage, answer).fabric
    if any(len(row) != 6 for row in rows) or [(row[0], row[1]) for row in rows] != list(pairs):
        raise _garbage(json.dumps(answer), N_("not the pairs of nodes that were asked for"))
    return [Between(row[0], row[1], *(nanoseconds * 1e-9 for nanoseconds in row[2:])) for row in rows]


def parse_computed(answer: Answer, nodes: int) -> list[Computed]:
    rows = _typed(_ComputedMessage, answer).compute
    if any(len(row) != 4 for row in rows) or [row[0] for row in rows] != list(range(nodes)):
        raise _garbage(json.dumps(answer), N_("not the nodes of this launch"))
    return [Computed(*(nanoseconds * 1e-9 for nanoseconds in row[1:])) for row in rows]
