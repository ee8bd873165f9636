"""Does a tuning help this program? As-is against tuned, in turns: `unisono verify`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from unisono.advise.apply import Progress, resolve
from unisono.advise.paired import LEAST_PAIRS, orders
from unisono.advise.runs import Metric, Run, Verification
from unisono.advise.timed import timed
from unisono.cmdline.command import Command
from unisono.core.errors import UserError
from unisono.core.language import _, translated
from unisono.machine.description import Machine
from unisono.tuning.contents import Tuning

_GIVE_UP = 2
"""Failed runs of the tuned program, with none done, after which the rest is not tried."""


def as_is_and_tuned(
    tuning: Tuning,
    argv: Sequence[str],
    machine: Machine,
    weights: Mapping[str, float] | None = None,
    building: Progress = None,
) -> tuple[Command, Command, dict[str, str]]:
    """For `compare`: the program as it is, with the tuning, and what that sets. `building` gets a sentence before our
    library is built. Raises UserError as advise.apply does."""
    tuned, applied = resolve(tuning, argv, machine, weights, progress=building)
    return Command(list(argv), {}, None, []), tuned, {**applied.plan.launch, **applied.extra_mca}


def compare(
    as_is: Command,
    tuned: Command,
    setting: Mapping[str, str],
    *,
    metric: str | None,
    runs: int,
    deadline: float,
    confidence: float = 0.95,
    seed: int = 0,
    progress: Callable[[Run], None] = lambda run: None,
    earlier: Sequence[Run] = (),
    over: Callable[[], bool] = lambda: False,
) -> Verification:
    """`runs` runs each of two command lines, in turns; `setting` says in what they differ. `deadline` is seconds a run;
    `progress` gets every run as it ends. Runs made `earlier`, by a verification of the same lines that was interrupted,
    are kept and not made again. No pair is begun where the time is `over`.

    Raises UserError as check_asked does, for a metric that never appears, and when the program does not even run as it
    is."""
    wanted = check_asked(metric, runs)
    done: list[Run] = list(earlier)
    made = {(run.pair, run.tuned) for run in done}
    for pair, tuned_first in enumerate(orders(runs, seed)):
        if over():
            break
        for is_tuned in (tuned_first, not tuned_first):
            if (pair, is_tuned) in made:
                continue
            one = timed_run(tuned if is_tuned else as_is, pair, is_tuned, wanted, deadline)
            done.append(one)
            progress(one)
            _give_up_as_is(done)
        if _tuned_is_hopeless(done):
            break
    return Verification(
        metric=wanted.name,
        as_is_command=as_is.shell,
        tuned_command=tuned.shell,
        setting=dict(setting),
        runs=tuple(done),
        confidence=confidence,
        notes=tuple(tuned.notes),
    )


def check_asked(metric: str | None, runs: int) -> Metric:
    """The metric. Raises UserError for fewer than three runs, and for a metric that is no regular expression with one
    group; to be asked before anything is started."""
    if runs < LEAST_PAIRS:
        raise UserError(
            _(
                "--runs: {runs} are too few, because the largest and the smallest are dropped; use {least_pairs} or "
                "more"
            ).format(runs=runs, least_pairs=LEAST_PAIRS)
        )
    return Metric(metric)


def timed_run(line: Command, pair: int, tuned: bool, metric: Metric, deadline: float) -> Run:
    run = timed(line, deadline, metric.of)
    return Run(pair, tuned, run.status, run.reason, run.value, run.seconds)


def _give_up_as_is(done: Sequence[Run]) -> None:
    """Without a first run as it is there is nothing to compare with."""
    as_is = [run for run in done if not run.tuned]
    if len(as_is) == 1 and as_is[0].value is None:
        if as_is[0].status == "no metric":
            raise UserError(
                _("metric: {reason}; run the program once and look at what it prints").format(
                    reason=translated(as_is[0].reason)
                )
            )
        raise UserError(
            _("the program fails by itself, without any setting of Unisono ({status}): {reason}").format(
                status=_(as_is[0].status), reason=translated(as_is[0].reason)
            )
        )


def _tuned_is_hopeless(done: Sequence[Run]) -> bool:
    tuned = [run for run in done if run.tuned]
    return len(tuned) >= _GIVE_UP and all(run.value is None for run in tuned)
