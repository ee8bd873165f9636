"""What must not be chosen: wrong results, crashes, hangs. And the findings that say so."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from unisono.core.language import N_
from unisono.core.vocabulary import CALL_SCOPE, PRELOAD, Case, Sample, Setting, call_part, launch_part
from unisono.decide import sentences
from unisono.study.data import LaunchRow, Refusal
from unisono.tuning.finding import Finding

_UNSTABLE = ("crashed", "hung")
NO_FAULT = ("done", "running", "interrupted")
"""How a launch can end without its setting being to blame."""


@dataclass(frozen=True, slots=True)
class Disqualified:
    calls: frozenset[tuple[str, Setting]]
    """(collective, setting): wrong or failing there."""
    launches: frozenset[tuple[int, int, Setting]]
    """(nodes, ppn, launch part): launches that fail."""
    findings: tuple[Finding, ...]

    def keeps(self, sample: Sample, scope: Sequence[str]) -> bool:
        case = sample.case
        if sample.setting.is_default:
            return True
        if self.calls and (case.collective, sample.setting) in self.calls:
            return False
        return not self.launches or (case.nodes, case.ppn, launch_part(sample.setting, scope)) not in self.launches

    def allows(self, launch: Setting, nodes: int, ppn: int, scope: Sequence[str]) -> bool:
        """Whether a plan may have this launch part: a component that is wrong anywhere must not serve everything."""
        if launch.is_default:
            return True
        launch = launch.without(PRELOAD)
        own = {launch, launch.without("coll")} - {Setting()}
        if any(setting in own for _, setting in self.calls):
            return False
        return not any((nodes, ppn, launch_part(setting, scope)) in self.launches for setting in own)


def disqualify(
    samples: Iterable[Sample], failures: Sequence[LaunchRow], refusals: Sequence[Refusal], scope: Sequence[str]
) -> Disqualified:
    """A setting is out for a collective when a result was wrong or it failed there; a launch part when its launches
    crash or hang though no single setting is to blame, and the default's do not, or when none ever worked."""
    samples = list(samples)
    findings: list[Finding] = []
    calls: set[tuple[str, Setting]] = set()

    wrong: dict[tuple[Case, Setting], set[int]] = defaultdict(set)
    for sample in samples:
        if sample.correct is False:
            wrong[sample.case, sample.setting].add(sample.size)
    calls |= {(case.collective, setting) for case, setting in wrong}
    for (case, setting), under in _by_call(wrong, scope).items():
        sizes = sorted(set().union(*(wrong[case, each] for each in under)))
        text = sentences.wrong(case, setting, sizes, _launch_parts(under, scope))
        findings.append(_finding(case, setting, text, sizes))

    cases = {sample.launch: (sample.case.nodes, sample.case.ppn) for sample in samples} if refusals else {}
    cases |= {launch.id: (launch.nodes, launch.ppn) for launch in failures}
    blamed = set()
    failed: dict[tuple[Case, Setting], tuple[int, str]] = {}
    for refusal in refusals:
        if refusal.reason.startswith(("memory", "use:")):
            continue  # nobody's fault: there, or for that size only
        blamed.add(refusal.launch)
        if (refusal.collective, refusal.setting) not in calls and refusal.launch in cases:
            case = Case(refusal.collective, *cases[refusal.launch])
            failed[case, refusal.setting] = (refusal.size, refusal.reason)
            calls.add((refusal.collective, refusal.setting))
    for (case, setting), under in _by_call(failed, scope).items():
        sizes = sorted({failed[case, each][0] for each in under})
        reasons = list(dict.fromkeys(failed[case, each][1] for each in under))
        text = sentences.failed(case, setting, sizes, reasons, _launch_parts(under, scope))
        findings.append(_finding(case, setting, text, sizes))

    launches, more = _failing_launches(samples, failures, blamed, scope)
    return Disqualified(frozenset(calls), frozenset(launches), (*findings, *more))


def _by_call(
    found: Iterable[tuple[Case, Setting]], scope: Sequence[str]
) -> Mapping[tuple[Case, Setting], list[Setting]]:
    """What findings are made of: one for what is called, with all settings it is part of, or for a setting alone."""
    together: dict[tuple[Case, Setting], list[Setting]] = defaultdict(list)
    for case, setting in sorted(found):
        together[case, call_part(setting, scope) or setting].append(setting)
    return {(case, of[0] if len(of) == 1 else call): of for (case, call), of in together.items()}


def _launch_parts(settings: Sequence[Setting], scope: Sequence[str]) -> list[Setting]:
    """Of several settings, as a finding lists them; of one nothing, whose finding has it whole."""
    return [launch_part(setting, scope) for setting in settings] if len(settings) > 1 else []


def _failing_launches(
    samples: Sequence[Sample], failures: Sequence[LaunchRow], blamed: set[int], scope: Sequence[str]
) -> tuple[set[tuple[int, int, Setting]], list[Finding]]:
    bad: dict[tuple[int, int, Setting], list[LaunchRow]] = defaultdict(list)
    for launch in failures:
        if launch.status not in NO_FAULT and launch.id not in blamed:
            bad[launch.nodes, launch.ppn, launch_part(launch.setting, scope)].append(launch)
    if not bad:
        return set(), []
    failed_ids = {launch.id for launch in failures if launch.status != "done"}
    good: Counter[tuple[int, int, Setting]] = Counter()
    for nodes, ppn, part, number in {
        (s.case.nodes, s.case.ppn, launch_part(s.setting, scope), s.launch) for s in samples
    }:
        if number not in failed_ids:
            good[nodes, ppn, part] += 1
    out = set()
    together: dict[tuple[int, int, Setting, bool], list[Setting]] = defaultdict(list)
    for key, rows in sorted(bad.items(), key=lambda item: item[0]):
        nodes, ppn, setting = key
        unstable = any(row.status in _UNSTABLE for row in rows)
        shaky = any(row.status in _UNSTABLE for row in bad.get((nodes, ppn, Setting()), ()))
        dropped = not setting.is_default and (not good[key] or (unstable and not shaky))
        if dropped:
            out.add(key)
        # An algorithm is part of the launch where the MPI reads it at the start.
        together[nodes, ppn, setting.only(*CALL_SCOPE) or setting, dropped].append(setting)
    findings = []
    for (nodes, ppn, called, dropped), settings in together.items():
        rows = [row for setting in settings for row in bad[nodes, ppn, setting]]
        setting = called if len(settings) > 1 else settings[0]
        text = sentences.launches_failed(
            nodes,
            ppn,
            setting,
            len(rows),
            len(rows) + sum(good[nodes, ppn, each] for each in settings),
            sorted({_SAID.get(row.status, row.status) for row in rows}),
            rows[0].reason,
            dropped,
            [each.without(*CALL_SCOPE) for each in settings] if len(settings) > 1 else [],
        )
        findings.append(
            Finding(
                kind="disqualified",
                text=text,
                parameter=", ".join(setting) or None,
                value=", ".join(setting.values()) or None,
            )
        )
    return out, findings


_SAID = {
    "refused": N_("were refused"),
    "crashed": N_("crashed"),
    "hung": N_("hung"),
    "wrong placement": N_("were not placed as asked"),
    "protocol": N_("did not answer as they should"),
}


def _finding(case: Case, setting: Setting, text: str, sizes: Sequence[int]) -> Finding:
    """`sizes`: at least one, in order."""
    return Finding.of(
        case,
        "disqualified",
        text,
        parameter=", ".join(setting) or None,
        value=", ".join(setting.values()) or None,
        first=sizes[0],
        last=sizes[-1],
    )
