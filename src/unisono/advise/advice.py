"""What to do about a profile: which plan of a tuning suits the whole program, what it saves, and what is not known."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from unisono.advise.against import Against, Late, against
from unisono.advise.evidence import RUNS, Evidence, Now
from unisono.advise.gaps import Gap, commands, gaps
from unisono.advise.kinds import MEASURED, PINGPONG
from unisono.advise.mix import Mix, Spot, on_pingpongs
from unisono.advise.overlap import overlap_sentences
from unisono.advise.predict import Prediction, SpotPrediction, predict
from unisono.advise.replayed import Replays, condition_notes
from unisono.advise.said import late_words, named, prediction_dict, spot_dict, spot_sentence
from unisono.advise.scatter import scatter, shown
from unisono.advise.unknown import unknown
from unisono.core import sums
from unisono.core.display import percent, percent_range
from unisono.core.errors import UserError
from unisono.core.interval import Interval
from unisono.core.language import N_, _, listed, translated
from unisono.core.vocabulary import DEFAULT
from unisono.tuning.choice import choose, nearest_case
from unisono.tuning.contents import Tuning
from unisono.tuning.plans import Plan

TIE = 0.002
"""Plans whose savings differ by less of the program's time are equally good; the simplest is taken."""
WORTH_NAMING = 0.02
"""Of the program's time: smaller hot spots get no sentence."""
_ANY = "mpirun ..."


@dataclass(frozen=True)
class Advice:
    """`chosen` is None when things should stay as they are: nothing is sure to gain."""

    mix: Mix
    tuning: Tuning
    case: tuple[int, int]
    """(nodes, ppn) whose plans were compared: the program's, or the nearest that was measured."""
    now: Now
    predictions: tuple[Prediction, ...]
    """Of every plan of that case, most saving first."""
    chosen: Prediction | None
    against: tuple[Against | Late, ...]
    """Hot spots that take far longer than in the benchmark, most time first."""
    overlap: tuple[str, ...]
    """Of nonblocking collectives, what the program hides and what it waits beyond: sentences."""
    gaps: tuple[Gap, ...]
    gap_commands: tuple[str, ...]
    apply_command: str
    """"" when nothing is chosen."""
    try_command: str
    """When nothing is chosen though something may gain: how to find out, by a trial of what is more likely to save than
    not, else of what the tuning itself would choose, or of another setting of which nothing can be said; else ""."""
    again: str
    """The command that asks this question."""
    weights: dict[str, float]
    """Collective -> part of the program's time: what `unisono run --weights` takes."""
    evidence: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def plan(self) -> Plan | None:
        return None if self.chosen is None else plan_with(self.tuning, self.case, self.chosen)

    @property
    def candidates(self) -> list[Prediction]:
        """Worth a trial: what is more likely to save than not, the chosen first."""
        likely = [p for p in self.predictions if p.saving.mid > 0 and p is not self.chosen]
        return [*([self.chosen] if self.chosen else []), *likely]

    @property
    def others(self) -> list[Prediction]:
        """What would be a change: another launch setting, or rules under the same."""
        return _changing(self.predictions, list(self.tuning.plans_for(*self.case)), self.now)

    @property
    def worth_writing(self) -> Prediction | None:
        """What a tuning for this program holds: the first candidate, else the first of which nothing can be said."""
        return next(iter([*self.candidates, *(p for p in self.others if not p.predictable)]), None)

    @property
    def unlike(self) -> float:
        """Part of the program's time in calls that take far longer than in the benchmark, for no reason found: what
        settings gain there says little of them."""
        return math.fsum(
            self.mix.share(one.spot.time) for one in self.against if isinstance(one, Against) and not one.explained
        )

    @property
    def headline(self) -> str:
        """The sentence a reader came for: the hottest call, and what the tuning should save."""
        spot = spot_sentence(self.mix, self.mix.main)
        if self.chosen is not None:
            return _("{spot}; this tuning should save {saving} of the program's time.").format(
                spot=spot, saving=percent_range(self.chosen.saving)
            )
        if not any(found.effect for prediction in self.others for found in prediction.spots):
            return _(
                "{spot}. This tuning has no measurement of the calls that this program makes: measure them first."
            ).format(spot=spot)
        if not self.candidates:
            if open_ := [p for p in self.others if not p.predictable]:
                said = _(
                    "{spot}. The measurements cannot predict what {count} launch settings would save ({reason}): "
                    "measure that, or try them."
                )
                if len(open_) == 1:
                    said = _(
                        "{spot}. The measurements cannot predict what one launch setting would save ({reason}): "
                        "measure that, or try it."
                    )
                return said.format(spot=spot, count=len(open_), reason=translated(open_[0].unpredictable))
            return _("{spot}. No setting that was measured would make this program faster: keep it as it is.").format(
                spot=spot
            )
        best = self.candidates[0]
        if not best.predictable:
            return _(
                "{spot}. No setting is sure to make the program faster. The measurements cannot predict what "
                "{setting} would save ({reason}). Keep the program as it is, or try this setting."
            ).format(spot=spot, setting=named(best.launch), reason=translated(best.unpredictable))
        return _(
            "{spot}. No setting is sure to make the program faster. {setting} might save {saving} of its time. "
            "Keep the program as it is, or try this setting."
        ).format(spot=spot, setting=named(best.launch), saving=percent_range(best.saving))

    def sentences(self) -> list[str]:
        """The headline, other calls that count, and what the prediction does not know."""
        others = [spot for spot in self.mix.spots if spot is not self.mix.main]
        named = [spot for spot in others[:2] if self.mix.share(spot.time) >= WORTH_NAMING]
        return [
            self.headline,
            *(_("{clauses}.").format(clauses=spot_sentence(self.mix, spot)) for spot in named),
            *filter(None, map(late_words, (self.mix.main, *named))),
            *(found.sentence for found in self.against[:2]),
            *self.overlap[:2],
            *self._sums(),
            *self._scatter(),
            *self.unknown(),
        ]

    def _sums(self) -> list[str]:
        """Which level of reproducible sums the tuning keeps, and what that means for the program's reductions."""
        level = self.tuning.study.reproducible
        if level is None:
            return []
        names = list(dict.fromkeys(spot.case.collective for spot in self.mix.spots if spot.case is not None))
        said = [translated(sums.promise(level))]
        if ordered := [name for name in names if sums.is_ordered(name, level)]:
            said.append(
                _(
                    "Our library then serves these calls in the order of the ranks: {names}. Their savings are "
                    "predicted over the library in that order, not over the MPI without it; the proof of the tuning "
                    "has their price."
                ).format(names=listed(ordered))
            )
        left = sums.not_covered(names, level)
        return [*said, *([translated(left)] if left else [])]

    def _scatter(self) -> list[str]:
        """How far a verification may stray."""
        found = scatter(self.mix.as_is)
        if math.isnan(found) or not self.candidates or not self.candidates[0].predictable:
            return []
        saving = self.candidates[0].saving
        inside = 1 - self.mix.outside  # runs are timed as a whole
        whole = Interval(*(1 / (1 - min(inside * end, 0.99)) for end in (saving.mid, saving.low, saving.high)))
        gain = shown(whole, self.mix.as_is, RUNS)
        saving = Interval(*(1 - 1 / end for end in (gain.mid, gain.low, gain.high)))
        return [
            _(
                "Runs of the program as it is differed by {spread} from one another, so {count} pairs of runs will "
                "probably show a saving of {saving}."
            ).format(spread=percent(found), count=RUNS, saving=percent_range(saving))
        ]

    def unknown(self) -> list[str]:
        """What the prediction does not know, one sentence each."""
        known = map(translated, self.notes)
        said = unknown(self.mix, self.predictions, self.others, self.gaps)
        return [*said, *(_("{clauses}.").format(clauses=f"{note[0].upper()}{note[1:]}") for note in known)]

    def as_dict(self) -> dict[str, Any]:
        return {
            "sentences": self.sentences(),
            "chosen": prediction_dict(self.chosen) if self.chosen else None,
            "command": self.apply_command,
            "try_command": self.try_command,
            "predictions": [prediction_dict(prediction) for prediction in self.predictions],
            "hot_spots": [spot_dict(self.mix, spot, self.of(spot)) for spot in self.mix.spots],
            "against_benchmark": [found.as_dict() for found in self.against],
            "gaps": [
                {**asdict(gap.case), "sizes": list(gap.sizes), "share": gap.share, "reasons": list(gap.reasons)}
                for gap in self.gaps
            ],
            "gap_commands": list(self.gap_commands),
            "weights": self.weights,
            "nodes": self.case[0],
            "ppn": self.case[1],
            "now": None if self.now is None else dict(self.now),
            "evidence": list(self.evidence),
            "notes": list(self.notes),
        }

    def of(self, spot: Spot) -> SpotPrediction | None:
        if self.chosen is None:
            return None
        return next((found for found in self.chosen.spots if found.spot is spot), None)

    def follow_up(self) -> list[str]:
        """What to do next, line by line: commands stand alone and indented, to be pasted."""
        lines = [_("Apply it:"), f"  {self.apply_command}"] if self.apply_command else []
        lines += [_("Try it:"), f"  {self.try_command}"] if self.try_command else []
        if self.gaps:
            lines += [_("Not measured:"), *(f"  {gap.sentence}" for gap in self.gaps)]
            lines += (
                [_("Measure only what is missing:"), *(f"  {line}" for line in self.gap_commands)]
                if self.gap_commands
                else []
            )
            again = _("Or measure it and ask again:") if self.gap_commands else _("Measure it and ask again:")
            lines += [again, f"  {self.again} --measure"]
        elif any(
            isinstance(one, Against) and not one.tested and not math.isnan(one.spot.waiting) for one in self.against
        ):
            lines += [_("Measure again under the program's own conditions:"), f"  {self.again} --measure"]
        return lines


def advise(
    mix: Mix,
    tuning: Tuning,
    evidences: Sequence[Evidence],
    *,
    now: Now = None,
    tuning_path: str = "tuning.toml",
    again: str = "unisono advise ...",
    program: str = "",
    cpus: int | None = None,
    mpi: Sequence[str] = (),
    metric: str = "",
    replayed: Replays | None = None,
) -> Advice:
    """The plan for this mix of calls: of those whose saving is above nothing also at the lower end of its interval, the
    one that should save most; else things stay as they are.

    For the commands to give: `tuning_path`, `again` (this question itself), `program` (the command line that was
    profiled), `cpus` (of a node; None: not known), `mpi` (["--mpirun", PATH] where the tuning's is not found by itself)
    and `metric` (what the profile's runs were timed by; "": wall time). `replayed`: what the program's conditions make
    of its calls. Raises UserError when the profile does not tell
    how many nodes it ran on and the tuning has several to choose from.
    """
    notes = list(mix.notes)
    if mix.world is None and len(tuning.cases()) > 1:
        raise UserError(_("the profile does not say on how many nodes it ran; give --nodes"))
    case = nearest_case(tuning, *mix.world) if mix.world is not None else tuning.cases()[0]
    if mix.world is not None and case != mix.world:
        notes.append(
            N_(
                "{nodes} x {ppn} ranks were not measured; the settings of the nearest measured case, {nearest}, are "
                "used"
            ).format(nodes=mix.world[0], ppn=mix.world[1], nearest=f"{case[0]} x {case[1]}")
        )
    lacking = gaps(mix, evidences)
    spoken_of = {spot.case for spot in mix.spots if spot.case is not None}
    asked = {*spoken_of, *(replace(known, collective=PINGPONG) for known in spoken_of)}
    mix = on_pingpongs(mix, {known for known in asked if any(evidence.sizes(known) for evidence in evidences)})
    plans = list(tuning.plans_for(*case))
    found = predict(mix, evidences, [plan.launch for plan in plans], now)
    found.sort(key=lambda prediction: (-prediction.saving.mid, len(prediction.launch)))
    chosen = _chosen(found, now)
    notes += condition_notes(mix, evidences)
    weights = _weights(mix, tuning)
    written = f"{again} -o program.toml"
    likely = any(prediction.saving.mid > 0 for prediction in found)
    open_ = [p.launch for p in _changing(found, plans, now) if not p.predictable]
    if chosen is not None or not (likely or open_):
        trial = ""
    else:
        whole = not likely and choose(tuning, *case).launch in open_  # what the tuning itself would choose
        prove = ["unisono", "verify", "--tuning", tuning_path if whole else "program.toml"]
        prove += ["--metric", metric] if metric else []
        trial = f"{'' if whole else f'{written} && '}{shlex.join(prove)} -- {program or _ANY}"
    return Advice(
        mix=mix,
        tuning=tuning,
        case=case,
        now=now,
        predictions=tuple(found),
        chosen=chosen,
        against=tuple(against(mix, evidences, now, replayed)),
        overlap=tuple(overlap_sentences(mix, evidences, now)),
        gaps=tuple(lacking),
        gap_commands=tuple(commands(lacking, cpus, mpi)),
        apply_command="" if chosen is None else _apply(tuning, case, chosen, weights, (tuning_path, written, program)),
        try_command=trial,
        again=again,
        weights=weights,
        evidence=tuple(evidence.name for evidence in evidences),
        notes=tuple(notes),
    )


def plan_with(tuning: Tuning, case: tuple[int, int], prediction: Prediction) -> Plan:
    """The plan a prediction is about."""
    return next(plan for plan in tuning.plans_for(*case) if plan.launch == prediction.launch)


def cut_to(tuning: Tuning, case: tuple[int, int], prediction: Prediction) -> Tuning:
    """The tuning with the plans of this one launch setting only, so that `unisono run` has no other choice."""
    kept = [plan for plan in tuning.plan if plan.launch == prediction.launch]
    known = {name for plan in kept for name in plan.gain}
    return tuning.model_copy(
        update={
            "plan": tuple(sorted(kept, key=lambda plan: (plan.nodes, plan.ppn) != case)),
            "proof": (),  # was of another choice
            "weights": {name: weight for name, weight in tuning.weights.items() if name in known},
        }
    )


def _changing(found: Sequence[Prediction], plans: Sequence[Plan], now: Now) -> list[Prediction]:
    """Those of another launch setting than now, or with rules under the same."""
    same, ruled = now or DEFAULT, {plan.launch for plan in plans if plan.rules}
    return [p for p in found if p.launch != same or (now is None and p.launch in ruled)]


def _chosen(found: Sequence[Prediction], now: Now) -> Prediction | None:
    sure = [p for p in found if p.saving.low > 0 and p.launch != now]
    if not sure:
        return None
    best = max(p.saving.mid for p in sure)
    good = [p for p in sure if p.saving.mid >= best - TIE]
    return min(good, key=lambda p: (len(p.launch), -p.saving.mid))


def _weights(mix: Mix, tuning: Tuning) -> dict[str, float]:
    shares: dict[str, float] = {}
    for spot in mix.spots:
        if spot.kind in MEASURED and spot.case is not None and spot.case.collective in tuning.collectives():
            shares[spot.case.collective] = shares.get(spot.case.collective, 0.0) + mix.share(spot.time)
    return {name: float(f"{share:.3g}") for name, share in shares.items() if share > 0}


def _apply(
    tuning: Tuning, case: tuple[int, int], chosen: Prediction, weights: dict[str, float], words: tuple[str, str, str]
) -> str:
    """The command that runs the program with the chosen plan: by the tuning itself where it would choose the same."""
    path, written, program = words
    behind = program or _ANY
    run = f"unisono run --tuning {shlex.quote(path)}"
    if choose(tuning, *case).launch == chosen.launch:
        return f"{run} -- {behind}"
    plan = plan_with(tuning, case, chosen)
    counted = {name: weight for name, weight in weights.items() if name in plan.gain}
    if counted and choose(tuning, *case, counted).launch == chosen.launch:
        return f"{run} --weights {','.join(f'{name}={weight:g}' for name, weight in counted.items())} -- {behind}"
    return f"{written} && unisono run --tuning program.toml -- {behind}"
