"""Collectives on a simulated machine: one smpirun, with a deadline."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from unisono.core.errors import LaunchError, UserError
from unisono.core.language import N_, _
from unisono.simulate.platforms import Platform
from unisono.simulate.programs import simulator

# Acknowledgements of TCP do not belong on these networks. One copy of the static variables for all ranks saves memory,
# and our code is made for it. A test is free: SimGrid's own charge grows with all tests of all ranks.
OPTIONS = (
    "--log=root.thres:critical",
    "--cfg=smpi/simulate-computation:no",
    "--cfg=smpi/privatization:no",
    "--cfg=network/crosstraffic:0",
    "--cfg=smpi/test:0",
    "--cfg=contexts/stack-size:128",
    "--cfg=smpi/shared-malloc-blocksize:67108864",  # thousands of ranks have a mapping for each block
)


_CHEAP = {
    "allgather": "GB",
    "allreduce": "redbcast",
    "barrier": "ompi_tree",
    "bcast": "binomial_tree",
    "gather": "ompi_binomial",
    "reduce": "binomial",
}
"""What communicators are made with: few messages at a time, which is what a simulation's time depends on."""


_running: set[int] = set()
"""Process groups of simulations under way, in whatever thread."""


def end_running() -> None:
    """Ends all simulations under way: their callers get LaunchError."""
    for group in list(_running):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)


@dataclass(frozen=True, slots=True)
class Loads:
    """Bytes that go from node to node."""

    link: float
    """On the fullest link, in one direction; routes are SimGrid's."""
    node: float
    """That the fullest node sends, or receives."""
    all: float
    """Of all nodes together."""


@dataclass(frozen=True, slots=True)
class Result:
    """`outcome`: seconds, loads, or "right", "WRONG"; None when the algorithm does not apply."""

    collective: str
    algorithm: str
    size: int
    outcome: float | str | Loads | None


@dataclass(frozen=True, slots=True)
class Run:
    """One collective, algorithms of ours (or "all", "smpi"), sizes in bytes, ranks in blocks of `ppn`."""

    platform: Platform
    ppn: int
    collective: str
    algorithms: Sequence[str]
    sizes: Sequence[int]
    check: bool = False
    count: bool = False
    """What the links of the platform carry (`Loads`), instead of how long it takes; of algorithms of ours. Messages are
    handed over at once and take no time, so this goes further than a simulation."""
    cost: bool = False
    """What our cost models say, in seconds, instead of how long it takes; of algorithms of ours."""
    selector: str = "ompi"
    """Whose choice "smpi" follows: ompi, mpich, mvapich2, impi."""
    smpi: Mapping[str, str] | None = None
    """Collective -> the simulator's algorithm for it, before the selector."""
    shared: bool = True
    """Whether processes of a node share memory; else they send messages there too, as where sharing is impossible."""

    free_copies: bool = False
    """Copies and combining cost nothing, as SimGrid charges nothing for those of its own algorithms."""
    options: Sequence[str] = ()
    """Further options of smpirun: what if SimGrid counted otherwise?"""

    def argv(self, folder: Path) -> list[str]:
        # The simulator's own algorithms take part under "smpi" only, where no communicators are made first.
        setup = {c: name for c, name in _CHEAP.items() if c != self.collective or self.check or not self._is_its_own}
        chosen = [f"--cfg=smpi/{collective}:{name}" for collective, name in {**setup, **(self.smpi or {})}.items()]
        ranks = self.platform.nodes * self.ppn
        where = ["-np", str(ranks), "-platform", str(folder / "platform.xml"), "-hostfile", str(folder / "hosts")]
        rate = "0" if self.free_copies else f"{self.platform.copy.value:.0f}"
        flag = f"{self.platform.flag.value:g}" if self.shared else "0"
        fabric = [f"{number.value:g}" for number in (self.platform.bandwidth, self.platform.start)]
        fabric = [f"{self.platform.far:g}:{self.platform.near:g}", *fabric]
        what = [self._mode, rate, flag, *fabric, self.collective, ",".join(self.algorithms)]
        options = [*OPTIONS, *self.platform.options(), *self.options]
        return ["smpirun", *where, *options, f"--cfg=smpi/coll-selector:{self.selector}", *chosen, *what]

    @property
    def _mode(self) -> str:
        return "check" if self.check else "cost" if self.cost else "count" if self.count else "time"

    @property
    def _is_its_own(self) -> bool:
        return "smpi" in self.algorithms

    def results(self, deadline: float = 300.0) -> list[Result]:
        """What was printed before the deadline; in seconds of ours.

        Raises LaunchError "hung" when that is nothing, or "crashed"; UserError when SimGrid is missing.
        """
        program = simulator()
        with tempfile.TemporaryDirectory(prefix="unisono-simulate-") as name:
            folder = Path(name)
            self.platform.write(folder, self.ppn)
            env = {key: value for key, value in os.environ.items() if not key.startswith("UNISONO_")}
            if self.options:  # some are only for short messages that SimGrid itself lets go, such as smpi/or
                env["UNISONO_SIMULATOR_SENDS"] = "1"
            if self.platform.kind == "torus":
                env["UNISONO_TOPOLOGY"] = str(folder / "coordinates")
            argv = self.argv(folder)
            at = argv.index(self._mode)
            argv = [*argv[:at], str(program), *argv[at:], *map(str, self.sizes)]
            return read(output_of(argv, env, folder, deadline))


def output_of(argv: list[str], env: Mapping[str, str], folder: Path, deadline: float) -> str:
    """Of smpirun; what there was by the deadline. Raises LaunchError when that is nothing, or when it failed."""
    with subprocess.Popen(
        argv, env=env, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    ) as process:
        _running.add(process.pid)
        try:
            stdout, stderr = process.communicate(timeout=deadline)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            stdout, _stderr = process.communicate()
            if "@" in stdout:
                return stdout.rpartition("\n")[0]
            raise LaunchError(
                "hung", N_("the simulation said nothing within {deadline:g} s").format(deadline=deadline)
            ) from None
        finally:
            _running.discard(process.pid)
            if process.returncode is None:  # a Ctrl-C reaches the caller alone, as this has a session of its own
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
    if process.returncode:
        last = (stderr.strip().splitlines() or [N_("no word")])[-1]
        raise LaunchError(
            "crashed",
            N_("smpirun ended with status {returncode}: {last}").format(returncode=process.returncode, last=last[:300]),
        )
    return stdout


def read(output: str) -> list[Result]:
    """What the program printed."""
    results = []
    for line in output.splitlines():
        words = line.split()
        if words[:1] != ["@"]:
            continue
        if len(words) != 5:
            raise UserError(_("not a line of the simulator: {line!r}").format(line=line))
        _word, collective, algorithm, size, outcome = words
        results.append(Result(collective, algorithm, int(size), _outcome(outcome)))
    return results


def _outcome(word: str) -> float | str | Loads | None:
    if word == "no":
        return None
    if word in ("right", "WRONG"):
        return word
    return Loads(*map(float, word.split(":"))) if ":" in word else float(word)
