"""The selection of Oracle's tuning guides, in three steps, for studies that measured every combination.

1. For every combination of placement and component the thresholds are compared; the one that is best over all of
   them is fixed (one for a case). So are all other parameters that are neither placement nor component: pml, UCX_* ...
2. With that fixed and no component, the placements are compared. Without a significant difference the first stays.
3. With both fixed, the components are compared, and coll/tuned's algorithms.

The statistic is theirs too: of a setting's launches the largest and the smallest are dropped, and the mean of the
others is the result; curves are compared by their geometric mean over the message sizes.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from unisono.core.vocabulary import DEFAULT, LEFT_TO_THE_MPI, NATIVE, UNISONO, Setting
from unisono.decide.claims import verdicts
from unisono.decide.decision import Step
from unisono.decide.sentences import order
from unisono.decide.table import Table

NOT_SET = "not set"
"""How a step names the absence of the parameter it compares."""

_OFF = ("0", "off", "no", "false")

Curve = dict[int, float]


@dataclass(frozen=True, slots=True)
class Selection:
    """The steps of one case, and the setting they lead to (without algorithms, which rules may choose by size)."""

    steps: tuple[Step, ...]
    chosen: Setting
    plain: Setting
    """The same without a component."""


def trimmed(values: Sequence[float]) -> float:
    """Mean without the largest and the smallest, of three values or more; else the plain mean."""
    kept = sorted(values)[1:-1] if len(values) >= 3 else list(values)
    return math.fsum(kept) / len(kept)


def is_component(name: str) -> bool:
    return name in ("coll", "algorithm", "segment", UNISONO, *LEFT_TO_THE_MPI) or name.startswith("coll_")


def select(table: Table, margin: float, confidence: float) -> Selection:
    """All steps of one case. A step that has nothing to compare is left out."""
    return _Selector(table, margin, confidence).run()


class _Selector:
    def __init__(self, table: Table, margin: float, confidence: float) -> None:
        self._table = table
        self._margin = margin
        self._confidence = confidence
        self._steps: list[Step] = []
        self._curves: dict[Setting, Curve] = {}
        for row, setting in enumerate(table.settings):
            curve: Curve = {}
            for column, size in enumerate(table.sizes):
                values = table.logs[row, column]
                values = values[np.isfinite(values)]
                if values.size:
                    curve[size] = trimmed([math.exp(value) for value in values])
            self._curves[setting] = curve

    def run(self) -> Selection:
        fixed = self._first()
        placement = self._second(fixed)
        component = self._third(fixed | placement)
        plain = self._without_component(fixed | placement)
        return Selection(tuple(self._steps), fixed | placement | component, fixed | placement | plain)

    def _first(self) -> Setting:
        """Everything that is neither placement nor component: one value each, the best over all combinations."""
        combinations: dict[Setting, dict[Setting, Curve]] = defaultdict(dict)
        for setting, curve in self._curves.items():
            if "algorithm" not in setting:
                part = _general(setting)
                combinations[setting.without(*part)][part] = curve
        best = _best_over(combinations.values())
        names = sorted({name for parts in combinations.values() for part in parts for name in part})
        for name in names:
            rest = best.without(name)
            for combination in sorted(combinations):
                parts = [part for part in combinations[combination] if part.without(name) == rest]
                parts.sort(key=lambda part: (name in part, order(part.get(name, ""))))
                curves = {part.get(name, NOT_SET): part | combination for part in parts}
                if len(curves) > 1:
                    self._step(1, name, combination | rest, curves, best.get(name, NOT_SET))
        return best

    def _second(self, fixed: Setting) -> Setting:
        """The placement, compared without a component where that was measured."""
        groups: dict[Setting, dict[str, Setting]] = defaultdict(dict)
        for setting in sorted(self._curves):
            if "algorithm" not in setting and _general(setting) == fixed:
                groups[setting.without("placement")][setting.get("placement", NOT_SET)] = setting
        usable = [rest for rest, values in groups.items() if len(values) > 1]
        if not usable:
            values = {s.get("placement", "") for s in self._curves if _general(s) == fixed} - {""}
            only = len(values) == 1 and all("placement" in s for s in self._curves if _general(s) == fixed)
            return Setting({"placement": values.pop()}) if only else DEFAULT
        rest = min(usable, key=lambda r: (not _no_component(r), r))
        chosen = self._compare(2, "placement", rest, groups[rest])
        return chosen.only("placement")

    def _third(self, fixed: Setting) -> Setting:
        """The component; then, beside it, the algorithms of coll/tuned, of MPICH, or Intel MPI's presets."""
        parts = {
            setting.without(*fixed): setting
            for setting in sorted(self._curves)
            if "algorithm" not in setting and _without_components(setting) == fixed
        }
        names = {name for part in parts for name in part}
        compared = next(iter(names)) if len(names) == 1 else "component"
        labelled = {
            (part.get(compared, NOT_SET) if len(names) == 1 else str(part) if part else NOT_SET): setting
            for part, setting in sorted(parts.items(), key=lambda item: (not _no_component(item[0]), item[0]))
        }
        component = next(iter(labelled.values()), fixed).without(*fixed)
        if len(labelled) > 1:
            component = self._compare(3, compared, fixed, labelled).without(*fixed)
        for native in NATIVE:
            self._algorithms(fixed, fixed | {"coll": native})
        return component

    def _algorithms(self, fixed: Setting, forced: Setting) -> None:
        plain = fixed | self._without_component(fixed)
        algorithms = {NOT_SET: forced if forced in self._curves else plain}
        for setting in self._curves:
            if "algorithm" in setting and setting.without("algorithm", "segment") == forced:
                segment = f", segment {setting['segment']}" if "segment" in setting else ""
                algorithms[setting["algorithm"] + segment] = setting
        if len(algorithms) > 1:
            self._compare(3, "algorithm", forced, {k: s for k, s in algorithms.items() if s in self._curves})

    def _without_component(self, fixed: Setting) -> Setting:
        """What "no component" was called in this study under `fixed`: nothing set, or all switched off."""
        plain = [s.without(*fixed) for s in self._curves if _without_components(s) == fixed]
        return min((part for part in plain if _no_component(part)), default=DEFAULT)

    def _compare(self, number: int, name: str, fixed: Setting, values: Mapping[str, Setting]) -> Setting:
        """The best value, if it beats the first significantly over all sizes; else the first, which is the simplest."""
        first = next(iter(values.values()))
        means = {
            setting: _geometric_mean(self._curves[setting], self._common(values.values()))
            for setting in values.values()
        }
        best = min(means, key=lambda setting: (means[setting], setting))
        gain = means[first] - means[best]
        beats = best != first and gain > math.log1p(self._margin) and self._differs([first, best], len(values) - 1)
        chosen = best if beats else first
        self._step(number, name, fixed, values, next(key for key, setting in values.items() if setting == chosen))
        return chosen

    def _common(self, settings: Iterable[Setting]) -> set[int]:
        return set.intersection(*(set(self._curves[setting]) for setting in settings))

    def _step(self, number: int, name: str, fixed: Setting, values: Mapping[str, Setting], chosen: str) -> None:
        reference = next((key for key in (NOT_SET, "auto") if key in values), next(iter(values)))
        ordered = [values[reference], *(setting for key, setting in values.items() if key != reference)]
        self._steps.append(
            Step(
                case=self._table.case,
                number=number,
                compared=name,
                fixed=fixed,
                chosen=chosen,
                significant=self._differs(ordered, len(ordered) - 1),
                curves={key: dict(self._curves[setting]) for key, setting in values.items()},
            )
        )

    def _differs(self, settings: Sequence[Setting], comparisons: int) -> bool:
        """Whether any of the settings differs from the first, over some range of sizes."""
        rows = [self._table.row(setting) for setting in settings]
        found = verdicts(
            self._table.logs[rows],
            self._table.rounds,
            self._table.weights,
            max(comparisons, 1),
            self._margin,
            self._confidence,
        )
        return any(verdict.claims for verdict in found)


def _general(setting: Setting) -> Setting:
    """What is neither placement nor component."""
    return Setting({name: value for name, value in setting.items() if name != "placement" and not is_component(name)})


def _without_components(setting: Setting) -> Setting:
    return Setting({name: value for name, value in setting.items() if not is_component(name)})


def _no_component(setting: Setting) -> bool:
    return all(value in _OFF for name, value in setting.items() if is_component(name))


def _geometric_mean(curve: Mapping[int, float], sizes: Iterable[int]) -> float:
    """Logarithm of it; 0 without sizes."""
    logs = [math.log(curve[size]) for size in sizes]
    return math.fsum(logs) / len(logs) if logs else 0.0


def _best_over(combinations: Iterable[Mapping[Setting, Curve]]) -> Setting:
    """The part with the lowest geometric mean over all combinations and sizes it was compared at.

    A combination counts as far as several parts were measured in it, each against the mean of all of them there, so
    that parts that are missing from some combinations are not favoured. Ties go to the simplest. When no two parts
    were measured in the same combination there is nothing to choose, and the part with most combinations is fixed.
    """
    relative: dict[Setting, list[float]] = defaultdict(list)
    seen: Counter[Setting] = Counter()
    for parts in combinations:
        seen.update(list(parts))
        sizes = set.intersection(*(set(curve) for curve in parts.values())) if len(parts) > 1 else set()
        for size in sizes:
            logs = {part: math.log(curve[size]) for part, curve in parts.items()}
            middle = math.fsum(logs.values()) / len(logs)
            for part, log in logs.items():
                relative[part].append(log - middle)
    if not relative:
        return min(seen, key=lambda part: (-seen[part], part), default=DEFAULT)
    return min(relative, key=lambda part: (math.fsum(relative[part]) / len(relative[part]), part))
