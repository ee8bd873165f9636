"""What a tuning will use for one call, and why: `unisono lookup`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from unisono.core import sums
from unisono.core.by_size import WITHOUT_SIZE
from unisono.core.interval import Interval
from unisono.core.language import _, translated
from unisono.core.sizes import format_size
from unisono.core.vocabulary import INTEL, LEFT_TO_THE_MPI, LIBNBC, MPICH, PRELOAD, Level, Setting
from unisono.mpi import traits
from unisono.mpi.family import Family
from unisono.parameters.spelling import implementations
from unisono.tuning import words
from unisono.tuning.choice import Lookup, ends, lookup, rules_apply, without_library
from unisono.tuning.contents import Tuning
from unisono.tuning.plans import Plan, Rule, gain_words


@dataclass(frozen=True, slots=True)
class Other:
    """What another plan of the tuning would use for the call."""

    launch: Setting
    call: Setting
    gain: Interval
    ordered: str = ""
    """What serves without a rule, where our library keeps an order; in English."""

    @property
    def words(self) -> str:
        return _under(translated(self.ordered) or words.use(self.call), self.launch)


@dataclass(frozen=True)
class Explanation:
    found: Lookup
    study: str
    margin: float
    confidence: float
    others: tuple[Other, ...]
    """What the other plans would use, best first; the default launch setting's is always among them."""
    without: Lookup | None
    """The same question without our library; None where the plan does without it anyway."""
    alone: Lookup | None
    """What this collective alone would choose, where that is another plan."""
    family: Family
    """Of the MPI that it was measured with."""
    level: Level | None = None
    """What sums do not depend on; by our library, whatever the plan."""

    @property
    def use(self) -> str:
        """ "our pull, with our library"."""
        ordered = translated(sums.use(self._call, self.found.collective, self.level))
        return _under(ordered or words.use(self._call), self.found.plan.launch)

    @property
    def rule_line(self) -> str | None:
        """The line of our library's rules file that serves it; None where our library does not."""
        plan, rule = self.found.plan, self.found.rule
        if not plan.needs_library or rule is None or rule.call.get("coll", MPICH) in LEFT_TO_THE_MPI:
            return None
        first, last = (0, None) if rule.collective in WITHOUT_SIZE else (rule.first, rule.last)
        what = f"{rule.collective} {plan.nodes} {plan.ppn} {first} {'max' if last is None else last}"
        return f"{what} {implementations(rule.call, rule.as_fast)}"

    @property
    def _call(self) -> Setting:
        return self.found.rule.call if self.found.rule else Setting()

    def sentences(self) -> list[str]:
        """Why, one sentence each."""
        if self.found.simulated:
            return [*self._simulated(), *self.sum_sentences(), *self.alone_sentences()]
        found, rule = self.found, self.found.rule
        share = f"{self.confidence:.0%}"
        gain = found.gain
        if gain is None:
            said = [_("The gain is not known, because these ranks were not measured.")]
        elif rule is None:
            size = format_size(found.size)
            said = [
                _(
                    "No rule covers {size}, so the MPI decides by itself. Over all sizes of {collective} the "
                    "plan takes {times} ({share} interval)."
                ).format(size=size, collective=found.collective, times=_times(gain), share=share)
            ]
            if sums.is_ordered(found.collective, self.level):
                said = [_("No rule covers {size}, so our library decides by itself.").format(size=size)]
            elif found.plan.launch.without(PRELOAD).is_default:
                said = [
                    _("No rule covers {size}, so the MPI decides by itself, as without a tuning.").format(size=size)
                ]
        elif not rule.call and found.plan.launch.is_default:
            nothing = _("No measured setting is certain to be faster than the default by more than {margin:.0%}.")
            said = [nothing.format(margin=self.margin)]
        elif rule.basis == "predicted":
            said = [_predicted(rule, share)]
        else:
            sizes = ", ".join(format_size(size) for size in rule.sizes)
            said = [
                _(
                    "For this range, {range}, it takes {times} ({share} interval), measured at {sizes} in {launches} "
                    "launches."
                ).format(
                    range=words.sizes(rule.first, rule.last),
                    times=_times(rule.gain),
                    share=share,
                    sizes=sizes,
                    launches=rule.launches,
                )
            ]
        if rule is not None and rule.as_fast:
            near = _(
                "As fast in the study: {others}. In a job whose nodes are in several groups (behind several "
                "switches), our library takes the one that puts the fewest bytes between them."
            )
            said.append(near.format(others=", ".join(map(words.use, rule.as_fast))))
        said += [_("Note: {note}.").format(note=note) for note in map(translated, found.notes)]
        said.append(
            _(
                "The default is kept unless a setting beats it by more than {margin:.0%} with {share} "
                "confidence. The sizes of one rule are judged together, without the launch that chose the "
                "setting (study {study})."
            ).format(margin=self.margin, share=share, study=self.study)
        )
        return said + self.sum_sentences() + self.alone_sentences()

    def sum_sentences(self) -> list[str]:
        """Which level holds and what it means for this call; [] where none does or the call combines nothing."""
        if self.level is None or not (serving := sums.serving(self.found.collective, self.level)):
            return []
        said = [sums.promise(self.level), serving]
        if sums.is_promised(self.found.collective, self.level):
            said.append(sums.baseline(self.level))
        return [translated(sentence) for sentence in said]

    def _simulated(self) -> list[str]:
        found, rule = self.found, self.found.rule
        said = [_("Note: {note}.").format(note=translated(note)) for note in (words.SIMULATED, *found.notes)]
        if rule is not None and found.gain is not None:
            said.append(
                _("For this range, {range}, it takes {times}, simulated at {sizes} (study {study}).").format(
                    range=words.sizes(rule.first, rule.last),
                    times=_times(rule.gain),
                    sizes=", ".join(format_size(size) for size in rule.sizes),
                    study=self.study,
                )
            )
        return said

    def alone_sentences(self) -> list[str]:
        """What the collective would have if it alone chose the launch setting; [] where that is the same, or gains
        no more than the margin for this call."""
        if self.alone is None:
            return []
        name, gain, here = self.found.collective, self.alone.gain, self.found.gain
        if gain and here and gain.mid <= here.mid * (1 + self.margin):
            return []
        sentence = (
            _(
                "The launch setting is chosen for all collectives together. For {name} alone it would be "
                "{launch}, with a gain of {gain}; --for {name} chooses that."
            )
            if gain
            else _(
                "The launch setting is chosen for all collectives together. For {name} alone it would be "
                "{launch}; --for {name} chooses that."
            )
        )
        return [
            sentence.format(
                name=name, launch=words.launch(self.alone.plan.launch), gain=gain_words(gain) if gain else ""
            )
        ]

    def run_sentences(self) -> list[str]:
        """What `unisono run` does for it, and what is left without our library."""
        rest = self.found.plan.launch.without(PRELOAD)
        if not self.found.plan.needs_library:
            also = []
            if self.level is not None:
                also = [
                    _(
                        "It also puts libunisono.so into the ranks, with a rules file that asks for reproducible sums "
                        "({level})."
                    ).format(level=self.level)
                ]
            if self.found.plan.launch.is_default and not self._call:
                return (
                    [_("unisono run sets no parameter of a launch."), *also]
                    if also
                    else [_("unisono run adds nothing.")]
                )
            if self._call.get("coll") == MPICH:
                sentence = (
                    _("unisono run sets {rest} and names selection files for MPICH.")
                    if rest
                    else _("unisono run sets no parameter of a launch and names selection files for MPICH.")
                )
            elif self._call.get("coll") == INTEL:
                sentence = (
                    _("unisono run sets {rest} and names a file of presets for Intel MPI.")
                    if rest
                    else _("unisono run sets no parameter of a launch and names a file of presets for Intel MPI.")
                )
            elif self._call.get("coll") == LIBNBC:
                sentence = (
                    _("unisono run sets {rest} and coll/libnbc's parameter for {collective}.")
                    if rest
                    else _("unisono run sets coll/libnbc's parameter for {collective}, and nothing else.")
                )
            elif self._call:
                sentence = (
                    _("unisono run sets {rest} and names a rules file for coll/tuned.")
                    if rest
                    else _("unisono run sets no parameter of a launch and names a rules file for coll/tuned.")
                )
            else:
                sentence = _("unisono run sets {rest}.") if rest else _("unisono run sets no parameter of a launch.")
            return [sentence.format(rest=rest, collective=self.found.collective), *also]
        if self.rule_line:
            sentence = (
                _('unisono run puts libunisono.so into the ranks with the rule "{rule}", and sets {rest}.')
                if rest
                else _('unisono run puts libunisono.so into the ranks with the rule "{rule}", and sets nothing else.')
            )
        elif self._call.get("coll") == MPICH:
            sentence = (
                _(
                    "unisono run puts libunisono.so into the ranks, which leaves this call to MPICH, names selection "
                    "files by which MPICH serves it, and sets {rest}."
                )
                if rest
                else _(
                    "unisono run puts libunisono.so into the ranks, which leaves this call to MPICH, and names "
                    "selection files by which MPICH serves it."
                )
            )
        elif self._call.get("coll") == INTEL:
            sentence = (
                _(
                    "unisono run puts libunisono.so into the ranks, which leaves this call to Intel MPI, names a file "
                    "by which Intel MPI takes the preset, and sets {rest}."
                )
                if rest
                else _(
                    "unisono run puts libunisono.so into the ranks, which leaves this call to Intel MPI, and names a "
                    "file by which Intel MPI takes the preset."
                )
            )
        elif sums.is_ordered(self.found.collective, self.level):
            sentence = (
                _("unisono run puts libunisono.so into the ranks without a rule for this call, and sets {rest}.")
                if rest
                else _(
                    "unisono run puts libunisono.so into the ranks without a rule for this call, and sets nothing else."
                )
            )
        else:
            sentence = (
                _("unisono run puts libunisono.so into the ranks, which leaves this call to the MPI, and sets {rest}.")
                if rest
                else _(
                    "unisono run puts libunisono.so into the ranks, which leaves this call to the MPI, and sets "
                    "nothing else."
                )
            )
        said = [sentence.format(rule=self.rule_line, rest=rest)]
        if self.rule_line and self._call.get("coll") in ("tuned", LIBNBC) and "algorithm" in self._call:
            said.append(
                _(
                    "In a program with MPI_THREAD_MULTIPLE the MPI decides this call by itself, because forcing "
                    "an algorithm of coll/{name} acts on the whole process and so on other threads, too."
                ).format(name=self._call["coll"])
            )
        if self.without is not None:
            call = self.without.rule.call if self.without.rule else Setting()
            if not call and self.without.plan.launch.is_default:
                return [*said, _("Without our library: what the MPI does by itself.")]
            sentence = (
                _("Without our library: {use}, {times} (export --format {formats}).")
                if self.without.of_these_ranks
                else _("Without our library: {use} (export --format {formats}).")
            )
            times = _times(_gain_at(self.without.plan, self.without.collective, self.without.size))
            use = _under(words.use(call), self.without.plan.launch)
            said.append(sentence.format(use=use, times=times, formats=self._formats(call)))
        return said

    def _formats(self, call: Setting) -> str:
        """Those of export that say it to the MPI."""
        if call.get("coll") == MPICH:
            return _("mpich-json, shell or module")
        if call.get("coll") == INTEL:
            return _("intel, shell or module")
        return _("openmpi, ucx, shell or mpirun") if self.family.MCA else _("shell or module")

    def as_dict(self) -> dict[str, Any]:
        return {
            **self.found.as_dict(),
            "use": self.use,
            "needs_library": self.found.plan.needs_library or self.level is not None,
            "reproducible": self.level,
            "rule": self.rule_line,
            "evidence": _evidence(self.found.rule),
            "why": self.sentences(),
            "run": self.run_sentences(),
            "others": [
                {"launch": dict(other.launch), "call": dict(other.call), "gain": ends(other.gain)}
                for other in self.others
            ],
            "without_library": self.without.as_dict() if self.without else None,
        }


def explain(
    tuning: Tuning,
    collective: str,
    nodes: int,
    ppn: int,
    size: int,
    weights: Mapping[str, float] | None = None,
) -> Explanation:
    """`weights` choose the launch setting, as for `unisono run`; without them the tuning's own do. Raises UserError
    as `lookup` does."""
    used = dict(tuning.weights) if weights is None else dict(weights)
    found = lookup(tuning, collective, nodes, ppn, size, used)
    alone = lookup(tuning, collective, nodes, ppn, size)
    others = [
        other
        for plan in (tuning.plans_for(found.plan.nodes, found.plan.ppn) if found.of_these_ranks else ())
        if plan is not found.plan and (other := _other(plan, collective, size, tuning.study.reproducible)) is not None
    ]
    without = None
    plain = without_library(tuning, found.plan.nodes, found.plan.ppn, used) if found.plan.needs_library else None
    if plain is not None and collective in plain.gain:
        rule = plain.rule_at(collective, size) if rules_apply(plain, nodes, ppn) else None
        without = Lookup(collective, nodes, ppn, size, plain, rule, found.notes)
    return Explanation(
        found=found,
        study=_("{name}, {launches} launches").format(name=tuning.study.name, launches=tuning.conditions.launches),
        margin=tuning.study.margin,
        confidence=tuning.study.confidence,
        others=tuple(sorted(others, key=lambda other: -other.gain.mid)),
        without=without,
        alone=alone if alone.plan is not found.plan else None,
        family=traits(tuning.mpi.family if tuning.mpi else None),
        level=tuning.study.reproducible,
    )


def _other(plan: Plan, collective: str, size: int, level: Level | None) -> Other | None:
    if collective not in plan.gain:
        return None
    rule = plan.rule_at(collective, size)
    call = rule.call if rule else Setting()
    return Other(plan.launch, call, _gain_at(plan, collective, size), sums.use(call, collective, level))


def _gain_at(plan: Plan, collective: str, size: int) -> Interval:
    """The rule's; without one nothing under the default launch setting, else what the plan gains over all sizes."""
    rule = plan.rule_at(collective, size)
    if rule is None and plan.launch.without(PRELOAD).is_default:
        return Interval(1, 1, 1)
    return rule.gain if rule else plan.gain[collective]


def _predicted(rule: Rule, share: str) -> str:
    return _(
        "For this range, {range}, it is predicted to take {times} ({share} interval). The probability that "
        "nothing is faster by more than 5% is {sure:.0%}."
    ).format(range=words.sizes(rule.first, rule.last), times=_times(rule.gain), share=share, sure=rule.sure or 0.0)


def _under(use: str, launch: Setting) -> str:
    return use if launch.is_default else _("{use}, under {launch}").format(use=use, launch=words.launch(launch))


def _times(gain: Interval) -> str:
    """ "66% of the default's time: 1.52x as fast, 1.40x to 1.63x"."""
    if gain.exact and gain.mid == 1:
        return _("as long as the default")
    if gain.exact:
        return _("{share:.0%} of the default's time: {mid:.2f}x as fast").format(share=1 / gain.mid, mid=gain.mid)
    said = (
        _("{share:.0%} of the default's time: {mid:.2f}x as fast, {low:.2f}x to {high:.2f}x")
        if gain.known
        else _("{share:.0%} of the default's time: {mid:.2f}x as fast (interval unknown)")
    )
    return said.format(share=1 / gain.mid, mid=gain.mid, low=gain.low, high=gain.high)


def _evidence(rule: Rule | None) -> dict[str, Any] | None:
    return None if rule is None else {"sizes": list(rule.sizes), "launches": rule.launches}
