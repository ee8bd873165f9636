"""What an optimization did, on one page: for people who were not there."""

from __future__ import annotations

import shlex
import statistics
from dataclasses import dataclass
from typing import Any

from unisono.advise.against import against
from unisono.advise.changes import Changes, changes
from unisono.advise.journal import Files, Journal, Outcome, Trial
from unisono.advise.measuring import known
from unisono.advise.mix import Mix, mix_of
from unisono.advise.paired import trimmed_mean
from unisono.advise.replayed import replays
from unisono.advise.said import waiting_words
from unisono.advise.trials import may_gain
from unisono.advise.unknown import outside_sentence
from unisono.core.display import percent, percent_range
from unisono.core.interval import Interval
from unisono.core.language import N_, _, translated
from unisono.core.vocabulary import Setting
from unisono.machine.fingerprint import shown
from unisono.profile.file import load
from unisono.profile.recorded import Profile
from unisono.tuning import read, words

_SPOTS = 6
_ANSWERS = {
    "nothing": N_("Nothing is to be gained: the program stays as it is, at {time}."),
    "undecided": N_("Undecided, nothing is proven: the program stays as it is, at {time}."),
    "not measured": N_("Not measured, so nothing is known: the program stays as it is, at {time}."),
}


@dataclass(frozen=True)
class Story:
    """An optimization as it stands; `finished` is False when it was interrupted."""

    journal: Journal
    files: Files
    profiles: tuple[Profile, ...]
    """One a round, in order; the first is the program as it was."""

    @property
    def proof(self) -> Trial | None:
        """As it was against as it is now: the whole where it was proven, else the only step there was."""
        accepted = [round.trials[-1] for round in self.journal.rounds if round.accepted]
        if self.journal.whole is not None and self.journal.whole.verdict:
            return self.journal.whole
        return accepted[0] if len(accepted) == 1 else None

    @property
    def accepted(self) -> list[Trial]:
        return [round.trials[-1] for round in self.journal.rounds if round.accepted]

    @property
    def outcome(self) -> Outcome:
        """ "" while it goes on."""
        if self.accepted:
            return "faster"
        return self.journal.rounds[-1].outcome if self.journal.rounds and self.journal.finished else ""

    @property
    def headline(self) -> str:
        """The outcome in one sentence."""
        proof = self.proof
        before = statistics.median(self.journal.rounds[0].as_is) if self.journal.rounds else 0.0
        if not self.accepted:
            why = self.journal.rounds[-1].ended if self.journal.rounds else ""
            answer = _ANSWERS.get(self.outcome, N_("Nothing is proven yet: the program stays as it is, at {time}."))
            return f"{_(answer).format(time=f'{before:.4g} s')} {_whole(why)}".rstrip()
        launch = self.accepted[-1].launch
        now = words.launch(Setting(launch)) if launch else _("rules for its collectives")
        if proof is None or proof.gain is None or proof.improvement is None:
            steps = _(" then ").join(f"{t.improvement:+.1%}" for t in self.accepted if t.improvement is not None)
            return _("Faster in {count} proven steps ({steps}), now with {setting}.").format(
                count=len(self.accepted), steps=steps, setting=now
            )
        mid, low, high = proof.gain
        before, after = self._means(proof)
        return _(
            "{improvement} faster with {setting}: {before:.4g} s before, {after:.4g} s after; before / after is "
            "{mid:.3f} ({low:.3f} to {high:.3f} with 95 % confidence)."
        ).format(
            improvement=percent(proof.improvement),
            setting=now,
            before=before,
            after=after,
            mid=mid,
            low=low,
            high=high,
        )

    @property
    def changes(self) -> Changes | None:
        """Calls before and after; None where the last state was not profiled."""
        accepted = len(self.accepted)
        if not accepted or len(self.profiles) <= accepted:
            return None
        tuned = read(self.files.tuning).collectives() if self.files.tuning.is_file() else []
        return changes(self.profiles[:1], self.profiles[accepted : accepted + 1], tuned)

    @property
    def outside(self) -> str:
        """That a gain in wall time is not the program's own, a sentence; "" where it is, or nothing tells."""
        found = self.changes
        if self.journal.metric is not None or self.proof is None or found is None:
            return ""
        before, after = self._means(self.proof)
        return found.outside_sentence(before - after)

    @staticmethod
    def _means(proof: Trial) -> tuple[float, float]:
        """Seconds of its runs before and after."""
        done = [[run.value for run in proof.runs if run.tuned == tuned and run.value is not None] for tuned in (0, 1)]
        before, after = map(trimmed_mean, done)
        return before, after

    @property
    def against(self) -> list[str]:
        """Of calls that take far longer than the benchmark's, and what explains it where that was found out."""
        if not self.profiles:
            return []
        replayed = replays([self.files.replayed]) if self.files.replayed.is_file() else None
        measured = [self.files.directory / name for name in self.journal.rounds[0].studies]
        found = known([path for path in measured if path.is_file()])
        evidences = found[1] if found is not None else []
        return [one.sentence for one in against(mix_of(self.profiles[0]), evidences, None, replayed)]

    @property
    def command(self) -> str:
        return f"unisono run --tuning {shlex.quote(str(self.files.tuning))} -- {shlex.join(self.journal.argv)}"

    def as_dict(self) -> dict[str, Any]:
        found = self.changes
        return {
            "headline": self.headline,
            "outside": self.outside,
            "outcome": self.outcome,
            "finished": self.journal.finished,
            "accepted": [trial.model_dump() for trial in self.accepted],
            "proof": self.proof.model_dump() if self.proof else None,
            "rounds": [round.model_dump() for round in self.journal.rounds],
            "changes": found.as_dict() if found else None,
            "against_benchmark": self.against,
            "command": self.command if self.accepted else None,
            "tuning": str(self.files.tuning) if self.files.tuning.is_file() else None,
            "story": str(self.files.story),
            "seconds": self.journal.spent,
        }

    def markdown(self) -> str:
        """The page."""
        lines = [f"# {shlex.join(self.journal.argv)}", "", f"**{self.headline}**", ""]
        mix = mix_of(self.profiles[0]) if self.profiles else None
        if mix is not None and self.journal.metric is None and (sentence := outside_sentence(mix)):
            lines += [sentence, ""]
        if outside := self.outside:
            lines += [outside, ""]
        if self.accepted:
            lines += [_("Run it so:"), "", "```sh", self.command, "```", ""]
        if mix is not None:
            lines += [_("## Where its time went"), "", *_spots(mix), ""]
            lines += [*(f"- {sentence}" for sentence in self.against), ""] if self.against else []
        lines += [_("## What was tried"), "", *self._tried(), ""]
        found = self.changes
        if found is not None:
            lines += [_("## What changed"), "", *(f"- {sentence}" for sentence in found.sentences()), ""]
        lines += [_("## What to know"), "", *(f"- {sentence}" for sentence in self._remarks()), ""]
        return "\n".join(lines)

    def _tried(self) -> list[str]:
        if not any(round.trials for round in self.journal.rounds):
            return [_whole(round.ended) for round in self.journal.rounds if round.ended] or [_("Nothing yet.")]
        rows = [_("| round | setting | should save | measured: before / after | verdict |"), "|---|---|---|---|---|"]
        for number, round in enumerate(self.journal.rounds, start=1):
            for trial in round.trials:
                mid, low, high = trial.predicted
                gain = "-"
                if trial.gain is not None:
                    measured, least, most = trial.gain
                    gain = _("{mid:.3f} ({low:.3f} to {high:.3f})").format(mid=measured, low=least, high=most)
                setting = words.launch(Setting(trial.launch)) if trial.launch else _("rules only")
                saving = percent_range(Interval(mid, low, high)) if trial.predictable else _("too uncertain")
                verdict = _(trial.verdict) if trial.verdict else _("not finished")
                if may_gain(trial):  # that runs show no difference is not that there is none
                    verdict = _("undecided")
                rows.append(f"| {number} | {setting} | {saving} | {gain} | {verdict} |")
        ends = [
            _("Round {number}: {what}").format(number=n, what=_whole(round.ended))
            for n, round in enumerate(self.journal.rounds, start=1)
            if round.ended
        ]
        return [*rows, "", *(f"- {end}" for end in ends)]

    def _remarks(self) -> list[str]:
        journal = self.journal
        machine = ", ".join(shown(name, value) for name, value in journal.machine.items() if name in ("CPU", "MPI"))
        metric = _("wall time, mpirun included")
        if journal.metric is not None:
            metric = _("the time that `{metric}` finds").format(metric=journal.metric)
        out = [
            _("Compared is {metric}, {how}.").format(metric=metric, how=_pairs(journal)),
            _("The whole search took {spent:.0f} s.").format(spent=journal.spent),
            _("The result holds for this program with this input, on these ranks of this machine ({machine}).").format(
                machine=machine or _("unknown")
            ),
        ]
        if journal.busy:
            out.append(
                _(
                    "Other programs used the machine at the start (load average {load:.1f}), which affects the times."
                ).format(load=journal.busy)
            )
        if not journal.finished:
            out.append(_("The search is not finished: continue with the same command and --resume."))
        out += [
            _("Note: {note}.").format(note=translated(note))
            for note in dict.fromkeys(n for p in self.profiles for n in mix_of(p).notes)
        ]
        return out


def read_story(journal: Journal, files: Files) -> Story:
    """The story as far as it goes. Raises UserError when a profile of it cannot be read."""
    profiles = [load(files.directory / round.profile) for round in journal.rounds if round.profile]
    return Story(journal, files, tuple(profiles))


def _whole(ended: str) -> str:
    """Why a round ended, with its stop."""
    return translated(ended if not ended or ended.endswith(".") else f"{ended}.")


def _pairs(journal: Journal) -> str:
    """ "over 7 pairs ..."; "7 to 28" where some trials needed more than others."""
    made = {sum(run.tuned for run in trial.runs) for round in journal.rounds for trial in round.trials}
    if not made:
        return _("but no candidate was tried")
    if len(made) == 1:
        return _("over {count} pairs of runs in turns").format(count=min(made))
    return _("over {least} to {most} pairs of runs in turns").format(least=min(made), most=max(made))


def _spots(mix: Mix) -> list[str]:
    rows = [_("| call | ranks | message size | calls a rank | of the time | waiting |"), "|---|---|---|---|---|---|"]
    for spot in mix.spots[:_SPOTS]:
        ranks = f"{spot.case.nodes} x {spot.case.ppn}" if spot.case else ""
        waiting = waiting_words(spot)
        share = percent(mix.share(spot.time))
        rows.append(f"| {spot.name} | {ranks} | {spot.sizes_text} | {spot.calls:,.0f} | {share} | {waiting} |")
    rest = mix.total - mix.time()
    return [
        *rows,
        "",
        _("The program itself, outside of MPI: {share}.").format(share=percent(mix.share(max(rest, 0.0)))),
    ]
