"""Trials of an optimization: which is begun or continued, how many pairs of runs it takes, and what it showed."""

from __future__ import annotations

from collections.abc import Callable

from unisono.advise.advice import Advice
from unisono.advise.journal import Round, Trial
from unisono.advise.predict import Prediction
from unisono.advise.runs import Run, Verification
from unisono.advise.verify import compare
from unisono.cmdline.command import Command
from unisono.core.interval import Interval
from unisono.core.vocabulary import Setting

LOOKS = 3
"""A trial that has shown nothing certain, but that its candidate may be faster, goes on to twice and four times the
pairs, while the budget lasts. Each look has a chance to be wrong, so each takes its share of the doubt (Bonferroni):
the interval at the last one is of CONFIDENCE, however many there were."""
CONFIDENCE = 0.95
FIRST_TRIALS = 3
"""So many candidates of a round are judged with CONFIDENCE. The more are tried, the sooner one wins by luck: each
further as many share half of the doubt that those before them had, so that all have no more than twice that of the
first, however many there are."""
LEAST_SAVING = 0.003
"""Of the program's time: less cannot be told from noise by a handful of runs."""
WORTHWHILE = 0.03
"""A gain that would be welcome: a trial that does not exclude it is no proof that there is none."""
UNLIKE = 0.05
"""Of the program's time: where more of it is in calls that are not like the benchmark's, predictions say little."""


def worth_a_trial(advice: Advice) -> list[Prediction]:
    """What is likely to save; behind it what may save as much as would be welcome, or anything at all where the
    benchmark's calls are not like the program's: only the program can say."""
    likely = [p for p in advice.candidates if p.saving.mid >= LEAST_SAVING and p.launch != advice.now]
    least = 0.0 if advice.unlike > UNLIKE else WORTHWHILE
    return likely + [p for p in advice.others if p not in likely and p.saving.high > least]


def confidence(number: int) -> float:
    """Of a look at candidate `number` of a round, from 0."""
    return 1 - (1 - CONFIDENCE) / LOOKS / (1 << number // FIRST_TRIALS)


def prove(
    trial: Trial,
    line: Command,
    tuned: Command,
    setting: Setting,
    *,
    metric: str | None,
    pairs: int,
    seed: int,
    deadline: float,
    number: int,
    affords: Callable[[int], bool],
    over: Callable[[], bool],
    keep: Callable[[], None],
    patient: bool = False,
) -> None:
    """Runs `line` and `tuned` in `pairs`, and in more while the trial is in doubt and the budget `affords` so many:
    while the candidate seems faster, and where `patient` also while it may be, by as much as would be welcome.
    `number`: which candidate of its round it is, from 0. Each run is kept (`keep`) as it ends; the verdict is set last,
    and can be had again from all runs. Where the budget is `over` before there are enough pairs, there is none."""

    def kept(run: Run) -> None:
        trial.runs.append(run)
        keep()

    def look(at: int) -> Verification:
        whole = pairs << at
        return compare(
            line,
            tuned,
            dict(setting),
            metric=metric,
            runs=whole,
            deadline=deadline,
            confidence=confidence(number),
            seed=seed,
            progress=kept,
            earlier=[run for run in trial.runs if run.pair < whole],
            over=over,
        )

    found = look(0)
    if found.gain is None and len(found.runs) < 2 * pairs and over():
        return
    for at in range(1, LOOKS):
        if found.verdict != "no difference" or found.gain is None or not affords(pairs << (at - 1)):
            break
        if not (found.gain.mid > 1 + LEAST_SAVING or (patient and found.gain.high > 1 + WORTHWHILE)):
            break
        found = look(at)
    # Not saved before what follows from it is.
    _conclude(trial, found)


def opened(round: Round, prediction: Prediction, tuned: Command) -> Trial:
    """The trial of this candidate that was interrupted, or a new one."""
    for trial in round.trials:
        if not trial.verdict and Setting(trial.launch) == prediction.launch:
            round.trials = [*(other for other in round.trials if other is not trial), trial]
            return trial
    saving = prediction.saving
    trial = Trial(
        launch=dict(prediction.launch),
        predicted=(saving.mid, saving.low, saving.high),
        predictable=prediction.predictable,
        command=tuned.shell,
    )
    round.trials = [*(trial for trial in round.trials if trial.verdict or trial.runs), trial]
    return trial


def most(trial: Trial) -> float:
    """as-is / tuned at the best that its runs allow for; 1 where it fails."""
    return trial.gain[2] if trial.gain is not None and trial.verdict == "no difference" else 1.0


def may_gain(trial: Trial) -> bool:
    return most(trial) > 1 + WORTHWHILE


def _conclude(trial: Trial, found: Verification) -> None:
    trial.verdict = found.verdict
    trial.improvement = found.improvement
    gain: Interval | None = found.gain
    trial.gain = None if gain is None else (gain.mid, gain.low, gain.high)
