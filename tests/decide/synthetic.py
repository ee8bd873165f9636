"""Measurements of machines that never were: known landscapes under noise like that of real launches.

`study` measures every setting as often as asked; `Bench` measures on demand, as a race does. Both are deterministic
in their seed. Times are true time x round (drift) x launch x (launch, size) x sample effects, all log-normal or with
Student tails, and sometimes an outlier, always slow, as on real machines.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from unisono.core.vocabulary import CALL_SCOPE, DEFAULT, Case, Sample, Setting, launch_part
from unisono.machine.description import Cpu, Machine, Mpi, Node
from unisono.study.data import StudyData

Landscape = Callable[[Case, int, Setting], float]
"""The true time in seconds of a setting for one (case, message size)."""

SIZES = tuple(1 << power for power in range(3, 21))


@dataclass(frozen=True)
class Noise:
    """Standard deviations of the logarithm (0.03: 3 %), and probabilities."""

    launch: float = 0.03
    """Common to everything in one launch."""
    size: float = 0.0
    """Of one size in one launch, common to its settings."""
    sample: float = 0.01
    drift: float = 0.0
    """Of one round, common to its launches."""
    tails: float | None = None
    """Degrees of freedom of Student tails; None for normal ones."""
    outlier_launches: float = 0.0
    """Probability that a whole launch is slow..."""
    outlier_samples: float = 0.0
    """... or a single sample."""
    outlier: float = 0.4
    """Mean of how much slower (log, beyond 0.1)."""

    def draw(self, rng: np.random.Generator, deviation: float, count: int | None = None) -> float | np.ndarray:
        if self.tails is None:
            return rng.normal(0.0, deviation, count)
        return rng.standard_t(self.tails, count) * deviation / math.sqrt(self.tails / (self.tails - 2))

    def slow(self, rng: np.random.Generator, probability: float) -> float:
        return 0.1 + rng.exponential(self.outlier) if rng.random() < probability else 0.0


@dataclass
class Bench:
    """Measures on demand; `samples` and `launches` count what it was asked for."""

    landscape: Landscape
    noise: Noise = field(default_factory=Noise)
    seed: int = 0
    launches: int = 0
    samples: int = 0

    def __post_init__(self) -> None:
        self._rng = np.random.default_rng(self.seed)
        self._drift: dict[int, float] = {}

    def launch(
        self, round: int, items: Iterable[tuple[Case, int, Sequence[Setting]]], wrong: Iterable[Setting] = ()
    ) -> list[Sample]:
        """One launch: every (case, size) with the settings measured in it, which share the launch's fate."""
        rng, noise = self._rng, self.noise
        self.launches += 1
        number = self.launches
        if round not in self._drift:
            self._drift[round] = float(noise.draw(rng, noise.drift))
        common = self._drift[round] + float(noise.draw(rng, noise.launch)) + noise.slow(rng, noise.outlier_launches)
        bad = set(wrong)
        found = []
        for case, size, settings in items:
            here = common + float(noise.draw(rng, noise.size))
            for setting in settings:
                off = here + float(noise.draw(rng, noise.sample)) + noise.slow(rng, noise.outlier_samples)
                seconds = self.landscape(case, size, setting) * math.exp(off)
                found.append(sample(number, round, case, size, setting, seconds, correct=setting not in bad))
        self.samples += len(found)
        return found


def sample(
    launch: int, round: int, case: Case, size: int, setting: Setting, seconds: float, correct: bool | None = True
) -> Sample:
    """A sample with the quartiles of a quiet machine around `seconds`, which is its median and its mean."""
    return Sample(
        launch=launch,
        round=round,
        case=case,
        size=size,
        setting=setting,
        repetitions=100,
        discarded=1,
        sync="clock",
        minimum=0.95 * seconds,
        q1=0.98 * seconds,
        median=seconds,
        q3=1.03 * seconds,
        p95=1.2 * seconds,
        mean=seconds,
        trimmed=seconds,
        correct=correct,
    )


def study(
    landscape: Landscape,
    settings: Sequence[Setting] | Mapping[str, Sequence[Setting]],
    *,
    cases: Sequence[Case] = (Case("allreduce", 1, 8),),
    sizes: Sequence[int] = SIZES,
    launches: int = 5,
    noise: Noise | None = None,
    scope: Sequence[str] = CALL_SCOPE,
    seed: int = 0,
    wrong: Iterable[Setting] = (),
) -> list[Sample]:
    """Every setting (per collective, when a mapping) at every size, `launches` rounds, call scope inside launches."""
    bench = Bench(landscape, noise or Noise(), seed)
    order = np.random.default_rng(seed + 1)
    of = settings if isinstance(settings, Mapping) else {case.collective: settings for case in cases}
    parts = list(dict.fromkeys(launch_part(s, scope) for case in cases for s in [DEFAULT, *of[case.collective]]))
    together: dict[tuple[str, Setting], list[Setting]] = defaultdict(list)
    for collective, own in of.items():
        for setting in dict.fromkeys([DEFAULT, *own]):
            together[collective, launch_part(setting, scope)].append(setting)
    found = []
    for round in range(1, launches + 1):
        for index in order.permutation(len(parts)):
            items = [(case, size, together[case.collective, parts[index]]) for case in cases for size in sizes]
            found += bench.launch(round, items, wrong)
    return found


def flat(case: Case, size: int, setting: Setting) -> float:
    """Nothing matters: the same curve under every name (an A/A study)."""
    return 1.5e-6 * math.log2(case.ranks) + size * 2e-10


def scaled(factors: Mapping[Setting, float | Mapping[int, float]]) -> Landscape:
    """`flat`, with some settings slower by a factor (below 1: faster), at all sizes or at the sizes named."""

    def seconds(case: Case, size: int, setting: Setting) -> float:
        factor = factors.get(setting, 1.0)
        return flat(case, size, setting) * (factor.get(size, 1.0) if isinstance(factor, Mapping) else factor)

    return seconds


def random_landscape(seed: int, settings: Iterable[Setting], strength: float = 0.4) -> Landscape:
    """Every value of every parameter has start-up and bandwidth costs of its own, so that curves cross.

    Half of the values of launch-scope parameters do nothing, as most do on real machines. `strength` is the standard
    deviation (log) of what an algorithm or component changes; launch-scope parameters change half as much.
    """
    values = sorted({(name, value) for setting in settings for name, value in setting.items()})
    collectives: dict[str, dict[tuple[str, str], tuple[float, float]]] = {}

    def effects(collective: str) -> dict[tuple[str, str], tuple[float, float]]:
        if collective not in collectives:
            rng = np.random.default_rng([seed, *collective.encode()])
            drawn: dict[tuple[str, str], tuple[float, float]] = {}
            for name, value in values:
                scale = strength if name in CALL_SCOPE else strength / 2
                start, bandwidth = rng.normal(0.08, scale, 2)
                idle = rng.random() < 0.5 and name not in CALL_SCOPE
                drawn[name, value] = (0.0, 0.0) if idle else (float(start), float(bandwidth))
            collectives[collective] = drawn
        return collectives[collective]

    def seconds(case: Case, size: int, setting: Setting) -> float:
        table = effects(case.collective)
        start = sum(table[item][0] for item in setting.items())
        bandwidth = sum(table[item][1] for item in setting.items())
        return 1.5e-6 * math.log2(case.ranks) * math.exp(start) + size * 2e-10 * math.exp(bandwidth)

    return seconds


def settings(thresholds: int = 3, components: int = 2, algorithms: int = 4, pmls: int = 0) -> list[Setting]:
    """A matrix as studies have it: launch-scope values, each alone and with every component and algorithm."""
    launch = [DEFAULT, *(Setting({"UCX_RNDV_THRESH": f"{4 << i}kb"}) for i in range(thresholds))]
    launch += [Setting({"pml": f"pml{i}"}) for i in range(pmls)]
    call = [DEFAULT, *(Setting({"coll": name}) for name in ("han", "basic", "adapt", "xhc")[:components])]
    call += [Setting({"coll": "tuned", "algorithm": f"algorithm{i}"}) for i in range(algorithms)]
    return [outer | inner for outer in launch for inner in call]


def machine(numa_per_socket: int = 1, mpi: str = "5.0.11", name: str = "node") -> Machine:
    """Eight cores in one socket."""
    return Machine(
        name=name,
        cpu_model="A CPU",
        cpus=[Cpu(cpu=core, core=core, numa=core * numa_per_socket // 8, socket=0) for core in range(8)],
        sockets=1,
        numa_per_socket=numa_per_socket,
        smt=1,
        memory_bytes=1 << 34,
        memory_available_bytes=1 << 34,
        nodes=[Node(host="node-1", slots=8)],
        mpi=Mpi(family="openmpi", version=mpi, mpirun="mpirun"),
    )


def study_data(
    samples: Sequence[Sample], *, on: Machine | None = None, name: str = "study", method: str = "race"
) -> StudyData:
    """Samples as the study they come from."""
    return StudyData(
        id=f"{name}-0123456789",
        name=name,
        created="2025-01-01T00:00:00Z",
        method=method,
        margin=0.03,
        confidence=0.95,
        weights={},
        machine=on or machine(),
        samples=tuple(samples),
        launches=(),
        limits={},
        scope=tuple(CALL_SCOPE),
    )
