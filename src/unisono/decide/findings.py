"""What the measurements say, in words: which parameter matters, where, which way, how strongly; where none does.

Each value of a parameter is compared with the same setting without it: everything else as by default where that was
measured, else as the selection in steps fixed it. Parameters of the launch are also looked at under each component,
because a threshold that does nothing for one can matter for another; there only what is new is reported.
The gain of a finding is the mean over its range, with the smallest and largest of its sizes as ends.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from unisono.core.interval import Interval
from unisono.core.vocabulary import DEFAULT, Case, Setting, whose
from unisono.decide import sentences
from unisono.decide.claims import Claim, Verdict, verdicts
from unisono.decide.statistics import locations
from unisono.decide.stepwise import is_component
from unisono.decide.table import Table, filled
from unisono.tuning.finding import Finding

SINGULAR = 1.5
"""How many times off its neighbours' line a size must be to be a singular point."""
NEAR = 3.0
"""Largest factor between neighbouring sizes for which they say what to expect in between."""

ALIKE = 1.15
"""Up to this factor the effects of a value under two components are the same story."""

NOT_TOLD = "not told"
"""The kind of a finding that says nothing but that: launches differ by more than any effect that matters."""

_PREFERRED = ("auto", "0", "block", "off")


@dataclass(frozen=True, slots=True)
class Context:
    """One parameter's values with all else fixed, and the value they are compared with (None: not set)."""

    parameter: str
    rest: Setting
    base: Setting
    """The setting compared with."""
    base_value: str | None
    values: tuple[tuple[str, Setting], ...]
    primary: bool


def findings(table: Table, margin: float, confidence: float, fixed: Iterable[Setting] = ()) -> list[Finding]:
    """All findings of one case. `fixed`: settings that a selection arrived at, to be looked at around."""
    contexts = _contexts(table, tuple(fixed))
    compared = sum(len(context.values) for context in contexts)
    found: list[Finding] = []
    by_base: dict[Setting, list[Context]] = defaultdict(list)
    for context in contexts:
        by_base[context.base].append(context)
    said: dict[tuple[str, Setting], dict[str, Verdict]] = {}
    for base, group in by_base.items():
        names = [(context, value, setting) for context in group for value, setting in context.values]
        rows = [table.row(base), *(table.row(setting) for _, _, setting in names)]
        judged = verdicts(table.logs[rows], table.rounds, table.weights, compared, margin, confidence)
        for (context, value, _), verdict in zip(names, judged, strict=True):
            said.setdefault((context.parameter, context.rest), {})[value] = verdict
    main = {context.parameter: said[context.parameter, context.rest] for context in contexts if context.primary}
    for context in contexts:
        judged_here = said[context.parameter, context.rest]
        if not context.primary:
            judged_here = {v: _news(verdict, main[context.parameter].get(v)) for v, verdict in judged_here.items()}
        found += _of_context(table, context, judged_here)
    return found + singular_points(
        table, confidence, [DEFAULT, *(s for c in contexts if c.primary for _, s in c.values)]
    )


def _news(verdict: Verdict, known: Verdict | None) -> Verdict:
    """Without the claims that repeat what is known of the same value elsewhere: same way, overlapping, as strong."""

    def repeats(claim: Claim, other: Claim) -> bool:
        overlaps = claim.first <= other.last and other.first <= claim.last
        return overlaps and claim.faster == other.faster and abs(claim.mean - other.mean) < math.log(ALIKE)

    claims = tuple(c for c in verdict.claims if known is None or not any(repeats(c, k) for k in known.claims))
    return Verdict(claims, verdict.measured, verdict.resolution)


def _contexts(table: Table, fixed: tuple[Setting, ...]) -> list[Context]:
    groups: dict[str, dict[Setting, dict[str, Setting]]] = defaultdict(lambda: defaultdict(dict))
    for setting in table.settings:
        if "algorithm" in setting:
            rest = setting.without("algorithm", "segment", "coll")
            segment = f", segment {setting['segment']}" if "segment" in setting else ""
            groups[whose(setting)][rest][setting["algorithm"] + segment] = setting
            continue
        for name in setting:
            groups[name][setting.without(name)][setting[name]] = setting
    contexts = []
    for name in sorted(groups, key=lambda n: (is_component(n), n)):
        possible = [c for rest, values in groups[name].items() if (c := _context(table, name, rest, values))]
        if not possible:
            continue
        wanted = [DEFAULT, *(setting.without(name) for setting in fixed)]
        first = next((c for rest in wanted for c in possible if c.rest == rest), min(possible, key=lambda c: c.rest))
        contexts.append(first)
        if not is_component(name):
            plain = _launch_only(first.rest)
            contexts += [
                Context(c.parameter, c.rest, c.base, c.base_value, c.values, False)
                for c in sorted(possible, key=lambda c: c.rest)
                if c is not first and _launch_only(c.rest) == plain
            ]
    return contexts


def _context(table: Table, name: str, rest: Setting, values: dict[str, Setting]) -> Context | None:
    base, base_value = rest, None
    if name == "algorithm" and rest and (tuned := rest | {"coll": "tuned"}) in table:
        base = tuned
    if base not in table:
        base_value = next((v for v in _PREFERRED if v in values), min(values))
        base = values[base_value]
    ordered = sorted(values.items(), key=lambda item: sentences.order(item[0]))
    others = tuple((value, setting) for value, setting in ordered if setting != base)
    return Context(name, rest, base, base_value, others, True) if others else None


def _launch_only(setting: Setting) -> Setting:
    return Setting({name: value for name, value in setting.items() if not is_component(name)})


def _of_context(table: Table, context: Context, said: dict[str, Verdict]) -> list[Finding]:
    found: list[Finding] = []
    silent = []
    for value, verdict in said.items():
        if verdict.claims:
            found += _claimed(table, context, value, verdict)
        elif verdict.measured:
            silent.append(value)
    if context.primary and silent:
        found += _silent(table, context, said, silent)
    if context.primary and found and not is_component(context.parameter):
        found += _quiet_ends(table, context, said)
    return found


def _claimed(table: Table, context: Context, value: str, verdict: Verdict) -> list[Finding]:
    sizes = [table.sizes[index] for index in verdict.measured]
    what = sentences.subject(context.parameter, value) + sentences.under(context.rest)
    than = sentences.reference(context.parameter, context.base_value, context.rest)
    turns = sum(1 for a, b in zip(verdict.claims, verdict.claims[1:], strict=False) if a.faster != b.faster)
    if turns >= 2:
        whole = Claim(
            verdict.claims[0].first,
            verdict.claims[-1].last,
            math.fsum(claim.mean for claim in verdict.claims) / len(verdict.claims),
            min(claim.low for claim in verdict.claims),
            max(claim.high for claim in verdict.claims),
        )
        return [_finding("mixed", table, context, value, whole, sizes, what, than)]
    return [
        _finding("better" if claim.faster else "worse", table, context, value, claim, sizes, what, than)
        for claim in verdict.claims
    ]


def _finding(
    kind: str, table: Table, context: Context, value: str, claim: Claim, sizes: Sequence[int], what: str, than: str
) -> Finding:
    gain = Interval(math.exp(claim.mean), math.exp(claim.low), math.exp(claim.high))
    first, last = table.sizes[claim.first], table.sizes[claim.last]
    words = sentences.mixed if kind == "mixed" else sentences.differs
    return Finding.of(
        table.case,
        kind,
        words(table.case, what, than, first, last, gain.low, gain.high, sizes),
        parameter=context.parameter,
        value=value,
        first=first,
        last=last,
        gain=gain,
    )


def _silent(table: Table, context: Context, said: dict[str, Verdict], silent: list[str]) -> list[Finding]:
    """The values that make no significant difference anywhere, together; and those of which that could not be told."""
    vague = [value for value in silent if shown_by(said[value]) > sentences.TOO_VAGUE]
    found = []
    for kind, values in (("no difference", [v for v in silent if v not in vague]), (NOT_TOLD, vague)):
        if not values:
            continue
        limit = max(shown_by(said[value]) for value in values)
        measured = sorted({index for value in values for index in said[value].measured})
        about = sentences.about(context.parameter, context.rest)
        found.append(
            Finding.of(
                table.case,
                kind,
                sentences.same(table.case, about, values, "", limit),
                parameter=context.parameter,
                value=", ".join(values),
                first=table.sizes[measured[0]],
                last=table.sizes[measured[-1]],
                gain=None if kind == NOT_TOLD else Interval(1.0, 1 / limit, limit),
            )
        )
    return found


def shown_by(verdict: Verdict) -> float:
    """The factor that would have shown; infinite with too few launches."""
    return math.exp(verdict.resolution) if verdict.resolution < 700 else math.inf


def summed(found: Sequence[Finding]) -> list[Finding]:
    """What was found; and what could not be told as a single one, the last, with a count."""
    untold = [finding for finding in found if finding.kind == NOT_TOLD]
    told = [finding for finding in found if finding.kind != NOT_TOLD]
    if not untold:
        return told
    by_case: dict[Case, list[str]] = {}
    for finding in untold:
        if finding.case is not None:
            by_case.setdefault(finding.case, []).append(finding.parameter or "")
    return [*told, Finding(NOT_TOLD, sentences.untold(by_case))]


def _quiet_ends(table: Table, context: Context, said: dict[str, Verdict]) -> list[Finding]:
    """Up to where, or from where on, no value of the parameter matters, when some matter elsewhere."""
    claims = [claim for verdict in said.values() for claim in verdict.claims]
    if not claims:
        return []
    measured = sorted({index for verdict in said.values() for index in verdict.measured})
    sizes = [table.sizes[index] for index in measured]
    low, high = min(claim.first for claim in claims), max(claim.last for claim in claims)
    limit = math.exp(min(max(verdict.resolution for verdict in said.values()), 700.0))
    found = []
    for end in ([i for i in measured if i < low], [i for i in measured if i > high]):
        if len(end) >= 2 and limit <= sentences.TOO_VAGUE:
            first, last = table.sizes[end[0]], table.sizes[end[-1]]
            place = sentences.where(first, last, sizes)
            text = sentences.same(table.case, sentences.about(context.parameter, context.rest), [], place, limit)
            found.append(
                Finding.of(
                    table.case,
                    "no difference",
                    text,
                    parameter=context.parameter,
                    first=first,
                    last=last,
                    gain=Interval(1.0, 1 / limit, limit),
                )
            )
    return found


def singular_points(table: Table, confidence: float, settings: Iterable[Setting]) -> list[Finding]:
    """Sizes at which a setting is far off the line of its neighbours on both sides, in its own curve.

    A step in a curve (a change of protocol) is none: there the next sizes agree. What the default shows at the same
    size is said of the default only.
    """
    wanted = [setting for setting in dict.fromkeys(settings) if setting in table]
    if not wanted or len(table.sizes) < 4:
        return []
    logs = filled(table.logs)[[table.row(setting) for setting in wanted]]
    excess = _excess(logs, np.log2(np.maximum(np.asarray(table.sizes, dtype=np.float64), 0.5)))
    fit = locations(excess, table.rounds)
    compared = max(int(np.isfinite(fit.log).sum()), 1)
    half = fit.half(confidence, float(compared))
    clear = (np.abs(fit.log) - half > math.log(SINGULAR) / 2) & (np.abs(fit.log) > math.log(SINGULAR))
    found = []
    of_default: set[int] = set()
    for row, setting in enumerate(wanted):
        for column in np.flatnonzero(clear[row]):
            if setting.is_default:
                of_default.add(int(column))
            elif int(column) in of_default:
                continue
            found.append(_singular(table, setting, int(column), float(fit.log[row, column]), float(half[row, column])))
    return found


def _singular(table: Table, setting: Setting, column: int, log: float, half: float) -> Finding:
    size = table.sizes[column]
    if "algorithm" in setting:
        parameter = whose(setting)
        what = sentences.subject(parameter, setting["algorithm"])
    elif len(setting) == 1:
        parameter = next(iter(setting))
        what = sentences.subject(parameter, setting[parameter])
    else:
        parameter, what = "", "the default" if setting.is_default else str(setting)
    return Finding.of(
        table.case,
        "singular point",
        sentences.singular(table.case, what, size, math.exp(log)),
        parameter=parameter or None,
        value=setting.get("algorithm" if "algorithm" in setting else parameter),
        first=size,
        last=size,
        gain=Interval(math.exp(-log), math.exp(-log - half), math.exp(-log + half)),
    )


def _excess(logs: np.ndarray, position: np.ndarray) -> np.ndarray:
    """Log of how far each size is off what its neighbours suggest: the least of what is expected from both sides, from
    the left and from the right, if they agree in sign, else 0. Rows x sizes x launches; NaN where neighbours lack."""
    result = np.full(logs.shape, np.nan)
    near = np.diff(position) <= math.log2(NEAR)
    count = len(position)
    for k in range(1, count - 1):
        left, right = k >= 2 and near[k - 2], k + 2 < count and near[k + 1]
        if not (near[k - 1] and near[k] and (left or right)):
            continue
        expected = [_line(logs, position, k - 1, k + 1, k)]
        if left:
            expected.append(_line(logs, position, k - 2, k - 1, k))
        if right:
            expected.append(_line(logs, position, k + 1, k + 2, k))
        off = logs[:, k] - np.stack(expected)
        agree = (np.sign(off) == np.sign(off[0])).all(axis=0)
        result[:, k] = np.where(
            np.isnan(off).any(axis=0), np.nan, np.where(agree, np.sign(off[0]) * np.abs(off).min(axis=0), 0.0)
        )
    return result


def _line(logs: np.ndarray, position: np.ndarray, a: int, b: int, at: int) -> np.ndarray:
    share = (position[at] - position[a]) / (position[b] - position[a])
    line: np.ndarray = logs[:, a] * (1 - share) + logs[:, b] * share
    return line
