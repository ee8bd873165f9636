"""A study whose every sample is simulated: the default, and each of our algorithms, once each.

The default is what SimGrid makes of an MPI's own choice (its selector of Open MPI, say). Each smpirun simulates one of
them at all message sizes, the smallest first, so that what is out of reach costs its own deadline alone. A launch of
such a study is everything simulated for one case.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path

from unisono.core.errors import LaunchError, UserError
from unisono.core.language import N_, _
from unisono.core.vocabulary import (
    CALL_SCOPE,
    DEFAULT,
    DISPATCHED,
    EXACT,
    NEIGHBOURHOODS,
    SIMULATED,
    UNISONO,
    WITH_REQUEST,
    Case,
    Setting,
)
from unisono.library.algorithms import rows
from unisono.machine.description import Machine, Scheduler
from unisono.simulate import files
from unisono.simulate.platforms import Platform
from unisono.simulate.programs import simulator
from unisono.simulate.run import Result, Run, end_running
from unisono.study.config import About, Cases, Method, Study
from unisono.study.rows import OBJECT
from unisono.study.store import Statistics, Store

SELECTORS = ("ompi", "mpich", "mvapich2", "impi")
COLLECTIVES = tuple(name for name in DISPATCHED if name not in ("barrier", *NEIGHBOURHOODS, *WITH_REQUEST))
RANKS_MOST = 1 << 14
FLAT_MOST = 2048
"""Ranks of an alltoall: beyond, the messages of the default alone, one for each pair of ranks, are too many."""
_APART = "simulated apart"
"""Kept with a study: which algorithms do not apply to its ranks."""
_LATE = re.compile(r"not simulated within \S+ s|said nothing within \S+ s")
"""Why something was left out that more time would give; the second form is that of earlier studies."""
_DEFAULT = "smpi"
"""What native/simulate calls the simulator's own."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be simulated."""

    platform: Platform
    nodes: tuple[int, ...]
    ppn: int
    collectives: tuple[str, ...]
    sizes: tuple[int, ...]
    algorithms: tuple[str, ...] = ()
    """Of ours; none: all."""
    selector: str = "ompi"
    deadline: float = field(default=60.0, compare=False)
    """Seconds of this machine for each smpirun."""

    def __post_init__(self) -> None:
        for nodes in self.nodes:
            ranks = nodes * self.ppn
            if not 2 <= ranks <= RANKS_MOST:
                raise UserError(
                    _("{ranks} ranks: from 2 to {most} can be simulated").format(ranks=ranks, most=RANKS_MOST)
                )
            for name in self.collectives:
                if name.startswith("alltoall") and ranks > FLAT_MOST:
                    raise UserError(
                        _(
                            "{collective} on {ranks} ranks: its default sends {messages:,} messages, which are "
                            "too many for SimGrid; simulate at most {most} ranks. "
                            "benchmarks/collectives_simulated.py --part alltoall counts what a torus's links "
                            "carry instead"
                        ).format(collective=name, ranks=ranks, messages=ranks * (ranks - 1), most=FLAT_MOST)
                    )
        if max(self.nodes) > 1 and self.platform.bandwidth.source.startswith("none"):
            raise UserError(
                _("--nodes {nodes}: the platform {name} describes no network between nodes ({why})").format(
                    nodes=max(self.nodes), name=self.platform.name, why=self.platform.bandwidth.source
                )
            )
        if self.ppn > self.platform.cores:
            raise UserError(
                _("--ppn {ppn}: {name} has nodes of {cores} cores").format(
                    ppn=self.ppn, name=self.platform.name, cores=self.platform.cores
                )
            )
        known = {name for collective in self.collectives for name in ours(collective)}
        for name in self.algorithms:
            if name not in known:
                raise UserError(
                    _("--algorithm {name}: ours are {known}").format(name=name, known=", ".join(sorted(known)))
                )

    @property
    def cases(self) -> list[Case]:
        return [Case(collective, nodes, self.ppn) for nodes in self.nodes for collective in self.collectives]

    def sizes_of(self, collective: str) -> list[int]:
        """Vectors that are reduced are whole numbers of 8 bytes."""
        step = 8 if "reduce" in collective else 1
        return sorted({max(step, -(-size // step) * step) for size in self.sizes})

    def settings(self, collective: str) -> list[Setting]:
        """The default first."""
        names = [name for name in ours(collective) if not self.algorithms or name in self.algorithms]
        return [DEFAULT, *(Setting({"coll": UNISONO, "algorithm": name}) for name in names)]

    @property
    def kept(self) -> dict[str, object]:
        """What a study keeps of it, to know it again."""
        return {
            "platform": files.text(self.platform), "nodes": list(self.nodes), "ppn": self.ppn,
            "collectives": list(self.collectives), "sizes": list(self.sizes), "algorithms": list(self.algorithms),
            "selector": self.selector,
        }  # fmt: skip


def ours(collective: str) -> list[str]:
    """Our algorithms for it, without its name."""
    found = [name.removeprefix(f"{collective}_") for name in rows() if name.startswith(f"{collective}_")]
    longer = [name.removeprefix(f"{collective}_") for name in DISPATCHED if name.startswith(f"{collective}_")]
    return [name for name in found if not any(name.startswith(f"{other}_") for other in longer)]


def begin(path: Path, wanted: Wanted) -> Store:
    """A new study. Raises UserError as `Store.create` does."""
    platform = wanted.platform
    study = Study(
        study=About(name=N_("{name}, simulated").format(name=platform.name), source=platform.source),
        cases=Cases(collectives=list(wanted.collectives), nodes=list(wanted.nodes), ppn=[wanted.ppn]),
        method=Method(),
    )
    store = Store.create(
        path,
        name=study.study.name,
        config=study.model_dump_json(by_alias=True),
        method=SIMULATED,
        machine=machine_of(platform),
        meta={
            "margin": study.method.margin,
            "confidence": study.method.confidence,
            "weights": {},
            "scope": list(CALL_SCOPE),
            SIMULATED: wanted.kept,
        },
    )
    for note in _notes(wanted):
        store.add_note(note)
    return store


def resume(path: Path, wanted: Wanted) -> Store:
    """A study that is there. Raises UserError when it is another."""
    store = Store.open(path, write=True)
    try:
        held = store.value_or_none(SIMULATED, OBJECT)
        different = held is None or {key for key, value in wanted.kept.items() if held.get(key) != value}
        if different:
            what = _("it was measured") if held is None else ", ".join(sorted(different))  # type: ignore[arg-type]
            raise UserError(
                _("{path}: holds another study than the one you ask for ({what}); choose another -o DIR").format(
                    path=path, what=what
                )
            )
        store.mark_interrupted()
    except BaseException:
        store.close()
        raise
    return store


def text_of_platform(path: Path) -> str | None:
    """What a study was simulated on, as its file; None of one that was measured."""
    with Store.open(path) as store:
        held = store.value_or_none(SIMULATED, OBJECT)
    found = None if held is None else held.get("platform")
    return found if isinstance(found, str) else None


def machine_of(platform: Platform) -> Machine:
    """Of which nothing is known but its name: what a study says of the machine it was measured on."""
    return Machine(
        name=platform.name,
        source=SIMULATED,
        cpu_model="",
        architecture="",
        cpus=[],
        sockets=0,
        numa_per_socket=0,
        smt=0,
        memory_bytes=0,
        memory_available_bytes=0,
        nodes=[],
        scheduler=Scheduler(name="none"),
    )


def _notes(wanted: Wanted) -> Iterator[str]:
    platform = wanted.platform
    yield N_(
        "Simulated with SimGrid on the platform {name}: nothing was measured. Each setting was simulated once and "
        "would take the same time again, so there are no intervals."
    ).format(name=platform.name)
    yield N_(
        "The default is SimGrid's version of what an MPI chooses by itself (selector {selector}). Its copies and "
        "reductions take no time, but those of our algorithms do."
    ).format(selector=wanted.selector)
    if assumed := [name for name, number in platform.numbers.items() if number.assumed]:
        yield N_("These numbers of {name} are assumed: {numbers}.").format(
            name=platform.name, numbers=", ".join(assumed)
        )
    if platform.left_out:
        yield N_("The description of {name} leaves out: {what}.").format(
            name=platform.name, what="; ".join(platform.left_out)
        )
    if platform.error:
        yield N_("How far this platform's times are from the study it was fitted to: {error}.").format(
            error=platform.error
        )


Progress = Callable[[Case, Setting, float | None], None]
"""Hears of every simulation that has ended: seconds it took here; None: it failed."""


def fill(store: Store, wanted: Wanted, progress: Progress) -> None:
    """Simulates what the study does not have yet, as many at once as there are processors; stored as it comes."""
    simulator()
    try:
        for case in wanted.cases:
            _case(store, wanted, case, progress)
    except BaseException:
        end_running()
        raise


def _case(store: Store, wanted: Wanted, case: Case, progress: Progress) -> None:
    done = {s.setting for s in store.samples() if s.case == case}
    launches = _launches(store, case)
    refused = [r for r in store.refusals() if r.collective == case.collective and r.launch in launches]
    done |= {r.setting for r in refused}
    # What ran into its deadline may end with a longer one, or on a machine with less to do.
    done -= {r.setting for r in refused if _LATE.search(r.reason)}
    done |= {Setting.from_key(key) for key in _apart(store, case)}
    todo = [setting for setting in wanted.settings(case.collective) if setting not in done]
    if not todo:
        return
    # What is compared shares a launch: a study that is continued simulates the default again, to the same times.
    todo = list(dict.fromkeys([DEFAULT, *todo]))
    runs = {setting: _run(wanted, case, setting) for setting in todo}
    line = " ".join(runs[DEFAULT].argv(Path()))
    launch = store.begin_launch(DEFAULT, case.nodes, case.ppn, EXACT, line, False)
    began = time.monotonic()
    status, reason = "interrupted", "the driver stopped"
    try:
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            waiting = {pool.submit(_timed, run, wanted.deadline): setting for setting, run in runs.items()}
            try:
                for future in as_completed(waiting):
                    _keep(store, wanted, launch, case, waiting[future], future.result(), progress)
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                end_running()
                raise
        status, reason = "done", ""
    finally:
        store.end_launch(launch, status, reason, time.monotonic() - began)


def _launches(store: Store, case: Case) -> set[int]:
    return {row.id for row in store.launches() if (row.nodes, row.ppn) == (case.nodes, case.ppn)}


def _apart(store: Store, case: Case) -> list[str]:
    """Keys of the settings that do not apply to a case, as far as known."""
    kept = (store.value_or_none(_APART, OBJECT) or {}).get(str(case), [])
    return [key for key in kept if isinstance(key, str)]


def _run(wanted: Wanted, case: Case, setting: Setting) -> Run:
    return Run(
        wanted.platform.sized(case.nodes),
        case.ppn,
        case.collective,
        [setting.get("algorithm", _DEFAULT)],
        wanted.sizes_of(case.collective),
        selector=wanted.selector,
    )


Outcome = tuple[Sequence[Result], LaunchError | None, float]


def _timed(run: Run, deadline: float) -> Outcome:
    began = time.monotonic()
    try:
        return run.results(deadline), None, time.monotonic() - began
    except LaunchError as error:
        return [], error, time.monotonic() - began


def _keep(
    store: Store, wanted: Wanted, launch: int, case: Case, setting: Setting, outcome: Outcome, progress: Progress
) -> None:
    results, error, seconds = outcome
    late = N_("not simulated within {deadline:g} s").format(deadline=wanted.deadline)
    reason = late if error is None or error.status == "hung" else str(error)
    found = {result.size: result.outcome for result in results}
    with store.together():
        store.forget_refusals(_launches(store, case), case.collective, setting)
        for size in wanted.sizes_of(case.collective):
            if size not in found:
                store.add_refusal(launch, case.collective, size, setting, reason)
            elif isinstance(time_taken := found[size], float) and time_taken > 0:
                store.add_sample(launch, case.collective, size, setting, _statistics(time_taken), b"")
        if any(value is None for value in found.values()):
            every = store.value_or_none(_APART, OBJECT) or {}
            store.set_meta(_APART, {**every, str(case): [*_apart(store, case), setting.key]})
    progress(case, setting, seconds if len(found) == len(wanted.sizes_of(case.collective)) else None)


def _statistics(seconds: float) -> Statistics:
    return Statistics(
        repetitions=1,
        discarded=0,
        sync=SIMULATED,
        minimum=seconds,
        q1=seconds,
        median=seconds,
        q3=seconds,
        p95=seconds,
        mean=seconds,
        trimmed=seconds,
        correct=None,
    )
