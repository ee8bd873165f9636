"""How a round of an optimization ends in which no candidate proved faster."""

from __future__ import annotations

import math
from collections.abc import Sequence

from unisono.advise.advice import Advice
from unisono.advise.journal import Round
from unisono.advise.runs import Run
from unisono.advise.trials import WORTHWHILE, may_gain, most
from unisono.core.display import percent
from unisono.core.errors import UserError
from unisono.core.language import N_, _, translated
from unisono.core.vocabulary import Setting

UNMEASURED = 0.05
"""Of the program's time: where more of it is in calls that could be measured but were not, nothing is concluded."""

_MOST_SAID = 2.0
"""Where runs allow for a greater gain than this, its size says how much they differ, and nothing of the setting."""


def unusable(run: Run, budget: float | None, timeout: float) -> UserError:
    """Why a run of the program as it is gave no time. `budget`: seconds, where it may be what ended the run; `timeout`:
    seconds after which every run is ended."""
    if run.status == "hung" and run.seconds >= timeout:
        return UserError(
            _(
                "--timeout {timeout:.0f}s: a run of the program as it is had not ended by then; give more, or check "
                "whether the program hangs"
            ).format(timeout=timeout)
        )
    if run.status == "hung" and budget is not None:
        return UserError(
            _(
                "--budget {budget:.0f}s: the time passed before the first run of the program as it is had ended; "
                "give about twenty times the time of one run, or check whether the program hangs"
            ).format(budget=budget)
        )
    return UserError(
        _("the program fails by itself, without any setting of Unisono ({status}): {reason}").format(
            status=_(run.status), reason=translated(run.reason)
        )
    )


def conclude(round: Round, advice: Advice, never: Sequence[str], more: str) -> None:
    """Whether that is an answer. `never`: launch settings that were to be compared and were not launched even once;
    `more` says what would allow for an answer."""
    missing = math.fsum(gap.share for gap in advice.gaps)
    open_ones = [trial for trial in round.trials if may_gain(trial)]
    if open_ones:
        best = max(open_ones, key=most)
        pairs = sum(run.tuned for run in best.runs)
        round.outcome = "undecided"
        said = N_(
            "After {count} pairs of runs {setting} may still be up to {most} faster; runs differ too much to tell. "
            "Continue with --resume and a larger --budget"
        )
        if most(best) > _MOST_SAID:
            said = N_(
                "After {count} pairs of runs {setting} may still be slower, or more than twice as fast; runs differ "
                "too much to tell. Continue with --resume and a larger --budget, on a quieter machine"
            )
        round.ended = said.format(count=pairs, setting=Setting(best.launch), most=percent(most(best) - 1))
    elif missing > UNMEASURED:
        round.outcome = "not measured"
        round.ended = N_("{share} of the time is in calls that were not measured: {more}").format(
            share=percent(missing), more=more
        )
    elif never:
        round.outcome = "not measured"
        said = N_(
            "The time ended before {count} launch settings, the first of them {setting}, were launched at all: {more}"
        )
        if len(never) == 1:
            said = N_("The time ended before one launch setting, {setting}, was launched at all: {more}")
        round.ended = said.format(count=len(never), setting=never[0], more=more)
    elif round.trials:
        round.outcome = "nothing"
        round.ended = N_(
            "No candidate was faster, and the measurements rule out a gain of {worthwhile} or more."
        ).format(worthwhile=percent(WORTHWHILE))
    else:
        round.outcome = "nothing"
        round.ended = N_(
            "According to the measurements, no setting saves {worthwhile} of the program's time or more."
        ).format(worthwhile=percent(WORTHWHILE))
