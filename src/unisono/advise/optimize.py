"""The whole cycle, unattended: as-is, profile, measure what the program uses, advise, try, and again from there.

Each step leaves its result in the directory before the next begins, so an interrupted optimization goes on where it
was. Only what a trial proves is kept: predictions choose what to try.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from unisono.advise.advice import Advice, advise, cut_to
from unisono.advise.apply import resolve
from unisono.advise.conclude import conclude, unusable
from unisono.advise.evidence import Evidence, Now
from unisono.advise.gaps import gaps
from unisono.advise.journal import Files, Journal, Round, Trial
from unisono.advise.measuring import Wanted, known, never_launched, unchanged, weights_of
from unisono.advise.mix import Mix, mix_of
from unisono.advise.paired import LEAST_PAIRS
from unisono.advise.replayed import Replays, Subject, matching, replaying, replays, subjects
from unisono.advise.runs import Metric
from unisono.advise.trials import LEAST_SAVING, may_gain, most, opened, prove, worth_a_trial
from unisono.advise.verify import timed_run
from unisono.cmdline.command import Command
from unisono.core.display import percent
from unisono.core.errors import UserError
from unisono.core.language import N_, _, translated
from unisono.core.vocabulary import Case, Condition, Setting
from unisono.machine.description import Machine
from unisono.profile.file import load, save
from unisono.profile.recorded import Profile
from unisono.tuning import read, words, write
from unisono.tuning.contents import Tuning

MOST_ROUNDS = 4
MOST_MEASUREMENTS = 3
"""A round measures so many times at most before it says that too little is known."""
AS_IS_RUNS = 3
_PROFILING = 1.3
"""A profiled run, and reading what it wrote, take this much longer than one as it is."""
_MEASURING = 0.6
"""Of the time that is left beside the trials, measuring may take this part."""
_LEAST_MEASURING = 10.0
"""Seconds below which a study is not worth beginning."""
_GOOD_MEASURING = 30.0
"""Seconds for which a study is worth a second trial, or more pairs of runs than the fewest."""
_REPLAYING = 0.1
"""Of the time that is left, what replaying the program's conditions may take ..."""
_REPLAYING_MOST = 30.0
"""... and seconds."""
_PATIENCE = 10.0
"""A run that takes this many times as long as the program as it is has failed."""


@dataclass(frozen=True)
class World:
    """What the cycle asks of the world; tests give their own."""

    record: Callable[[Command, float], Profile]
    """Profiles one run, within a deadline in seconds."""
    measure: Callable[[Path, Wanted, Mapping[str, float], float, Mapping[Case, Condition]], bool]
    """Measures cases and sizes into a study, with the collectives' weights, within so many seconds, under the program's
    conditions; whether it came to its end."""
    say: Callable[[str], None] = lambda sentence: None
    clock: Callable[[], float] = time.monotonic
    replay: Callable[[Path, Sequence[Subject], float], None] = lambda path, subjects, seconds: None
    """Replays what the program does around its calls into a study, within so many seconds."""


@dataclass
class Optimizer:
    """Runs the cycle for one command line. `budget`: seconds, those of interrupted runs of the driver counted in."""

    journal: Journal
    machine: Machine
    files: Files
    budget: float
    world: World
    timeout: float = math.inf
    """Seconds after which a run has failed, if not before."""
    _began: float = 0.0

    def run(self) -> None:
        """To the end, or until the budget is spent. KeyboardInterrupt passes through; what is done is kept.

        Raises UserError when the program does not run as it is, and when the budget does not even allow for a proof.
        """
        self._began = self.world.clock() - self.journal.spent
        self._reopen()
        try:
            while not self.journal.finished:
                if not self.journal.rounds or self.journal.rounds[-1].ended:
                    self.journal.rounds.append(Round())
                self._round(len(self.journal.rounds), self.journal.rounds[-1])
                last = self.journal.rounds[-1]
                if not last.accepted or len(self.journal.rounds) >= MOST_ROUNDS:
                    self._prove_whole()
                    self.journal.finished = True
                self._keep()
        finally:
            if self.journal.rounds and self.journal.rounds[0].as_is:
                self._keep()
        found = self._known(self.journal.rounds)
        if found is not None and not self.accepted:
            write(unchanged(found[0]), self.files.tuning)

    @property
    def left(self) -> float:
        return self.budget - (self.world.clock() - self._began)

    @property
    def accepted(self) -> list[Round]:
        return [round for round in self.journal.rounds if round.accepted]

    def _keep(self) -> None:
        self.journal.spent = self.world.clock() - self._began
        self.journal.save(self.files.journal)

    @property
    def _run_seconds(self) -> float:
        """What a run usually takes; the first alone may have been disturbed."""
        rounds = self.journal.rounds
        trials = [run.seconds for round in rounds for trial in round.trials for run in trial.runs]
        found = [*trials, *(wall for round in rounds for wall in round.walls)]
        return statistics.median(found) if found else self.journal.launch_seconds

    @property
    def _one_trial(self) -> float:
        """Seconds of the shortest proof."""
        return 2 * LEAST_PAIRS * self._run_seconds

    def _reopen(self) -> None:
        """What ended without an answer goes on where a larger budget is given."""
        rounds = self.journal.rounds
        if not (self.journal.finished and rounds and rounds[-1].outcome in ("undecided", "not measured")):
            return
        if self.left < self._one_trial + _LEAST_MEASURING:
            return
        last = rounds[-1]
        # A candidate that was left untried is tried first; else more is measured.
        last.measured = last.outcome == "undecided" and not any(map(may_gain, last.trials))
        last.ended, last.outcome = "", ""
        if last.trials and may_gain(last.trials[-1]):
            last.trials[-1].verdict = ""
        self.journal.finished = False

    # -- one round -----------------------------------------------------------------------------------------------

    def _round(self, number: int, round: Round) -> None:
        line = self._line_now()
        if not round.as_is:
            self._as_is(number, round, line)
        if not round.profile:
            self.world.say(_("Round {number}: profiling").format(number=number))
            made = self.world.record(line, self._deadline)
            made = replace(made, origin=replace(made.origin, as_is=tuple(round.walls)))
            save(made, self.files.profile(number))
            round.profile = self.files.profile(number).name
            self._keep()
        mix = mix_of(load(self.files.directory / round.profile))
        share = mix.measurable
        if share < LEAST_SAVING:
            round.ended = N_("Communication takes {share} of the time: too little for a gain to be seen.").format(
                share=percent(share)
            )
            round.outcome = "nothing"
            return
        if number == 1 and not round.replayed:
            self._replay(round, mix)
        mix = replace(mix, conditions=self._conditions)
        for again in range(MOST_MEASUREMENTS):
            whole = round.measured or self._measure(number, round, mix, again)
            advice = self._advice(mix)
            if advice is None:
                round.ended = N_("None of the calls that the program uses was measured: {more}").format(
                    more=self._more()
                )
                round.outcome = "not measured"
            else:
                self._try(number, round, line, advice)
            over = whole or self.left < _GOOD_MEASURING or again == MOST_MEASUREMENTS - 1
            if round.outcome != "not measured" or over:
                return
            # Not knowing is no answer while there is time to measure: what was kept for trials is spent on it.
            round.measured, round.ended, round.outcome = False, "", ""

    def _as_is(self, number: int, round: Round, line: Command) -> None:
        if number > 1:
            before = self.journal.rounds[number - 2].trials[-1]
            done = [run for run in before.runs if run.tuned and run.value is not None]
            round.as_is = [run.value for run in done if run.value is not None]
            round.walls = [run.seconds for run in done]
            self._keep()
            return
        self.world.say(_("Timing the program as it is"))
        for at in range(AS_IS_RUNS):
            if at > 0 and self._spare < self.journal.launch_seconds:
                break  # the trials' own runs as it is say more than these
            run = timed_run(line, at, False, Metric(self.journal.metric), self._deadline)
            if run.value is None:
                raise unusable(run, None if self.journal.launch_seconds else self.budget, self.timeout)
            if at == 0:
                self.journal.launch_seconds = run.seconds
                self._refuse_too_little(run.seconds)
            round.as_is.append(run.value)
            round.walls.append(run.seconds)
        self._keep()

    @property
    def _deadline(self) -> float:
        usual = self.journal.launch_seconds
        return min(self.timeout, max(60.0, _PATIENCE * usual) if usual else self.budget)

    @property
    def _spare(self) -> float:
        """Seconds beside profiling, a good measurement and the shortest proof."""
        return self.left - _PROFILING * self.journal.launch_seconds - self._one_trial - _GOOD_MEASURING

    def _refuse_too_little(self, seconds: float) -> None:
        least = _PROFILING * seconds + self._one_trial + _LEAST_MEASURING
        if least > self.left:
            raise UserError(
                _(
                    "--budget {budget:.0f}s is too short: the program takes {seconds:.3g} s a run, and profiling, "
                    "measuring and proving take at least {least:.0f} s more; a good budget is {good:.0f}m"
                ).format(budget=self.budget, seconds=seconds, least=least, good=4 * least / 60 + 1)
            )
        fit = int((self.left - _PROFILING * seconds) * 0.45 / (2 * seconds))
        self.journal.pairs = max(LEAST_PAIRS, min(self.journal.pairs, fit))

    def _more(self) -> str:
        """What would allow for an answer."""
        spent = self.budget - self.left
        return N_(
            "{spent:.0f} s of the budget of {budget:.0f} s are spent; continue with --resume --budget {more:.0f}m"
        ).format(spent=spent, budget=self.budget, more=2 * max(self.budget, spent) / 60 + 1)

    def _replay(self, round: Round, mix: Mix) -> None:
        """What the program's conditions make of its calls."""
        wanted = subjects(mix)
        seconds = min(_REPLAYING * self.left, _REPLAYING_MOST)
        path = self.files.replayed
        if wanted and self._spare > seconds:
            self.world.say(replaying(wanted))
            self.world.replay(path, wanted, seconds)
        round.replayed = path.name
        self._keep()

    @property
    def _replays(self) -> Replays:
        """Of the first round; nothing where that was not replayed."""
        return replays([self.files.replayed] if self.files.replayed.is_file() else [])

    @property
    def _conditions(self) -> Mapping[Case, Condition]:
        """The program's, as it was in the first round: studies of later ones are to be comparable."""
        first = self.journal.rounds[0]
        if not first.profile:
            return {}
        mix = mix_of(load(self.files.directory / first.profile))
        return {**mix.conditions, **matching(mix, self._replays)}

    def _measure(self, number: int, round: Round, mix: Mix, again: int) -> bool:
        """What of the mix no study of this optimization has measured yet; whether all of it is. `again`: how many times
        there was too little time."""
        before = self._known(self.journal.rounds[: number - 1])
        wanted: Wanted = {gap.case: gap.sizes for gap in gaps(mix, before[1] if before else [])}
        seconds = (self.left - 2 * 2 * self.journal.pairs * self.journal.launch_seconds) * _MEASURING
        if seconds < _GOOD_MEASURING:  # rather fewer pairs, or one trial, than none because nothing was measured
            seconds = max(seconds, min(self.left - self._one_trial, _GOOD_MEASURING))
        if again:
            spare = self.left - self._one_trial
            seconds = spare if spare >= _GOOD_MEASURING else self.left
        whole = not wanted
        if wanted and seconds >= _LEAST_MEASURING:
            path = self.files.study(number)
            if path.name not in round.studies:
                round.studies.append(path.name)
                self._keep()
            what = "; ".join(translated(case) for case in dict.fromkeys(map(str, wanted)))
            self.world.say(
                _("Round {number}: measuring what it uses ({what}), for at most {seconds:.0f} s").format(
                    number=number, what=what, seconds=seconds
                )
            )
            whole = self.world.measure(path, wanted, weights_of(mix), seconds, mix.conditions)
        round.measured = True
        self._keep()
        return whole

    def _studies(self, rounds: Sequence[Round]) -> list[Path]:
        names = [name for round in rounds for name in round.studies]
        return [path for path in (self.files.directory / name for name in names) if path.is_file()]

    def _known(self, rounds: Sequence[Round]) -> tuple[Tuning, list[Evidence]] | None:
        return known(self._studies(rounds))

    def _advice(self, mix: Mix) -> Advice | None:
        found = self._known(self.journal.rounds)
        return None if found is None else advise(mix, *found, now=self._now(), replayed=self._replays)

    def _now(self) -> Now:
        return Setting(self.accepted[-1].trials[-1].launch) if self.accepted else None

    def _line_now(self) -> Command:
        if not self.accepted:
            return Command(list(self.journal.argv), {}, None, [])
        return resolve(read(self.files.tuning), self.journal.argv, self.machine)[0]

    # -- trials --------------------------------------------------------------------------------------------------

    def _try(self, number: int, round: Round, line: Command, advice: Advice) -> None:
        tried = {Setting(trial.launch) for trial in round.trials if trial.verdict}
        for prediction in worth_a_trial(advice):
            if prediction.launch in tried:
                continue
            cut = cut_to(advice.tuning, advice.case, prediction)
            tuned = resolve(cut, self.journal.argv, self.machine)[0]
            trial = opened(round, prediction, tuned)
            if not trial.runs:
                if self._one_trial > self.left:
                    round.trials.remove(trial)
                    round.ended = N_("{setting} may be faster, but it was not tried: {more}").format(
                        setting=prediction.launch, more=self._more()
                    )
                    round.outcome = "undecided"
                    return
                self.journal.pairs = max(
                    LEAST_PAIRS, min(self.journal.pairs, int(self.left / self._one_trial * LEAST_PAIRS))
                )
            self.world.say(
                _("Round {number}: trying {setting}").format(number=number, setting=words.launch(prediction.launch))
            )
            self._prove(trial, line, tuned, prediction.launch)
            if self._kept(trial, round, cut):
                return
            if not trial.verdict:
                round.ended = N_("{setting} may be faster, but its trial did not end: {more}").format(
                    setting=prediction.launch, more=self._more()
                )
                round.outcome = "undecided"
                return
        # What is left of the budget goes to those that runs have not decided.
        known = {prediction.launch: prediction for prediction in advice.predictions}
        for trial in sorted(filter(may_gain, round.trials), key=most, reverse=True):
            if (launch := Setting(trial.launch)) in known:
                cut = cut_to(advice.tuning, advice.case, known[launch])
                tuned = resolve(cut, self.journal.argv, self.machine)[0]
                self._prove(trial, line, tuned, launch, patient=True)
                if self._kept(trial, round, cut):
                    return
        conclude(round, advice, never_launched(self._studies(self.journal.rounds)), self._more())

    def _kept(self, trial: Trial, round: Round, cut: Tuning) -> bool:
        """Whether it proved faster; then it is the program's from now on."""
        if trial.verdict != "faster":
            return False
        write(cut, self.files.tuning)
        round.accepted = True
        round.ended = N_("{setting} is faster and is kept.").format(setting=Setting(trial.launch))
        round.outcome = "faster"
        return True

    def _prove(self, trial: Trial, line: Command, tuned: Command, setting: Setting, *, patient: bool = False) -> None:
        tried = self.journal.rounds[-1].trials
        number = tried.index(trial) if trial in tried else 0
        prove(
            trial,
            line,
            tuned,
            setting,
            metric=self.journal.metric,
            pairs=self.journal.pairs,
            seed=len(self.journal.rounds),
            number=number,
            deadline=self._deadline,
            affords=lambda pairs: 2 * pairs * self._run_seconds <= self.left,
            over=lambda: self.left <= 0,
            keep=self._keep,
            patient=patient,
        )

    def _prove_whole(self) -> None:
        """Several rounds are proven step by step; the sum is proven once more, when there is time."""
        if len(self.accepted) < 2 or 2 * self.journal.pairs * self.journal.launch_seconds > self.left:
            return
        self.world.say(
            _("Proving the whole result: the program as it was against the program with everything that was kept")
        )
        as_was = Command(list(self.journal.argv), {}, None, [])
        now = self._line_now()
        last = self.accepted[-1].trials[-1]
        if self.journal.whole is None:
            self.journal.whole = Trial(launch=last.launch, predicted=(0.0, 0.0, 0.0), command=now.shell)
        self._prove(self.journal.whole, as_was, now, Setting(last.launch))
