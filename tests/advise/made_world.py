"""A world for the cycle of `optimize`: a program whose times are written down beforehand, and its studies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.advise.made import Call, profile
from tests.decide.synthetic import Noise, scaled, study
from tests.tuning.samples import machine
from unisono.advise.journal import Files, Journal, open_journal
from unisono.advise.measuring import Wanted
from unisono.advise.optimize import Optimizer, World
from unisono.cmdline.command import Command
from unisono.core.vocabulary import CALL_SCOPE, Case, Condition, Setting, launch_part
from unisono.profile.recorded import Profile
from unisono.study.store import Statistics, Store

UCX = Setting({"pml": "ucx"})
METRIC = "Time in seconds = *([0-9.]+)"
HERE = machine()


def keep(path: Path, wanted: Wanted, factors: Mapping[Setting, float]) -> None:
    """A study in which settings take so many times as long as the default."""
    meta = {"margin": 0.03, "confidence": 0.95, "weights": {}, "scope": list(CALL_SCOPE)}
    with Store.create(path, name="program", config="{}", method="race", machine=HERE, meta=meta) as store:
        sizes = sorted({size for found in wanted.values() for size in found})
        samples = study(
            scaled(factors), list(factors), cases=list(wanted), sizes=sizes, launches=6, noise=Noise(0.01, 0, 0.003)
        )
        ids: dict[int, int] = {}
        for s in samples:
            if s.launch not in ids:
                ids[s.launch] = store.begin_launch(launch_part(s.setting), s.case.nodes, s.case.ppn, s.round, "", False)
                store.end_launch(ids[s.launch], "done", "", 1.0)
            numbers = (s.repetitions, s.discarded, s.sync, s.minimum, s.q1, s.median, s.q3, s.p95, s.mean, s.trimmed)
            store.add_sample(ids[s.launch], s.case.collective, s.size, s.setting, Statistics(*numbers, True), b"")


@dataclass
class Fake:
    """A world with a program of which 40 % is alltoall. `real`: its time with what changes it (1 without)."""

    folder: Path
    measured: float = 0.6
    """What the benchmark makes of each of `settings`: a factor."""
    real: float = 0.8
    settings: tuple[Setting, ...] = (UCX,)
    """Those that are measured; the program takes `real` with the last."""
    noise: tuple[float, ...] = (1.0,)
    """By what its runs differ, one after the other and again: factors."""
    calls: tuple[Call, ...] = (Call("MPI_Alltoall", ("main", "transpose"), size=1 << 16, time=4.0, waiting=0.2),)
    interrupt: str = ""
    """"profile", "measure" or "trial": where Ctrl-C comes, once."""
    log: list[str] = field(default_factory=list)
    conditions: list[dict[Case, Condition]] = field(default_factory=list)

    def __post_init__(self) -> None:
        launcher = self.folder / "mpirun"
        quick = self.settings[-1]["pml"]
        launcher.write_text(
            f"#!/bin/sh\necho run >> {self.folder}/runs\n"
            f'case "$*" in *"pml {quick}"*) t={self.real};; *) t=1.0;; esac\n'
            f"at=$(($(wc -l < {self.folder}/runs) % {len(self.noise)} + 1))\n"
            f"by=$(echo {' '.join(map(str, self.noise))} | cut -d' ' -f$at)\n"
            'echo "Time in seconds = $(awk "BEGIN { print $t * $by }")"\n'
        )
        launcher.chmod(0o755)
        self.argv = [str(launcher), "-n", "4", "./app"]
        self.files = Files(self.folder / "out")

    @property
    def runs(self) -> int:
        return len((self.folder / "runs").read_text().splitlines())

    def record(self, line: Command, deadline: float) -> Profile:
        self._maybe("profile")
        self.log.append("profile")
        calls = self.calls
        if "ucx" in line.argv:
            calls = tuple(Call(c.function, c.path, c.size, c.calls, 2.0, 0.1) for c in calls)
        return profile(calls, wall=10.0 if "ucx" not in line.argv else 8.0)

    def measure(
        self,
        path: Path,
        wanted: Wanted,
        weights: Mapping[str, float],
        seconds: float,
        conditions: Mapping[Case, Condition],
    ) -> bool:
        self.conditions.append(dict(conditions))
        self.log.append(f"measure {', '.join(map(str, wanted))}")
        assert seconds > 0
        keep(path, wanted, dict.fromkeys(self.settings, self.measured))
        self._maybe("measure")
        return True

    def say(self, sentence: str) -> None:
        if "trying" in sentence:
            self._maybe("trial")

    def _maybe(self, where: str) -> None:
        if self.interrupt == where:
            self.interrupt = ""
            raise KeyboardInterrupt

    def optimize(self, *, budget: float = 100.0, resume: bool = False, pairs: int = 3) -> Journal:
        journal = open_journal(self.files, self.argv, HERE, metric=METRIC, pairs=pairs, resume=resume)
        world = World(self.record, self.measure, self.say)
        Optimizer(journal, HERE, self.files, budget, world).run()
        return journal
